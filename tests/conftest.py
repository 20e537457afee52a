"""What every test may ask for. Fixtures of one area live in that area's own conftest."""

import os

import pytest

FULL = os.environ.get("ANTIPHON_FULL") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests at full size run with `scripts/test --all` only."""
    if FULL:
        return
    skip = pytest.mark.skip(reason="full size: scripts/test --all")
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked `anyio` run on asyncio, as the server does."""
    return "asyncio"
