"""All parties measured beside each other: what is asked of each, in rounds and in alternation, and the figures that come of it.

Every party runs all the time, one upstream serves all; a round asks each scenario of each party in turn, so that a busy machine hits all alike.
CPU is that of the party's processes, from the kernel; times are those of the client, and what is told of them is what a party adds to asking
the upstream itself. Of times the best round counts (others may be using the machine), of CPU the median.
"""

import statistics
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from bench import bodies
from bench.answers import DELTAS
from bench.load import Done, Target, load
from bench.parties import PATHS, TERMINALS, Party
from bench.process import Measured, module, running

START_ROUNDS = 3
WARM_UP_SECONDS = 0.5
DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing that is asked, over and over: with which body, how the upstream answers it, by how many clients at once."""

    name: str
    body: Callable[[str], bytes]
    answer: str = "burst"
    at_once: int = 1


MIDDLE, LARGE = 300_000, 3_000_000
SCENARIOS = (
    Scenario("stream", bodies.small),
    Scenario("json", bodies.small, "json"),
    Scenario("paced", bodies.small, "paced", at_once=16),
    Scenario("crowd", bodies.small, at_once=8),
    Scenario("first", bodies.small, "first"),
    Scenario("middle stream", partial(bodies.codex, size=MIDDLE)),
    Scenario("middle json", partial(bodies.codex, size=MIDDLE), "json"),
    Scenario("middle first", partial(bodies.codex, size=MIDDLE), "first"),
    Scenario("large first", partial(bodies.codex, size=LARGE), "first"),
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    seconds: float
    rounds: int


@dataclass(slots=True)
class Samples:
    """What the rounds of one scenario gave, in milliseconds an answer: CPU, to the first delta, to the end; and answers a second."""

    cpu: list[float] = field(default_factory=list[float])
    first: list[float] = field(default_factory=list[float])
    end: list[float] = field(default_factory=list[float])
    rate: list[float] = field(default_factory=list[float])

    def add(self, done: Done, cpu_seconds: float) -> None:
        """One round."""
        count = len(done.end)
        self.cpu.append(1e3 * cpu_seconds / count)
        self.first.append(1e3 * statistics.median(done.first))
        self.end.append(1e3 * statistics.median(done.end))
        self.rate.append(count / done.wall)


Measurements = dict[str, dict[str, Samples]]
"""Party → scenario → samples. Asking the upstream itself is a party too, one for each API."""


def direct(api: str) -> str:
    """The name that asking the upstream itself goes by."""
    return f"{DIRECT}, {api}"


async def start_seconds(parties: Sequence[Party]) -> dict[str, float]:
    """From spawn to the first 200 on the health route: the median, in alternation."""
    taken: dict[str, list[float]] = {party.name: [] for party in parties}
    async with running(module("bench.upstream")) as upstream:
        for _ in range(START_ROUNDS):
            for party in parties:
                async with running(party.command(upstream.url)) as process:
                    taken[party.name].append(process.start_seconds)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


@dataclass(frozen=True, slots=True)
class _Contender:
    name: str
    process: Measured
    path: str
    terminal: bytes

    def target(self, scenario: Scenario) -> Target:
        terminal = b"" if scenario.answer == "json" else self.terminal
        return Target(self.process.url, self.path, scenario.body(scenario.answer), terminal)


@asynccontextmanager
async def _contenders(parties: Sequence[Party]) -> AsyncIterator[list[_Contender]]:
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(running(module("bench.upstream")))
        found = [_Contender(direct(api), upstream, PATHS[api], TERMINALS[api]) for api in sorted({party.api for party in parties})]
        for party in parties:
            process = await stack.enter_async_context(running(party.command(upstream.url)))
            found.append(_Contender(party.name, process, party.path, party.terminal))
        yield found


async def measure(parties: Sequence[Party], scenarios: Sequence[Scenario], size: Size) -> tuple[Measurements, dict[str, float]]:
    """All samples, and the memory that each party holds at the end."""
    async with _contenders(parties) as contenders:
        targets = {(one.name, scenario.name): one.target(scenario) for one in contenders for scenario in scenarios}
        samples: Measurements = {one.name: {scenario.name: Samples() for scenario in scenarios} for one in contenders}
        for scenario in scenarios:
            for one in contenders:
                await load(targets[one.name, scenario.name], seconds=WARM_UP_SECONDS, at_once=scenario.at_once)
        for _ in range(size.rounds):
            for scenario in scenarios:
                for one in contenders:
                    before = one.process.cpu_seconds()
                    done = await load(targets[one.name, scenario.name], seconds=size.seconds, at_once=scenario.at_once)
                    samples[one.name][scenario.name].add(done, one.process.cpu_seconds() - before)
        return samples, {one.name: one.process.memory_megabytes() for one in contenders}


def per_delta(streams: Samples, whole: Samples) -> float:
    """Microseconds of CPU that a delta costs: what a stream costs more than the same answer in one piece."""
    return 1e3 * (statistics.median(streams.cpu) - statistics.median(whole.cpu)) / DELTAS
