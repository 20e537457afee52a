"""The configured upstreams: opened once, probed when first needed, chosen by a model's name.

A server that is down at start is no reason not to start: it is asked again at the next request, and in the background until it answers. Not here:
the choice itself (`select`), what happens to a request among equal upstreams (`group`).
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from math import inf
from typing import Any

from antiphon import catalogue
from antiphon.catalogue import Model
from antiphon.config import Config
from antiphon.protocol.errors import UpstreamError
from antiphon.upstream.client import Answer
from antiphon.upstream.group import Destination, Group
from antiphon.upstream.select import Directory, Instead, Route, select
from antiphon.upstream.server import Outgoing, Upstream

FRESH_SECONDS = 60.0
"""How long an upstream's model list is believed."""
READY_SECONDS = 1.0
"""How long it is believed that an upstream answers."""


class Pool:
    """All upstreams."""

    def __init__(self, settings: Config, *, environ: Mapping[str, str], clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._instead = Instead(settings.review_model, settings.default_model)
        self._clock = clock
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self.upstreams = {name: Upstream(name, settings, environ, clock=clock) for name in settings.upstreams}
        self._groups = self._grouped()
        for name, upstream in self.upstreams.items():
            upstream.changed = self._on_change(self._groups[name])

    async def close(self) -> None:
        """Ends all connections; whoever waits for an answer is told that the gateway is being stopped."""
        self._stopping.set()
        for upstream in self.upstreams.values():
            await upstream.client.close()

    async def watch(self) -> None:
        """Asks upstreams that are down whether they answer again. Never ends."""
        while True:
            self._changed.clear()
            due = min(upstream.health.ask_at for upstream in self.upstreams.values())
            try:
                async with asyncio.timeout(None if due == inf else max(0.0, due - self._clock())):
                    await self._changed.wait()
            except TimeoutError:
                now = self._clock()
                await asyncio.gather(*(one.ask_again() for one in self.upstreams.values() if one.health.ask_at <= now))

    async def route(self, model: str) -> Destination:
        """Where requests for a model's name go."""
        chosen = self._select(model)
        if not chosen.certain and (len(self.upstreams) > 1 or self._instead.default):
            await self.models()  # which upstream lists it is only known once all were asked
            chosen = self._select(model)
        return await self._groups[chosen.upstreams[0]].destination(chosen.upstreams, chosen.model)

    def answer(self, to: Destination, outgoing: Outgoing) -> AbstractAsyncContextManager[Answer]:
        """Sends a request, to one upstream after the other where that helps; the answer, whatever its status, may be read until the block ends."""
        return self._groups[to.upstream.name].answer(to, outgoing)

    async def models(self) -> list[Model]:
        """What all upstreams that can be reached serve."""
        await asyncio.gather(*(_try(upstream, FRESH_SECONDS) for upstream in self.upstreams.values() if upstream.is_up))
        return catalogue.unique(model for upstream in self.upstreams.values() for model in upstream.models)

    async def ready(self) -> dict[str, dict[str, Any]]:
        """How each upstream fares."""
        answers = await asyncio.gather(*(_try(one, READY_SECONDS if one.is_up else 0) for one in self.upstreams.values()))
        return {one.name: self._state(one, answered) for one, answered in zip(self.upstreams.values(), answers, strict=True)}

    def _state(self, upstream: Upstream, answered: bool) -> dict[str, Any]:  # noqa: FBT001 - a column of a table
        line = self._groups[upstream.name].line
        up = answered and upstream.is_up
        state: dict[str, Any] = {"answers": answered, "up": up, "running": line.running(upstream.name), "waiting": line.waiting}
        if limit := upstream.standing(0).limit:
            state["limit"] = limit
        if upstream.settings.group:
            state["group"] = upstream.settings.group
        if not up:
            state["why"] = upstream.health.why or "it does not answer"
        return state

    def _select(self, model: str) -> Route:
        served = {name: {m.id for m in one.models} for name, one in self.upstreams.items()}
        groups = {name: one.settings.group for name, one in self.upstreams.items()}
        return select(model, Directory(served, groups), aliases=self._settings.aliases, instead=self._instead)

    def _grouped(self) -> dict[str, Group]:
        """The group of each upstream; one that names none is alone in its own."""
        members: dict[str, list[Upstream]] = {}
        for name, upstream in self.upstreams.items():
            members.setdefault(upstream.settings.group or name, []).append(upstream)
        groups = (Group(equal, longest_line=self._settings.max_queued, stopping=self._stopping) for equal in members.values())
        return {name: group for group in groups for name in group.members}

    def _on_change(self, group: Group) -> Callable[[], None]:
        def changed() -> None:
            self._changed.set()
            group.line.settle()

        return changed


async def _try(upstream: Upstream, age: float) -> bool:
    try:
        await upstream.known(age=age)
    except UpstreamError:
        return False
    return True
