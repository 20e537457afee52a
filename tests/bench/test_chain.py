"""A chain of 400 turns in the store: each turn costs what the one before did, and reading grows with the history and no faster."""

import sys
from pathlib import Path

import pytest

from bench import chain

pytestmark = [
    pytest.mark.requirement("state.linear"),
    pytest.mark.skipif(sys.platform != "linux", reason="the bench reads /proc, which only Linux has"),
]
MOST_STORED = 1.3
MOST_MS_A_MB = 5.0


@pytest.mark.slow
@pytest.mark.anyio
async def test_four_hundred_turns(tmp_path: Path) -> None:
    series = await chain.stored("SQLite", str(tmp_path / "state.db"), tmp_path, 400)
    early, late = chain.at(series.written, chain.EARLY), chain.at(series.written, chain.LATE)
    assert abs(late - early) <= 0.1 * early
    assert chain.at(series.rows, chain.EARLY) == chain.at(series.rows, chain.LATE) == 3
    assert series.stored_bytes <= MOST_STORED * series.item_bytes
    assert chain.slope(series) <= MOST_MS_A_MB
