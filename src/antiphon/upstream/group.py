"""Equal upstreams: each may answer what another could, so a request that one fails at goes to the next before its client knows of it.

A single upstream is a group of one. Not here: whose turn it is (`line`), what may be sent again (`retrying`), who is left alone (`health`).
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from antiphon.protocol import failures
from antiphon.protocol.errors import UpstreamError
from antiphon.translation.dialect import Dialect
from antiphon.upstream.client import Answer
from antiphon.upstream.line import Line
from antiphon.upstream.retrying import Attempts, Outcome, without_answer
from antiphon.upstream.server import Outgoing, Upstream

LOGGER = logging.getLogger("antiphon")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a model's requests go: the upstreams that may answer them, the first of which says what is spoken; and the model's name there."""

    upstreams: tuple[Upstream, ...]
    model: str
    api: str
    dialect: Dialect
    defaults: Mapping[str, Any]

    @property
    def upstream(self) -> Upstream:
        """The one that said what is spoken."""
        return self.upstreams[0]

    @property
    def name(self) -> str:
        """The upstream's name in the settings, or that of its group."""
        return self.upstream.settings.group if len(self.upstreams) > 1 else self.upstream.name

    def fits(self, upstream: Upstream) -> bool:
        """Whether the same is spoken there."""
        return upstream is self.upstream or (upstream.api, upstream.dialect(self.model)) == (self.api, self.dialect)


@dataclass(frozen=True, slots=True)
class _Trial:
    """One attempt at an upstream: what became of it, and the answer or the error that it gave."""

    upstream: Upstream
    outcome: Outcome
    why: str
    gave: Answer | UpstreamError

    @classmethod
    def failed(cls, upstream: Upstream, error: UpstreamError) -> Self:
        """There was no answer."""
        return cls(upstream, without_answer(error.failure), error.failure.message, error)

    @classmethod
    def answered(cls, upstream: Upstream, answer: Answer) -> Self:
        """There was one."""
        return cls(upstream, Outcome(str(answer.status), answer.headers.get("retry-after")), f"it answered {answer.status}", answer)


class Group:
    """Equal upstreams, and the line before them."""

    def __init__(
        self, members: Sequence[Upstream], *, longest_line: int, stopping: asyncio.Event, chance: Callable[[], float] = random.random
    ) -> None:
        self.members = {one.name: one for one in members}
        self.line = Line(list(self.members), lambda name, running: self.members[name].standing(running), longest=longest_line)
        self._chance = chance
        self._stopping = stopping

    async def destination(self, names: Sequence[str], model: str) -> Destination:
        """The destination made of those upstreams that speak what the first one speaks that answers. Raises UpstreamError where none does."""
        attempts = Attempts(names, self._chance)
        while True:
            name = min(attempts.untried, key=lambda one: (not self.members[one].is_up, names.index(one)))
            try:
                first = await self.members[name].known()
            except UpstreamError as error:
                if await self._is_last(attempts, _Trial.failed(self.members[name], error)):
                    raise
                continue
            found = Destination((first,), model, first.api, first.dialect(model), first.defaults(model))
            others = (self.members[one] for one in names if one != name)
            return replace(found, upstreams=(first, *(one for one in others if not one.is_known or found.fits(one))))

    @asynccontextmanager
    async def answer(self, to: Destination, outgoing: Outgoing) -> AsyncGenerator[Answer]:
        """Sends a request until one answers it, or none will; the answer may be read until the block ends."""
        attempts = Attempts((one.name for one in to.upstreams), self._chance)
        async with AsyncExitStack() as stack:
            while True:
                name = await self.line.take(outgoing.thread, attempts.untried)
                stack.callback(self.line.leave, name)
                trial = await _try(to, self.members[name], outgoing, stack)
                trial.upstream.became(trial.outcome, trial.why)
                if not await self._is_last(attempts, trial, stack):
                    continue
                if isinstance(trial.gave, UpstreamError):
                    raise trial.gave
                yield trial.gave
                return

    async def _is_last(self, attempts: Attempts, trial: _Trial, stack: AsyncExitStack | None = None) -> bool:
        """Whether that is what the client is told; else the next attempt may be made, now that it has been waited for."""
        pause = attempts.after(trial.upstream.name, trial.outcome, trial.upstream.policy)
        if pause is None:
            return True
        LOGGER.warning("upstream %s failed a request, which is sent again: %s", trial.upstream.name, trial.why)
        if stack is not None:
            await stack.aclose()  # the place is another's while this one waits
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._stopping.wait()
        return False


async def _try(to: Destination, upstream: Upstream, outgoing: Outgoing, stack: AsyncExitStack) -> _Trial:
    try:
        _check_equal(to, await upstream.known())
        return _Trial.answered(upstream, await stack.enter_async_context(upstream.answer(outgoing)))
    except UpstreamError as error:
        return _Trial.failed(upstream, error)


def _check_equal(to: Destination, upstream: Upstream) -> None:
    if not to.fits(upstream):
        raise UpstreamError(failures.unreachable(f"the {upstream.client.place} speaks otherwise than its equal {to.upstream.name}"))
