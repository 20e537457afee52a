"""The configured upstreams: opened once, probed when first needed, chosen by a model's name.

A server that is down at start is no reason not to start: it is asked again at the next request. Not here: the choice itself (`select`).
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf

from antiphon import catalogue, upstream_settings
from antiphon.catalogue import Model
from antiphon.config import Config
from antiphon.protocol.errors import UpstreamError
from antiphon.translation.dialect import Dialect
from antiphon.upstream import access
from antiphon.upstream.client import Answer, Client, Limits
from antiphon.upstream.probe import Probed, probe
from antiphon.upstream.select import Instead, Route, select

FRESH_SECONDS = 60.0
"""How long an upstream's model list is believed."""
READY_SECONDS = 1.0
"""How long it is believed that an upstream answers."""


class Upstream:
    """One model server: its settings, its connections, and what it is once it has been asked."""

    def __init__(self, name: str, settings: Config, environ: Mapping[str, str]) -> None:
        self.name = name
        self.settings = own = settings.upstreams[name]
        self._models = settings.models
        self.client = Client(access.of(name, own, environ), Limits(own.connect_seconds, own.first_byte_seconds, own.idle_seconds))
        self._probed: Probed | None = None
        self._asked = float("-inf")
        self._asking = asyncio.Lock()

    @property
    def api(self) -> str:
        """`chat` or `responses`."""
        return self.settings.api if self._probed is None else self._probed.api

    def dialect(self, model: str) -> Dialect:
        """Its rules for a model, with what the settings say otherwise."""
        assert self._probed is not None, "known() comes first"
        return upstream_settings.dialect(self._probed.dialect, self.settings, upstream_settings.of_model(self._models, self.name, model))

    @property
    def models(self) -> list[Model]:
        """The models it listed when it was asked last, and those that its settings name."""
        listed = [] if self._probed is None else self._probed.models
        return catalogue.unique([*listed, *map(Model, self.settings.models)])

    async def known(self, *, age: float = inf, clock: Callable[[], float] = time.monotonic) -> "Upstream":
        """This upstream, once it is known what it is; what is older than `age` seconds is asked again."""
        if self._is_known(age, clock()):
            return self
        async with self._asking:
            if not self._is_known(age, clock()):
                self._probed = await probe(self.client, api=self.settings.api, dialect=self.settings.dialect)
                self._asked = clock()
        return self

    def _is_known(self, age: float, now: float) -> bool:
        return self._probed is not None and now - self._asked <= age


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a model's requests go: the upstream that may answer them, what is spoken there, and the model's name there."""

    upstream: Upstream
    model: str

    @property
    def name(self) -> str:
        """The upstream's name in the settings."""
        return self.upstream.name

    @property
    def api(self) -> str:
        """`chat` or `responses`."""
        return self.upstream.api

    @property
    def dialect(self) -> Dialect:
        """The rules that are spoken by."""
        return self.upstream.dialect(self.model)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as an upstream is sent it. `thread` is whose it is (`threads.key`); `authorization` is the client's, for upstreams that may have it."""

    path: str
    body: bytes
    headers: Mapping[str, str]
    thread: str = ""
    authorization: str = ""


class Pool:
    """All upstreams."""

    def __init__(self, settings: Config, *, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._instead = Instead(settings.review_model, settings.default_model)
        self.upstreams = {name: Upstream(name, settings, environ) for name in settings.upstreams}

    async def close(self) -> None:
        """Ends all connections."""
        for upstream in self.upstreams.values():
            await upstream.client.close()

    async def route(self, model: str) -> Destination:
        """Where requests for a model's name go."""
        chosen = self._select(model)
        if not chosen.certain and (len(self.upstreams) > 1 or self._instead.default):
            await self.models()  # which upstream lists it is only known once all were asked
            chosen = self._select(model)
        return Destination(await self.upstreams[chosen.upstream].known(), chosen.model)

    @asynccontextmanager
    async def answer(self, to: Destination, outgoing: Outgoing) -> AsyncGenerator[Answer]:
        """Sends a request; the answer, whatever its status, may be read until the block ends."""
        upstream, headers, key = to.upstream, outgoing.headers, ""
        if upstream.settings.pass_authorization and outgoing.authorization:
            headers, key = {**headers, "authorization": outgoing.authorization}, outgoing.authorization.rpartition(" ")[2]
        async with upstream.client.answer(outgoing.path, outgoing.body, headers) as answer:
            answer.hide(key)
            yield answer

    async def models(self) -> list[Model]:
        """What all upstreams that can be reached serve."""
        await asyncio.gather(*(self._try(upstream, FRESH_SECONDS) for upstream in self.upstreams.values()))
        return catalogue.unique(model for upstream in self.upstreams.values() for model in upstream.models)

    async def reachable(self) -> dict[str, bool]:
        """Which upstreams answer."""
        names = list(self.upstreams)
        answers = await asyncio.gather(*(self._try(self.upstreams[name], READY_SECONDS) for name in names))
        return dict(zip(names, answers, strict=True))

    def _select(self, model: str) -> Route:
        served = {name: {m.id for m in one.models} for name, one in self.upstreams.items()}
        return select(model, aliases=self._settings.aliases, served=served, instead=self._instead)

    @staticmethod
    async def _try(upstream: Upstream, age: float) -> bool:
        try:
            await upstream.known(age=age)
        except UpstreamError:
            return False
        return True
