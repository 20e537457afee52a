"""The Codex matrix as tests: one per row and upstream, with the real Codex CLI that npm installs."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.matrix.cell import UPSTREAMS, Cell, Runner
from tests.matrix.codex import VERSION, NoCodexError, find
from tests.matrix.report import cells, chosen
from tests.matrix.rows import ROWS
from tests.matrix.versions import known

pytestmark = [pytest.mark.real, pytest.mark.requirement("codex.matrix")]

CELLS = {f"{row.name}-{upstream}": (row, upstream) for row, upstream in chosen(ROWS, UPSTREAMS)}


@pytest.fixture(scope="session")
def codex() -> Path:
    """The program; without npm or Codex there is nothing to test here, but CI must not pass for that reason."""
    try:
        return asyncio.run(find(VERSION))
    except NoCodexError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no real Codex: {error}")


@pytest.fixture(scope="session")
def found(request: pytest.FixtureRequest, codex: Path) -> dict[str, Cell]:
    """All cells that this run wants, two at a time: most of a cell is waiting."""
    names = [name for name in CELLS if any(item.name == f"test_codex[{name}]" for item in request.session.items)]
    return {cell.name: cell for cell in asyncio.run(cells(Runner(codex, known(VERSION)), [CELLS[name] for name in names], jobs=2))}


@pytest.mark.parametrize("name", CELLS)
def test_codex(found: dict[str, Cell], name: str) -> None:
    assert "\n".join(found[name].problems) == ""
