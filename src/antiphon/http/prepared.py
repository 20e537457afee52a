"""A request made ready for its model: who keeps state for it, what came before it, where it goes, what it becomes there."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from starlette.datastructures import Headers

from antiphon.history import continuation
from antiphon.history.continuation import Wish
from antiphon.http import travelling
from antiphon.http.caller import Caller
from antiphon.http.gateway import Gateway
from antiphon.loop.ports import Entry, Store, StoreFailed
from antiphon.loop.recall import Recalled, recall
from antiphon.loop.rounds import Hosting, Rounds
from antiphon.loop.run import Ask, Events, Keep, Out, Responding
from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Note
from antiphon.protocol.request import RequestView
from antiphon.turn import Target, Turn
from antiphon.upstream import threads
from antiphon.upstream.client import Answer
from antiphon.upstream.group import Destination
from antiphon.upstream.server import Outgoing

NOTHING_KEPT = Recalled(None, None)
REFERENCE = "item_reference has no form there"
"""How a translation tells of an item that stands for another, and that was not looked for because the request keeps no state."""


class Identity(NamedTuple):
    """What a response is known by."""

    id: str
    created_at: int


NOBODY = Identity("", 0)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that can be sent. `wanted` is None where Antiphon keeps no state for it."""

    to: Destination
    turn: Turn
    identity: Identity
    wanted: Wish | None
    recalled: Recalled
    input: list[bytes]
    caller: Caller
    hosting: Hosting | None = None

    @property
    def is_kept(self) -> bool:
        """Whether its response is to be kept."""
        return self.wanted is not None and self.wanted.keeps

    def entry(self, response: Document, holder: str) -> Entry:
        """Its response for the store; `holder` is this process."""
        assert self.wanted is not None, "somebody else keeps it"
        before, (id, created_at) = self.recalled.before, self.identity
        return Entry(
            id=id, owner=self.caller.owner, created_at=created_at,
            status=response.text("status") or "completed", input=self.input, response=bytes(response), parent=self.wanted.previous,
            behind=None if before is None else before.place, conversation=self.wanted.conversation, background=self.wanted.background, holder=holder,
        )  # fmt: skip


async def prepare(gateway: Gateway, document: Document, view: RequestView, caller: Caller, *, identity: Identity | None = None) -> Prepared:
    """The request made ready; `identity` is its response's, where it has one already. Raises AntiphonError or StoreFailed where it cannot be."""
    name = view.model or ""
    caller.check(name)
    to = await gateway.pool.route(name)
    target = Target(to.api, to.dialect, to.model, to.defaults)
    store = gateway.store
    if store is None or (to.api == "responses" and target.dialect.responses.keeps_state):
        made = await _made(gateway, to, caller, document)
        return Prepared(to, made.turn, NOBODY, None, NOTHING_KEPT, [], caller, made.hosting)
    wanted = continuation.wish(document, view)
    if not wanted.keeps and not wanted.has_past:
        made = await _made(gateway, to, caller, document)
        if not any(note.why == REFERENCE for note in made.turn.notes):
            return Prepared(to, made.turn, NOBODY, wanted, NOTHING_KEPT, [], caller, made.hosting)
    new = request.items(view.input) if len(memoryview(view.input)) else []
    recalled = await recall(store, caller.owner, wanted, new)
    own = identity or Identity(gateway.manner.new_id("resp"), gateway.manner.now())
    told, notes = _told(document, wanted, recalled, target)
    made = await _made(gateway, to, caller, told, shown=continuation.shown(wanted, *own))
    made.turn.notes += notes
    return Prepared(to, made.turn, own, wanted, recalled, [bytes(item) for item in new] if wanted.keeps else [], caller, made.hosting)


class _Made(NamedTuple):
    turn: Turn
    hosting: Hosting | None


async def _made(gateway: Gateway, to: Destination, caller: Caller, document: Document, *, shown: Mapping[str, Any] | None = None) -> _Made:
    """The request's turn, with the gateway's own tools open where it declares any."""
    target, manner, view = Target(to.api, to.dialect, to.model, to.defaults), gateway.manner, request.view(document)
    hosts = None if to.api == "responses" and to.dialect.responses.verbatim else gateway.hosts
    if hosts is None:
        return _Made(Turn(document, view, target, manner, shown=shown), None)
    ready = await hosts.set(document, view, caller.owner)
    told = {**(shown or {}), **ready.shown}
    turn = Turn(ready.document, request.view(ready.document), target, manner, shown=told)
    turn.notes += ready.notes
    if ready.open is None:
        return _Made(turn, None)

    def again(seen: Sequence[Document], *, last: bool) -> Turn:
        """The same request after a round."""
        changes: dict[str, Any] = {"input": [*request.items(ready.document.members["input"]), *seen]}
        if last or "tool_choice" in ready.document:
            changes["tool_choice"] = "none" if last else "auto"
        goes_on, begun = ready.document.but(**changes), turn.begun()
        identity = {name: begun.members[name] for name in ("id", "created_at")}
        return Turn(goes_on, request.view(goes_on), target, manner, shown={**told, **identity})

    return _Made(turn, ready.open(again))


def responding(gateway: Gateway, prepared: Prepared, headers: Headers, out: Out, keep: Keep | None) -> Responding | Rounds:
    """What answers the request: one model call, or as many as the gateway's own tools need."""
    ask = asking(gateway, prepared.to, headers)
    if prepared.hosting is None:
        return Responding(prepared.turn, ask, out, keep)
    return Rounds(prepared.turn, prepared.hosting, ask, out, keep)


def _told(document: Document, wanted: Wish, recalled: Recalled, target: Target) -> tuple[Document, list[Note]]:
    """The request as its upstream is told it."""
    items, notes = recalled.items, list[Note]()
    looks_up = target.api == "responses" and target.dialect.responses.verbatim
    if looks_up and items is not None:
        earlier, notes = continuation.for_its_maker(items[: recalled.earlier])
        items = [*earlier, *items[recalled.earlier :]]
    told = continuation.effective(document, items, recalled.settings)
    changes = continuation.asks_for_seals(told) if looks_up else {}
    if wanted.background:
        changes["stream"] = True
    return (told.but(**changes) if changes else told), notes


def asking(gateway: Gateway, to: Destination, headers: Headers) -> Ask:
    """What sends turns there, with the client's headers."""

    def ask(turn: Turn) -> AbstractAsyncContextManager[Answer]:
        sent = travelling.sent(headers, turn.rules, accept="text/event-stream, application/json")
        thread = threads.key(headers, turn.cache_key)
        return gateway.pool.answer(to, Outgoing(turn.path, turn.body, sent, thread, headers.get("authorization", "")))

    return ask


def keeper(gateway: Gateway, prepared: Prepared) -> Keep | None:
    """Who keeps the response of a request whose client waits for it."""
    return _Keeper(gateway.store, prepared, gateway.process) if gateway.store is not None and prepared.is_kept else None


@dataclass(frozen=True, slots=True)
class _Keeper:
    store: Store
    prepared: Prepared
    process: str

    async def end(self, response: Document, events: Events) -> None:
        """Keeps it; nobody can ask for its events again."""
        await self.store.save(self.prepared.entry(response, self.process))


async def acquire(gateway: Gateway, prepared: Prepared) -> None:
    """Has the conversation for this answer alone, where there is one. Raises InvalidRequest where another answer has it."""
    id, store = _held(prepared), gateway.store
    if id is not None and store is not None and not await store.hold(prepared.caller.owner, id, gateway.holder(), gateway.manner.now()):
        raise locked()


async def release(gateway: Gateway, prepared: Prepared) -> None:
    """Gives the conversation back; where the store fails it comes back by itself."""
    id = _held(prepared)
    if id is not None and gateway.store is not None:
        with suppress(StoreFailed):
            await gateway.store.let_go(prepared.caller.owner, id, gateway.holder())


def _held(prepared: Prepared) -> str | None:
    """The conversation that an answer adds to."""
    return prepared.wanted.conversation if prepared.wanted is not None and prepared.wanted.keeps else None


def locked() -> InvalidRequest:
    """Another answer has the conversation."""
    return InvalidRequest(
        "Another process is currently operating on this conversation. Please retry in a few seconds.",
        param="conversation",
        code="conversation_locked",
    )
