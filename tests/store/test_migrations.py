"""A store made by any earlier version is brought up to date with what is in it; one made by a newer version is left alone."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from antiphon.loop.ports import StoreFailed
from antiphon.store import migrations
from antiphon.store.database import Ask, Operation, ask
from antiphon.store.postgres import Postgres
from antiphon.store.sqlite import Sqlite
from antiphon.store.state import State, store
from tests.store.entries import OWNER, entry

pytestmark = pytest.mark.anyio
NUMBERS = [step.number for step in migrations.steps("sqlite")]


def database(url: str) -> Sqlite | Postgres:
    return Postgres(url) if url.startswith("postgresql") else Sqlite(Path(url))


def test_steps_are_numbered_without_a_gap_and_the_same_for_both() -> None:
    assert list(range(1, len(NUMBERS) + 1)) == NUMBERS
    assert [step.number for step in migrations.steps("postgres")] == NUMBERS


@pytest.mark.requirement("state.migrations")
@pytest.mark.parametrize("version", NUMBERS)
async def test_each_earlier_version_becomes_the_newest_and_keeps_what_it_held(store_url: str, tmp_path: Path, version: int) -> None:
    old = database(store_url)
    await old.open()
    await old.write(partial(migrations.bring_up_to_date, old.flavour, upto=version))
    made = entry("before")
    await State(old).save(made)
    await old.close()

    state = store(store_url, tmp_path)
    assert state is not None
    await state.open()
    found = await state.response(OWNER, made.id)
    assert found is not None
    assert found.document == made.response
    await state.save(entry("after"))
    await state.close()


async def test_several_that_start_at_once_agree(store_url: str, tmp_path: Path) -> None:
    states = [store(store_url, tmp_path) for _ in range(4)]
    await asyncio.gather(*(state.open() for state in states if state is not None))
    for state in states:
        assert state is not None
        await state.save(entry("hi"))
        await state.close()


@pytest.mark.requirement("state.migrations")
async def test_one_made_by_a_newer_version_is_not_touched(store_url: str, tmp_path: Path) -> None:
    newer = database(store_url)
    await newer.open()
    await newer.write(partial(migrations.bring_up_to_date, newer.flavour))
    await newer.write(_from_the_future)
    await newer.close()
    state = store(store_url, tmp_path)
    assert state is not None
    with pytest.raises(StoreFailed, match="newer version"):
        await state.open()
    await state.close()


def _from_the_future() -> Operation[None]:
    yield Ask("INSERT INTO migrations (number, name) VALUES (9000, 'future')")
    yield from ask("SELECT 1")
