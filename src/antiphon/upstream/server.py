"""One model server: its settings, its connections, what it is once it has been asked, and how it fares.

Not here: which of several is asked (`group`), how it is recognised (`probe`), how long it is left alone (`health`).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from typing import Any

from antiphon import catalogue, upstream_settings
from antiphon.catalogue import Model
from antiphon.config import Config
from antiphon.protocol import failures
from antiphon.protocol.errors import UpstreamError
from antiphon.translation.dialect import Dialect
from antiphon.upstream import access
from antiphon.upstream.choice import Standing
from antiphon.upstream.client import Answer, Client, Limits
from antiphon.upstream.health import Health
from antiphon.upstream.probe import Probed, probe
from antiphon.upstream.retrying import Outcome, Policy, without_answer

LOGGER = logging.getLogger("antiphon")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as an upstream is sent it. `thread` is whose it is (`threads.key`); `authorization` is the client's, for upstreams that may have it."""

    path: str
    body: bytes
    headers: Mapping[str, str]
    thread: str = ""
    authorization: str = ""


class Upstream:
    """One model server. `changed` is called when it goes down or comes up."""

    def __init__(self, name: str, settings: Config, environ: Mapping[str, str], *, clock: Callable[[], float]) -> None:
        self.name = name
        self.settings = own = settings.upstreams[name]
        self.policy = Policy(own.retries, own.retry_after_seconds)
        self.client = Client(access.of(name, own, environ), Limits(own.connect_seconds, own.first_byte_seconds, own.idle_seconds))
        self.health = Health()
        self.changed: Callable[[], None] = lambda: None
        self._models = settings.models
        self._workers = settings.workers
        self._clock = clock
        self._probed: Probed | None = None
        self._asked = -inf
        self._asking = asyncio.Lock()

    @property
    def api(self) -> str:
        """`chat` or `responses`."""
        return self.settings.api if self._probed is None else self._probed.api

    @property
    def is_known(self) -> bool:
        """Whether it has ever said what it is."""
        return self._probed is not None

    def dialect(self, model: str) -> Dialect:
        """Its rules for a model, with what the settings say otherwise."""
        assert self._probed is not None, "known() comes first"
        tables = upstream_settings.of_model(self._models, self.name, model)
        return upstream_settings.dialect(self._probed.dialect, self.settings, tables, model=model)

    def defaults(self, model: str) -> dict[str, Any]:
        """What is asked of a model where the client says nothing."""
        return upstream_settings.defaults(upstream_settings.of_model(self._models, self.name, model))

    @property
    def models(self) -> list[Model]:
        """The models it listed when it was asked last, and those that its settings name."""
        listed = [] if self._probed is None else self._probed.models
        return catalogue.unique([*listed, *map(Model, self.settings.models)])

    @property
    def is_up(self) -> bool:
        """Whether it is worth asking before others."""
        return self.health.is_up(self._clock())

    def standing(self, running: int) -> Standing:
        """How it stands, with so many requests under way."""
        limit = self.settings.max_concurrent or (self._probed.slots if self._probed is not None else 0)
        return Standing(self.name, self.is_up, running, limit and max(1, limit // self._workers))

    async def known(self, *, age: float = inf) -> "Upstream":
        """This upstream, once it is known what it is; what is older than `age` seconds is asked again."""
        if self._is_known(age):
            return self
        async with self._asking:
            if not self._is_known(age):
                await self._ask()
        return self

    async def ask_again(self) -> None:
        """Asks an upstream that is down whether it answers."""
        try:
            await self.known(age=0)
        except UpstreamError as error:
            self.health.unanswered(self._clock(), error.failure.message)

    @asynccontextmanager
    async def answer(self, outgoing: Outgoing) -> AsyncGenerator[Answer]:
        """Sends a request; the answer, whatever its status, may be read until the block ends. What becomes of it is remembered."""
        headers, key = outgoing.headers, ""
        if self.settings.pass_authorization and outgoing.authorization:
            headers, key = {**headers, "authorization": outgoing.authorization}, outgoing.authorization.rpartition(" ")[2]
        async with self.client.answer(outgoing.path, outgoing.body, headers) as answer:
            answer.upstream = self.name
            answer.hide(key)
            try:
                yield answer
            finally:
                if answer.broken:
                    self.failed("it broke off an answer")

    def became(self, outcome: Outcome, why: str) -> None:
        """What became of a request to it."""
        if outcome.is_failure:
            self.failed(why, told=outcome.seconds)
        elif self.health.succeeded():
            self._say(logging.INFO, "answers again")

    def failed(self, why: str, *, told: float | None = None) -> None:
        """A request to it failed, by its fault."""
        if self.health.failed(self._clock(), why, told=told):
            self._say(logging.WARNING, f"is left alone for a while: {why}")

    async def _ask(self) -> None:
        try:
            self._probed = await probe(self.client, api=self.settings.api, dialect=self.settings.dialect)
        except UpstreamError as error:
            # A server that is known and only slow to say so may be busy with an answer.
            if self._probed is None or error.failure.code == failures.UNREACHABLE:
                self.became(without_answer(error.failure), error.failure.message)
            raise
        self._asked = self._clock()
        if self.health.answers():
            self._say(logging.INFO, "answers again")

    def _is_known(self, age: float) -> bool:
        return self._probed is not None and self._clock() - self._asked <= age

    def _say(self, level: int, what: str) -> None:
        LOGGER.log(level, "upstream %s %s", self.name, what)
        self.changed()
