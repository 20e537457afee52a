"""The Codex matrix as tests: one per row and upstream, with the real Codex CLI that npm installs."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.matrix.cell import DIRECT, Cell, Runner
from tests.matrix.codex import VERSION, NoCodexError, find
from tests.matrix.rows import ROWS, Row

pytestmark = pytest.mark.real

CELLS = {f"{row.name}-{upstream}": (row, upstream) for row in ROWS for upstream in (DIRECT, *row.upstreams)}


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
def runner(codex: Path) -> Runner:
    return Runner(codex)


@pytest.mark.parametrize(("row", "upstream"), CELLS.values(), ids=CELLS)
def test_codex(runner: Runner, row: Row, upstream: str) -> None:
    cell: Cell = asyncio.run(runner.cell(row, upstream))
    assert "\n".join(cell.problems) == ""
