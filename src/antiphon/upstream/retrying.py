"""Whether a request that failed before the first byte of its answer is sent again: to an equal upstream, or once more to all. Pure.

A POST may be sent twice only where sending it twice is no harm. Generating is such a thing: what may have been begun costs the model server time
and changes nothing. After the first byte nothing is ever sent again; the client has seen a part, and a second answer would be another one. What
a client is told in the end is what the last upstream said.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from antiphon.protocol import failures
from antiphon.protocol.failures import Failure

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 8.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What an upstream's settings say: how often to try again, and the longest `Retry-After` to wait for."""

    retries: int = 0
    longest_wait: float = 0.0


class Row(NamedTuple):
    """What may be tried after an outcome: an equal upstream at once, the same ones after a while."""

    elsewhere: bool
    again: bool


ROWS: dict[str, Row] = {
    "unreachable": Row(elsewhere=True, again=True),
    "closed": Row(elsewhere=True, again=True),  # without a byte of an answer
    "timeout": Row(elsewhere=True, again=False),  # it had all the time that it was given
    "429": Row(elsewhere=True, again=True),  # again only after a Retry-After
    "502": Row(elsewhere=True, again=True),
    "503": Row(elsewhere=True, again=True),
    "504": Row(elsewhere=True, again=True),
    "529": Row(elsewhere=True, again=True),
}
"""All other answers are the request's own fault, or would be the same the next time."""


class Outcome(NamedTuple):
    """What became of an attempt: a status, or one of the words in `ROWS`."""

    kind: str
    retry_after: str | None = None

    @property
    def is_failure(self) -> bool:
        """Whether it speaks against the server and not against the request."""
        return self.kind in ROWS

    @property
    def seconds(self) -> float | None:
        """The Retry-After in seconds; endless where it is a date, which is never soon, or nonsense."""
        if self.retry_after is None:
            return None
        return float(self.retry_after) if _SECONDS.fullmatch(self.retry_after) else inf


_SECONDS = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_WORDS = {failures.UNREACHABLE: "unreachable", failures.TIMED_OUT: "timeout", failures.STOPPING: "stopping"}


def without_answer(failure: Failure) -> Outcome:
    """The outcome of an attempt that got no answer."""
    return Outcome(_WORDS.get(failure.code or "", "closed"))


class Attempts:
    """The attempts at one request. `names` are those that may answer it; `chance` gives numbers between 0 and 1."""

    def __init__(self, names: Iterable[str], chance: Callable[[], float]) -> None:
        self._names = frozenset(names)
        self._chance = chance
        self._round = 0
        self.untried = self._names

    def after(self, name: str, outcome: Outcome, policy: Policy) -> float | None:
        """Seconds until the next attempt, at one of `untried`; None: this was the last."""
        row = ROWS.get(outcome.kind)
        if row is None:
            return None
        self.untried -= {name}
        if self.untried and row.elsewhere:
            return 0.0
        pause = self._pause(outcome, policy) if row.again and self._round < policy.retries else None
        if pause is not None:
            self._round += 1
            self.untried = self._names
        return pause

    def _pause(self, outcome: Outcome, policy: Policy) -> float | None:
        """Grows twofold, less up to a half by chance, so that those who failed together do not come back together."""
        told = outcome.seconds
        if told is None:
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._round, 10))
            return None if outcome.kind == "429" else pause * (1 - self._chance() / 2)
        return told + FIRST_PAUSE * self._chance() if told <= policy.longest_wait else None
