"""What a chain of stored turns costs as it grows, in Antiphon's store alone, in a whole gateway, and with --rivals in agentic-api.

    scripts/bench chain [--rivals] [--turns N] [--postgres URL]

Each turn has about 2 kB of items and continues the one before. Turn 20 stands for the beginning of a chain, turn 390 for its end; both are medians
of 20 turns. The upstream answers at once. Item data is the JSON of the items themselves.
"""

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from antiphon.history import continuation
from antiphon.history.continuation import Wish
from antiphon.loop.ports import Entry
from antiphon.loop.recall import recall
from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.store.state import State, store
from bench import turns
from bench.parties import AGENTIC, Party, install
from bench.process import Command, antiphon, module, running

EARLY, LATE = 20, 390
AROUND = 10
MEASURED_RIVAL = "measured elsewhere, agentic-api 0.9.0: 1.9 ms at turn 20, 40 ms at turn 390, 5.6 × the item data"


@dataclass(slots=True)
class Series:
    """What each turn cost, and what was kept in the end."""

    name: str
    save_ms: list[float] = field(default_factory=list[float])
    read_ms: list[float] = field(default_factory=list[float])
    read_cpu_ms: list[float] = field(default_factory=list[float])
    turn_ms: list[float] = field(default_factory=list[float])
    cpu_ms: list[float] = field(default_factory=list[float])
    written: list[int] = field(default_factory=list[int])
    rows: list[int] = field(default_factory=list[int])
    history: list[int] = field(default_factory=list[int])
    item_bytes: int = 0
    stored_bytes: int = 0


def at(values: Sequence[float], turn: int) -> float:
    """The median around a turn, or around the last where there are fewer."""
    turn = min(turn, len(values) - AROUND)
    return statistics.median(values[max(0, turn - AROUND) : turn + AROUND])


async def stored(name: str, setting: str, folder: Path, count: int) -> Series:
    """The store alone: a turn is read, assembled into a request's bytes, and saved."""
    series = Series(name)
    opened = store(setting, folder)
    assert opened is not None
    await opened.open()
    empty = (await opened.size())["bytes"]
    last: str | None = None
    for number in range(count):
        last = await _turn(opened, last, number, series)
    series.stored_bytes = (await opened.size())["bytes"] - empty
    await opened.close()
    return series


async def _turn(opened: State, last: str | None, number: int, series: Series) -> str:
    asked = Document.of({"model": "bench", "input": [turns.question()], "previous_response_id": last})
    began, cpu = time.perf_counter(), time.process_time()
    recalled = await recall(opened, "local", Wish(keeps=True, previous=last), asked.elements("input"))
    sent = bytes(continuation.effective(asked, recalled.items, recalled.settings))
    series.read_ms.append(1e3 * (time.perf_counter() - began))
    series.read_cpu_ms.append(1e3 * (time.process_time() - cpu))
    series.history.append(len(sent))
    entry = _entry(number, last, recalled.before and recalled.before.place)
    series.item_bytes += len(entry.input[0]) + len(json.dumps(turns.answer(number), separators=(",", ":")))
    rows, written, began = await _rows(opened), _written(), time.perf_counter()
    await opened.save(entry)
    series.save_ms.append(1e3 * (time.perf_counter() - began))
    series.written.append(_written() - written)
    series.rows.append(await _rows(opened) - rows)
    return entry.id


def _entry(number: int, parent: str | None, behind: object) -> Entry:
    id = f"resp_{number + 1:048x}"
    made = response.begun(Document.of({"model": "bench"}), id=id, now=1_790_000_000 + number).but(
        status="completed",
        completed_at=1_790_000_001 + number,
        store=True,
        previous_response_id=parent,
        output=[turns.answer(number)],
        usage=turns.USAGE,
    )
    return Entry(
        id=id, owner="local", created_at=1_790_000_000 + number, status="completed", input=[bytes(Document.of(turns.question()))],
        response=bytes(made), parent=parent, behind=behind,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


async def _rows(opened: State) -> int:
    return sum(count for name, count in (await opened.size()).items() if name != "bytes")


def _written() -> int:
    """Bytes that this process has written so far."""
    return int(Path("/proc/self/io").read_text().split("wchar:")[1].split()[0])


async def through(name: str, command: Callable[[str], Command], count: int, kept: Callable[[int], int]) -> Series:
    """A whole gateway over HTTP; `kept` says how much its process has stored."""
    series = Series(name)
    async with running(module("bench.turns")) as upstream, running(command(upstream.url)) as gateway:
        ask = asyncio.get_running_loop().run_in_executor
        last: str | None = None
        empty = kept(gateway.pid)
        for _ in range(count):
            body = json.dumps({"model": "bench", "input": [turns.question()], **({"previous_response_id": last} if last else {})}).encode()
            cpu, began = gateway.cpu_seconds(), time.perf_counter()
            last = await ask(None, _asked, gateway.url, body)
            series.turn_ms.append(1e3 * (time.perf_counter() - began))
            series.cpu_ms.append(1e3 * (gateway.cpu_seconds() - cpu))
        series.item_bytes = count * turns.ITEM_BYTES
        series.stored_bytes = kept(gateway.pid) - empty
    return series


def _asked(url: str, body: bytes) -> str:
    asked = urllib.request.Request(f"{url}/v1/responses", body, {"content-type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as answered:
        return json.loads(answered.read())["id"]


def database_bytes(pid: int) -> int:
    """All databases below the folder that a process runs in, their logs written back first."""
    found = list(Path(f"/proc/{pid}/cwd").resolve().rglob("*.db"))
    for path in found:
        with closing(sqlite3.connect(path, timeout=10)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(path.stat().st_size for path in found)


def _ours(dialect: str, api: str) -> Callable[[str], Command]:
    return lambda upstream: antiphon("--upstream", f"{upstream}/v1", "--api", api, "--dialect", dialect, "--store", "state.db")


async def measured(arguments: argparse.Namespace) -> AsyncIterator[Series]:
    """Every series, as it is done."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        yield await stored("store, SQLite", str(Path(folder, "state.db")), Path(folder), arguments.turns)
    if arguments.postgres:
        yield await stored("store, PostgreSQL", arguments.postgres, Path(), arguments.turns)
    yield await through("Antiphon, Responses upstream", _ours("openai", "responses"), arguments.turns, database_bytes)
    yield await through("Antiphon, chat upstream", _ours("chat", "chat"), arguments.turns, database_bytes)
    if arguments.rivals:
        yield await _rival(AGENTIC, arguments.turns)


async def _rival(party: Party, count: int) -> Series:
    await install(party)
    return await through(f"{party.name} {party.version}", party.command, count, database_bytes)


@asynccontextmanager
async def table(console: Console) -> AsyncIterator[Table]:
    """A table that is printed in the end, whatever became of it."""
    pairs = (("save", ""), ("bytes", "rows"), ("read", "CPU ms/MB"), ("turn", ""), ("CPU", "stored"))
    titles = ["", *(title for name, more in pairs for title in (f"{name} {EARLY}", str(LATE), more) if title)]
    made = Table(*titles, title="ms a turn; bytes and rows written a turn; stored as a multiple of the item data")
    for column in made.columns[1:]:
        column.justify = "right"
    yield made
    console.print(made)


def slope(series: Series) -> float:
    """Milliseconds of CPU that reading and assembling takes for each megabyte of history."""
    more = at(series.read_cpu_ms, LATE) - at(series.read_cpu_ms, EARLY)
    return 1e6 * more / (at(series.history, LATE) - at(series.history, EARLY))


def row(series: Series) -> list[str]:
    """The figures of a series."""
    cells = [series.name]
    if series.save_ms:
        cells += [f"{at(series.save_ms, turn):.2f}" for turn in (EARLY, LATE)]
        cells += [f"{at(series.written, turn):,.0f}" if any(series.written) else "" for turn in (EARLY, LATE)]
        cells += ["/".join(f"{at(series.rows, turn):.0f}" for turn in (EARLY, LATE))]
        cells += [*(f"{at(series.read_ms, turn):.2f}" for turn in (EARLY, LATE)), f"{slope(series):.2f}"]
    else:
        cells += [""] * 8
    for values in (series.turn_ms, series.cpu_ms):
        cells += [f"{at(values, turn):.1f}" for turn in (EARLY, LATE)] if values else ["", ""]
    return [*cells, f"{series.stored_bytes / series.item_bytes:.2f}"]


async def report(arguments: argparse.Namespace) -> None:
    """Measure, and print the table."""
    console = Console(width=170)
    async with table(console) as made:
        async for series in measured(arguments):
            made.add_row(*row(series))
    console.print(f"{arguments.turns} turns of {turns.ITEM_BYTES} bytes of items. {MEASURED_RIVAL}.")


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(prog="scripts/bench chain", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", action="store_true", help="install and measure agentic-api too")
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--postgres", default="", help="an empty database, to measure the store on it too")
    asyncio.run(report(parser.parse_args()))


if __name__ == "__main__":
    main()
