"""An open store of each kind."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from antiphon.store.state import State, store


@pytest.fixture
async def state(store_url: str, tmp_path: Path) -> AsyncIterator[State]:
    opened = store(store_url, tmp_path)
    assert opened is not None
    await opened.open()
    yield opened
    await opened.close()
