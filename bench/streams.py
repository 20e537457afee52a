"""Many slow streams at once through one gateway process: is every word there, how late, at what memory, and is anything left behind?

    scripts/bench streams [--streams N] [--seconds S] [--rate N] [--api chat|responses] [--dropped SHARE] [--runs N]

The scripted server stamps each word with the time; readers check order and wholeness and take the delay, the server's and their own slowness
included. A share of the readers hangs up at random moments, each followed at once by another; at the end the server must have no stream open
that nobody reads. The processes' CPU is told as shares of one core. Of several runs the one with the least delay is told.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from bench import bodies
from bench.load import Target
from bench.parties import gateway
from bench.process import Measured, module, running
from bench.readers import Heard, Reader

RAMP_SHARE = 0.05
"""The part of a stream's time over which the streams begin, so that they do not all speak at one moment."""
WARM_UP_STREAMS = 20
WARM_UP_SECONDS = 0.5
LOOK_SECONDS = 0.5
LEFT_SECONDS = 10.0
"""How long the gateway may take to give up what nobody reads."""
P99_MS_TARGET = 100.0
MEMORY_KB_TARGET = 200.0


@dataclass(frozen=True, slots=True)
class Size:
    """How many streams, how long, how many words a second each, and which share of them is left early."""

    streams: int
    seconds: float
    rate: float = 10.0
    dropped: float = 0.1

    @property
    def words(self) -> int:
        """Of one stream."""
        return round(self.seconds * self.rate)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: what readers heard, what the server counted, CPU in shares of one core, memory in kB a stream."""

    heard: Heard
    upstream: dict[str, int]
    cpu: dict[str, float]
    memory: float
    load: float

    def late_ms(self, share: float) -> float:
        """The delay that so many of the words did not exceed."""
        late = sorted(self.heard.late)
        return late[min(int(share * len(late)), len(late) - 1)] / 1e3

    @property
    def faults(self) -> list[str]:
        """Everything that is not as it should be, whatever the machine's speed."""
        found = list(self.heard.complaints)
        if self.upstream["open"]:
            found.append(f"{self.upstream['open']} requests left behind at the upstream")
        if self.upstream["ended"] < self.heard.told["ended"]:
            found.append(f"the upstream tells {self.upstream}, the readers {dict(self.heard.told)}")
        return found


async def run(size: Size, *, api: str = "chat") -> Outcome:
    """All of it, once."""
    _allow_files(4 * size.streams)
    heard = Heard()
    async with _parties(size, api) as (upstream, served):
        target = Target(served.url, "/v1/responses", bodies.small("burst"), b'"response.completed"')
        await _warm_up(target, size)
        gauge = _Gauge(upstream, served)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(gauge.watch())
            await _read_all(target, size, heard)
            watching.cancel()
        cpu = gauge.cpu_shares()
        counted = await _counted_when_idle(upstream)
    return Outcome(heard, counted, cpu, 1e3 * gauge.grown / size.streams, os.getloadavg()[0])


@asynccontextmanager
async def _parties(size: Size, api: str) -> AsyncIterator[tuple[Measured, Measured]]:
    async with (
        running(module("bench.stamped", str(size.words), str(size.rate))) as upstream,
        running(gateway(api, api)(upstream.url)) as served,
    ):
        yield upstream, served


class _Gauge:
    """CPU and memory from now on."""

    def __init__(self, upstream: Measured, served: Measured) -> None:
        self._served = served
        self._idle = served.memory_megabytes()
        self.grown = 0.0
        self._clocks = {"upstream": upstream.cpu_seconds, "gateway": served.cpu_seconds, "readers": time.process_time}
        self._began = time.perf_counter()
        self._before = {name: clock() for name, clock in self._clocks.items()}

    async def watch(self) -> None:
        """Looks again and again at what the gateway holds."""
        while True:
            self.grown = max(self.grown, self._served.memory_megabytes() - self._idle)
            await asyncio.sleep(LOOK_SECONDS)

    def cpu_shares(self) -> dict[str, float]:
        """Of one core, since the beginning."""
        took = time.perf_counter() - self._began
        return {name: (clock() - self._before[name]) / took for name, clock in self._clocks.items()}


async def _connect(target: Target, words: int, heard: Heard) -> Reader:
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(lambda: Reader(target, words, heard), *_place(target.url)))[1]


def _place(url: str) -> tuple[str, int]:
    host, _, port = urlsplit(url).netloc.partition(":")
    return host, int(port)


async def _warm_up(target: Target, size: Size) -> None:
    readers = [await _connect(target, size.words, Heard()) for _ in range(WARM_UP_STREAMS)]
    await asyncio.sleep(WARM_UP_SECONDS)
    for reader in readers:
        reader.leave()


async def _read_all(target: Target, size: Size, heard: Heard) -> None:
    chance = random.Random(7)
    leaving = set(chance.sample(range(size.streams), round(size.dropped * size.streams)))
    ramp = RAMP_SHARE * size.seconds

    async def seat(number: int, patience: float | None) -> Reader | None:
        await asyncio.sleep(ramp * number / size.streams)
        reader = await _connect(target, size.words, heard)
        await asyncio.wait([reader.over], timeout=patience)
        if patience is None:
            return None
        reader.leave()
        return await _connect(target, size.words, heard)

    async with asyncio.TaskGroup() as group:
        seats = [
            group.create_task(seat(number, chance.uniform(0, 0.9) * size.seconds if number in leaving else None))
            for number in range(size.streams)
        ]
    for task in seats:
        if (later := task.result()) is not None:
            later.leave()


async def _counted_when_idle(upstream: Measured) -> dict[str, int]:
    """The server's own count, as soon as nothing is open there, or when that took too long."""
    for _ in range(round(LEFT_SECONDS / LOOK_SECONDS)):
        if not (await _counted(upstream))["open"]:
            break
        await asyncio.sleep(LOOK_SECONDS)
    return await _counted(upstream)


async def _counted(upstream: Measured) -> dict[str, int]:
    reader, writer = await asyncio.open_connection(*_place(upstream.url))
    writer.write(b"GET /streams HTTP/1.1\r\nhost: bench\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    counted = json.loads(await reader.readuntil(b"}"))
    writer.close()
    return counted


def _allow_files(count: int) -> None:
    """Processes started from here may have so many connections, as far as the machine lets them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, count), hard), hard))


def show(outcome: Outcome, size: Size, api: str) -> None:
    """The table."""
    table = Table(
        "", "is", "shall be", title=f"{size.streams} streams from a {api} upstream, {size.rate:g} words a second, {size.seconds:g} s"
    )
    told = ", ".join(f"{count} {what}" for what, count in outcome.heard.told.items())
    rows = (
        ("streams", told, "0 wrong"),
        ("requests left behind at the upstream", str(outcome.upstream["open"]), "0"),
        ("delay of a word, median (ms)", f"{outcome.late_ms(0.5):.1f}", ""),
        ("delay of a word, 99 of 100 (ms)", f"{outcome.late_ms(0.99):.1f}", f"≤ {P99_MS_TARGET:g}"),
        ("memory a stream (kB)", f"{outcome.memory:.0f}", f"≤ {MEMORY_KB_TARGET:g}"),
        ("CPU of one core: gateway", f"{outcome.cpu['gateway']:.0%}", ""),
        ("scripted server and readers", f"{outcome.cpu['upstream']:.0%}, {outcome.cpu['readers']:.0%}", ""),
        ("load of the machine at the end", f"{outcome.load:.1f}", ""),
    )
    for row in rows:
        table.add_row(*row)
    console = Console(width=140)
    console.print(table)
    for fault in outcome.faults:
        console.print(f"[red]{fault}[/]")


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench streams", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rate", type=float, default=10.0, help="words a second of each stream")
    parser.add_argument("--api", choices=("chat", "responses"), default="chat")
    parser.add_argument("--dropped", type=float, default=0.1, help="share of streams that are left early")
    parser.add_argument("--runs", type=int, default=1)
    arguments = parser.parse_args()
    size = Size(arguments.streams, arguments.seconds, arguments.rate, arguments.dropped)
    outcomes = [asyncio.run(run(size, api=arguments.api)) for _ in range(arguments.runs)]
    faulty = [outcome for outcome in outcomes if outcome.faults]
    show((faulty or sorted(outcomes, key=lambda one: one.late_ms(0.99)))[0], size, arguments.api)
    raise SystemExit(bool(faulty))


if __name__ == "__main__":
    main()
