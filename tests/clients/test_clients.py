"""Each client's scenarios as tests: what the client made of the answer, what it warned of, and what the gateway sent it."""

import asyncio
import os

import pytest

from tests.clients.outcomes import ALL, Asked, Outcome, outcomes, wrong

pytestmark = [pytest.mark.real, pytest.mark.requirement("clients.scenarios", "clients.strict")]
BY_NAME = {asked.name: asked for asked in ALL}


@pytest.fixture(scope="session")
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[Asked, Outcome]:
    """All that this run wants."""
    names = [name for name in BY_NAME if any(item.name == f"test_a_client[{name}]" for item in request.session.items)]
    return asyncio.run(outcomes([BY_NAME[name] for name in names], tmp_path_factory.mktemp("clients")))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_client(found: dict[Asked, Outcome], name: str) -> None:
    outcome = found[BY_NAME[name]]
    if outcome.missing and os.environ.get("CI") != "true":
        pytest.skip(outcome.missing)
    assert not outcome.missing
    assert "\n".join(wrong(BY_NAME[name], outcome)) == ""
