"""A database that cannot: told by name, nothing half written, nothing acknowledged lost."""

import asyncio
import os
import sqlite3
from pathlib import Path

import pytest

from antiphon.loop.ports import StoreFailed
from antiphon.store.database import Ask, Operation, ask
from antiphon.store.postgres import Postgres
from antiphon.store.sqlite import Sqlite
from antiphon.store.state import BadStore, State, store
from tests.databases.postgres import Cluster
from tests.store.entries import OWNER, entry, said, texts

pytestmark = pytest.mark.anyio


async def opened(url: str, folder: Path) -> State:
    state = store(url, folder)
    assert state is not None
    await state.open()
    return state


@pytest.mark.requirement("state.full-disk")
async def test_a_full_disk_refuses_what_does_not_fit_and_keeps_what_was_there(tmp_path: Path) -> None:
    state = await opened(str(tmp_path / "state.db"), tmp_path)
    first = entry("before")
    await state.save(first)
    await state._database.write(_limit_pages)
    with pytest.raises(StoreFailed, match="full"):
        await state.save(entry("large", input=[said("user", "x" * 4_000_000)]))
    results = await asyncio.gather(
        *(state.save(entry("large", input=[said("user", f"{number}" + "x" * 400_000)])) for number in range(20)), return_exceptions=True
    )
    assert any(isinstance(result, StoreFailed) for result in results)
    assert all(result is None or isinstance(result, StoreFailed) for result in results)
    assert texts(await state.before(OWNER, first.id)) == ["before", "re: before"]
    assert (await state.size())["responses"] == 1 + results.count(None)
    await state.close()


def _limit_pages() -> Operation[None]:
    rows = yield from ask("PRAGMA page_count")
    yield Ask(f"PRAGMA max_page_count = {rows[0][0] + 40}")


async def test_an_operation_that_breaks_is_undone_alone(state: State) -> None:
    def broken() -> Operation[None]:
        yield Ask("INSERT INTO lanes (conversation) VALUES ('half written')")
        raise KeyError("broken")

    made = [entry(str(number)) for number in range(5)]
    results = await asyncio.gather(
        *(state.save(one) for one in made),
        state._database.write(broken),
        *(state.save(entry("more")) for _ in range(5)),
        return_exceptions=True,
    )
    assert [type(result) for result in results if result is not None] == [KeyError]
    assert await state._database.read(lambda: ask("SELECT * FROM lanes WHERE conversation = 'half written'")) in ([], ())
    for one in made:
        assert await state.response(OWNER, one.id) is not None


@pytest.mark.real
@pytest.mark.requirement("state.database-dies")
async def test_a_database_that_dies_and_returns_is_used_again(postgres: Cluster, tmp_path: Path) -> None:
    state = await opened(postgres.url(), tmp_path)
    made = entry("before")
    await state.save(made)
    postgres.stop()
    try:
        results = await asyncio.gather(*(state.save(entry("while")) for _ in range(10)), return_exceptions=True)
        assert {type(result) for result in results} == {StoreFailed}
        with pytest.raises(StoreFailed):
            await state.response(OWNER, made.id)
    finally:
        postgres.start()
    found = await state.response(OWNER, made.id)
    assert found is not None
    await state.save(entry("after"))
    await state.close()


async def test_no_database_at_all_is_told_at_the_start_without_the_password(tmp_path: Path) -> None:
    state = store("postgresql://user:hunter2@127.0.0.1:1/none", tmp_path)
    assert state is not None
    with pytest.raises(StoreFailed) as failed:
        await state.open()
    assert "127.0.0.1" in str(failed.value)
    assert "hunter2" not in str(failed.value)
    await state.close()


@pytest.mark.parametrize("what", ["folder", "text"])
async def test_a_file_that_is_no_database_is_told_at_the_start(tmp_path: Path, what: str) -> None:
    path = tmp_path / "state.db"
    if what == "folder":
        path.mkdir()
    else:
        path.write_text("not a database" * 1000)
    state = store(str(path), tmp_path)
    assert state is not None
    with pytest.raises((StoreFailed, OSError)):
        await state.open()
    await state.close()


async def test_a_closed_store_says_so(state: State) -> None:
    await state.close()
    with pytest.raises(StoreFailed, match="closed"):
        await state.save(entry("late"))


async def test_what_waits_for_another_process_that_writes_is_written(tmp_path: Path) -> None:
    state = await opened(str(tmp_path / "state.db"), tmp_path)
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    saving = asyncio.create_task(state.save(made := entry("hi")))
    await asyncio.sleep(0.05)
    assert not saving.done()
    other.execute("ROLLBACK")
    other.close()
    await saving
    assert await state.response(OWNER, made.id) is not None
    await state.close()


@pytest.mark.parametrize("named", ["", "mysql://x", "redis", "./state", "postgresql"])
def test_a_setting_that_names_no_store_is_refused(named: str, tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="sqlite"):
        store(named, tmp_path)


def test_none_is_none(tmp_path: Path) -> None:
    assert store("none", tmp_path) is None


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    state = await opened("sqlite", tmp_path / "folder")
    await state.save(entry("hi"))
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "folder").iterdir()} == {0}
    await state.close()


def test_both_are_databases() -> None:
    assert (Sqlite(None).flavour, Postgres("").flavour) == ("sqlite", "postgres")
