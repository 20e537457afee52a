"""What a 200-delta stream costs in Antiphon: CPU beside a plain relay's, in one run and in alternation.

    scripts/bench relay [--streams N] [--rounds N] [--paced]

Each row starts the scripted upstream, the plain relay and the gateway as processes, warms them up, and then measures them round by round,
one after another, so that a busy machine hits all alike. The medians are printed, with the target beside. CPU is the whole process's,
request included; `direct` is the client at the upstream itself, so its time is what client and upstream take.
"""

import argparse
import asyncio
import statistics
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from bench import streams
from bench.load import Target, load
from bench.process import Measured, antiphon, module, running

WARM_UP = 60
START_ROUNDS = 7
CPU_MS_TARGET = 3.0
START_TARGET = 0.5
MEMORY_TARGET = 80.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: which upstream, how the gateway speaks to it, which request, and what it may cost."""

    name: str
    api: str
    dialect: str
    request: Callable[[], bytes]
    ratio_target: float | None

    @property
    def upstream_path(self) -> str:
        """The upstream's own route."""
        return "/responses" if self.api == "responses" else "/chat/completions"

    @property
    def terminal(self) -> bytes:
        """What the upstream's own stream ends with."""
        return b'"response.completed"' if self.api == "responses" else b"[DONE]"


ROWS = (
    Row("Responses, openai", "responses", "openai", streams.small_request, 2.0),
    Row("Responses, generic", "responses", "responses", streams.small_request, 2.0),
    Row("Chat, generic", "chat", "chat", streams.small_request, 8.0),
    Row("Responses, openai, agent's request", "responses", "openai", streams.agent_request, None),
    Row("Responses, generic, agent's request", "responses", "responses", streams.agent_request, None),
    Row("Chat, generic, agent's request", "chat", "chat", streams.agent_request, None),
)

AIMED = tuple(row for row in ROWS if row.ratio_target is not None)


@dataclass(slots=True)
class Figures:
    """What the rounds of one row gave, in milliseconds per stream."""

    direct_wall: list[float] = field(default_factory=list[float])
    plain_wall: list[float] = field(default_factory=list[float])
    antiphon_wall: list[float] = field(default_factory=list[float])
    plain_cpu: list[float] = field(default_factory=list[float])
    antiphon_cpu: list[float] = field(default_factory=list[float])
    memory: float = 0.0

    @property
    def ratio(self) -> float:
        """The gateway's CPU as a multiple of the plain relay's."""
        return statistics.median(self.antiphon_cpu) / statistics.median(self.plain_cpu)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    mode: str
    streams: int
    rounds: int
    at_once: int


@asynccontextmanager
async def parties(row: Row, mode: str) -> AsyncIterator[tuple[Measured, Measured, Measured]]:
    """Upstream, plain relay and gateway, each a process of its own."""
    async with running(module("bench.upstream")) as upstream:
        base = f"{upstream.url}/{mode}/v1"
        flags = ("--upstream", base, "--api", row.api, "--dialect", row.dialect)
        async with running(module("bench.plain_relay", base)) as plain, running(antiphon(*flags)) as gateway:
            yield upstream, plain, gateway


async def measure(row: Row, size: Size) -> Figures:
    """All rounds of a row."""
    figures, body = Figures(), row.request()
    async with parties(row, size.mode) as (upstream, plain, gateway):
        direct_target = Target(upstream.url, f"/{size.mode}/v1{row.upstream_path}", body, row.terminal)
        plain_target = Target(plain.url, f"/v1{row.upstream_path}", body, row.terminal)
        gateway_target = Target(gateway.url, "/v1/responses", body, b'"response.completed"')
        for target in (plain_target, gateway_target):
            await load(target, streams=WARM_UP, at_once=size.at_once)
        for _ in range(size.rounds):
            figures.direct_wall.append(1e3 * await load(direct_target, streams=size.streams, at_once=size.at_once) / size.streams)
            await _round(plain, plain_target, size, into=(figures.plain_wall, figures.plain_cpu))
            await _round(gateway, gateway_target, size, into=(figures.antiphon_wall, figures.antiphon_cpu))
        figures.memory = gateway.memory_megabytes()
    return figures


async def _round(process: Measured, target: Target, size: Size, *, into: tuple[list[float], list[float]]) -> None:
    before = process.cpu_seconds()
    wall = await load(target, streams=size.streams, at_once=size.at_once)
    into[0].append(1e3 * wall / size.streams)
    into[1].append(1e3 * (process.cpu_seconds() - before) / size.streams)


async def start_seconds() -> dict[str, float]:
    """Median time from spawn to the first 200 on /health, of both, in alternation."""
    plain: list[float] = []
    gateway: list[float] = []
    async with running(module("bench.upstream")) as upstream:
        base = f"{upstream.url}/burst/v1"
        for _ in range(START_ROUNDS):
            async with running(module("bench.plain_relay", base)) as process:
                plain.append(await process.seconds_to_health())
            async with running(antiphon("--upstream", base, "--api", "responses")) as process:
                gateway.append(await process.seconds_to_health())
    return {"plain": statistics.median(plain), "antiphon": statistics.median(gateway)}


def verdict(value: float, target: float | None) -> str:
    """The target and whether it is met."""
    if target is None:
        return ""
    return f"[green]≤ {target:g} ok[/]" if value <= target else f"[red]≤ {target:g} OVER[/]"


COLUMNS = ("direct wall", "relay wall", "antiphon wall", "relay CPU", "antiphon CPU", "target", "ratio", "target", "memory MB", "target")


async def report(size: Size) -> None:
    """Measure all rows and print the table."""
    console = Console(width=170)
    pace = "in one burst" if size.mode == "burst" else "one event every 2 ms, each a read and a write of its own"
    title = (
        f"ms per {streams.DELTAS}-delta stream, {pace}: median of {size.rounds} rounds of {size.streams} streams, {size.at_once} at once"
    )
    table = Table("upstream", title=title)
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for row in ROWS if size.mode == "burst" else AIMED:
        figures = await measure(row, size)
        table.add_row(row.name, *_cells(row, figures, CPU_MS_TARGET if row in AIMED and size.mode == "burst" else None))
    console.print(table)


def _cells(row: Row, figures: Figures, cpu_target: float | None) -> list[str]:
    walls = [f"{statistics.median(wall):.2f}" for wall in (figures.direct_wall, figures.plain_wall, figures.antiphon_wall)]
    cpu = statistics.median(figures.antiphon_cpu)
    costs = [f"{statistics.median(figures.plain_cpu):.3f}", f"{cpu:.3f}", verdict(cpu, cpu_target)]
    shares = [f"{figures.ratio:.2f}×", verdict(figures.ratio, row.ratio_target)]
    return [*walls, *costs, *shares, f"{figures.memory:.0f}", verdict(figures.memory, MEMORY_TARGET)]


async def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(prog="scripts/bench relay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=300, help="streams per round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--paced", action="store_true", help="also with one event every 2 ms, 16 streams at once")
    arguments = parser.parse_args()
    await report(Size("burst", arguments.streams, arguments.rounds, at_once=1))
    if arguments.paced:
        await report(Size("paced", 96, 3, at_once=16))
    start = await start_seconds()
    shown = verdict(start["antiphon"], START_TARGET)
    Console(width=170).print(
        f"start, spawn to first 200 on /health: antiphon {start['antiphon']:.2f} s {shown}, plain relay {start['plain']:.2f} s"
    )


if __name__ == "__main__":
    asyncio.run(main())
