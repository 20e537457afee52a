"""The Codex matrix with older versions: two cells of each by default, all of them at full size."""

import asyncio
import os

import pytest

from tests.matrix.cell import UPSTREAMS, Cell, Runner
from tests.matrix.codex import VERSION, NoCodexError, find
from tests.matrix.report import cells, chosen
from tests.matrix.row import Row
from tests.matrix.rows import ROWS
from tests.matrix.versions import VERSIONS

pytestmark = pytest.mark.real

SMOKE = ("exec-chat", "mcp-chat")
CASES: dict[str, tuple[str, Row, str]] = {
    f"{version.number}-{row.name}-{upstream}": (version.number, row, upstream)
    for version in VERSIONS.values()
    for row, upstream in chosen(ROWS, UPSTREAMS)
    if version.number != VERSION and row.name not in version.lacks
}


def marked(name: str) -> object:
    return name if name.partition("-")[2] in SMOKE else pytest.param(name, marks=pytest.mark.full)


async def _found(wanted: dict[str, list[tuple[Row, str]]]) -> dict[str, Cell]:
    """The cells, one version after another."""
    found: dict[str, Cell] = {}
    for number, places in wanted.items():
        runner = Runner(await find(number), VERSIONS[number])
        found |= {f"{number}-{cell.name}": cell for cell in await cells(runner, places, jobs=2)}
    return found


@pytest.fixture(scope="session")
def found(request: pytest.FixtureRequest) -> dict[str, Cell]:
    """All cells that this run wants; without npm there is nothing to test here, but CI must not pass for that reason."""
    wanted: dict[str, list[tuple[Row, str]]] = {}
    for item in request.session.items:
        name = item.name.removeprefix("test_codex_of[").removesuffix("]")
        if name in CASES and not item.get_closest_marker("skip"):
            number, row, upstream = CASES[name]
            wanted.setdefault(number, []).append((row, upstream))
    try:
        return asyncio.run(_found(wanted))
    except NoCodexError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no real Codex: {error}")


@pytest.mark.parametrize("name", [marked(name) for name in CASES])
def test_codex_of(found: dict[str, Cell], name: str) -> None:
    assert "\n".join(found[name].problems) == ""
