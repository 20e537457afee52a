"""What is told of a comparison: the figures of each party as a table of rows, the targets."""

import datetime as dt
import os
import platform
import re
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.comparison import Samples, direct, per_delta
from bench.parties import AGENTIC, CHAT, LITELLM, PASSED, PLAIN, RESPONSES, Party


@dataclass(frozen=True, slots=True)
class Measured:
    """One party's samples beside those of asking the upstream itself, and what else was measured of it."""

    own: dict[str, Samples]
    direct: dict[str, Samples]
    memory: float
    start: float

    def cpu(self, scenario: str) -> float:
        """Milliseconds of CPU an answer."""
        return statistics.median(self.own[scenario].cpu)

    def per_delta(self, streams: str, whole: str) -> float:
        """Microseconds of CPU a delta."""
        return per_delta(self.own[streams], self.own[whole])

    def added_first(self, scenario: str) -> float:
        """Milliseconds that the first delta comes later for it."""
        return min(self.own[scenario].first) - min(self.direct[scenario].first)

    def added_end(self, scenario: str) -> float:
        """Milliseconds that the end comes later for it."""
        return min(self.own[scenario].end) - min(self.direct[scenario].end)


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    name: str
    title: str
    digits: int
    of: Callable[[Measured], float]


FIGURES = (
    Figure("cpu", "CPU per stream, short question (ms)", 2, lambda one: one.cpu("stream")),
    Figure("cpu_middle", "CPU per stream, 300 KB thread (ms)", 2, lambda one: one.cpu("middle stream")),
    Figure("burst", "CPU per delta, in one burst (µs)", 1, lambda one: one.per_delta("stream", "json")),
    Figure("burst_middle", "the same behind 300 KB (µs)", 1, lambda one: one.per_delta("middle stream", "middle json")),
    Figure("paced", "CPU per delta, each a write of its own (µs)", 1, lambda one: one.per_delta("paced", "json")),
    Figure("first", "added time to the first delta, short question (ms)", 1, lambda one: one.added_first("first")),
    Figure("first_middle", "the same, 300 KB thread (ms)", 1, lambda one: one.added_first("middle first")),
    Figure("first_large", "the same, 3 MB thread (ms)", 1, lambda one: one.added_first("large first")),
    Figure("end", "added time to the end of a stream that pauses (ms)", 1, lambda one: one.added_end("first")),
    Figure("rate", "streams a second, 8 at once", 0, lambda one: max(one.own["crowd"].rate)),
    Figure("memory", "memory afterwards (MB)", 0, lambda one: one.memory),
    Figure("start", "start to the first 200 on its health route (s)", 2, lambda one: one.start),
)

Table = dict[str, dict[str, float]]
"""Party → figure → value."""


def table(samples: dict[str, dict[str, Samples]], memory: dict[str, float], start: dict[str, float], parties: Iterable[Party]) -> Table:
    """All figures of all parties."""
    found: Table = {}
    for party in parties:
        own = Measured(samples[party.name], samples[direct(party.api)], memory[party.name], start[party.name])
        found[party.name] = {figure.name: round(figure.of(own), figure.digits + 1) for figure in FIGURES}
    return found


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure, or a ratio of two, shall be: at most `limit`, or at least it. `of` gives nothing where a party did not take part."""

    title: str
    limit: float
    of: Callable[[Table], float]
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether a value is as it shall be."""
        return value >= self.limit if self.at_least else value <= self.limit


def _times(name: str, party: Party, other: Party) -> Callable[[Table], float]:
    return lambda found: found[party.name][name] / found[other.name][name]


def _one(name: str, party: Party) -> Callable[[Table], float]:
    return lambda found: found[party.name][name]


TARGETS = (
    Target("CPU per stream, chat upstream (ms)", 3.0, _one("cpu", CHAT)),
    Target("the same, as a multiple of agentic-api's", 1.1, _times("cpu", CHAT, AGENTIC)),
    Target("LiteLLM's as a multiple of it", 40.0, _times("cpu", LITELLM, CHAT), at_least=True),
    Target("CPU per stream as a multiple of the plain relay's, chat upstream", 8.0, _times("cpu", CHAT, PLAIN)),
    Target("the same, Responses upstream", 2.0, _times("cpu", RESPONSES, PLAIN)),
    Target("the same, passed on unread", 2.0, _times("cpu", PASSED, PLAIN)),
    Target("added time to the first delta behind 300 KB, chat upstream (ms)", 5.0, _one("first_middle", CHAT)),
    Target("the same, Responses upstream (ms)", 5.0, _one("first_middle", RESPONSES)),
    Target("added time to the end of a stream that pauses (ms): no delayed acknowledgement's 40", 10.0, _one("end", CHAT)),
    Target(
        "CPU per delta behind 300 KB as a multiple of the short question's",
        1.25,
        lambda found: found[CHAT.name]["burst_middle"] / found[CHAT.name]["burst"],
    ),
    Target("memory afterwards, chat upstream (MB)", 80.0, _one("memory", CHAT)),
    Target("start (s)", 0.5, _one("start", CHAT)),
)


def judged(found: Table) -> list[tuple[Target, float]]:
    """The targets that can be told of the parties that took part, with their values."""
    kept: list[tuple[Target, float]] = []
    for target in TARGETS:
        try:
            kept.append((target, target.of(found)))
        except KeyError:
            continue
    return kept


@dataclass(frozen=True, slots=True)
class Machine:
    """Where something was measured."""

    taken: str
    processor: str
    cores: int
    system: str
    python: str
    load: float


def machine() -> Machine:
    """This one, now."""
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    return Machine(
        dt.datetime.now(dt.UTC).date().isoformat(),
        model[1].strip() if model else platform.machine(),
        os.cpu_count() or 0,
        f"{platform.system()} {platform.release().partition('-')[0]}",
        platform.python_version(),
        round(os.getloadavg()[0], 1),
    )
