"""One response of several model calls: the gateway's tools run between them, and the client sees one stream.

Each round is a `Responding` of its own, whose events pass through a `Round` on their way out. Then `decide` says what follows. Two ledgers are kept: what the client saw (the response's output) and what the model
saw (the input of its next call).

Same face as `run.Responding`. Not here: what a tool does, how a request is rewritten (`tools.hosting`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from antiphon.history import memory
from antiphon.history.sealed import Sealer
from antiphon.loop.decision import Budget, Call, Continue, Incomplete, RequiresClientAction, decide
from antiphon.loop.one_round import HEADS, Round
from antiphon.loop.run import Ask, Events, Keep, ModelAnswer, Out, Responding, ended_with
from antiphon.loop.tools import Begun, OpenTool, Ran
from antiphon.loop.totals import total, within
from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.errors import AntiphonError
from antiphon.protocol.event_views import Event, Streamed
from antiphon.protocol.failures import Failure
from antiphon.protocol.stream_builder import NewId
from antiphon.tools.hosting import Key
from antiphon.translation.dialect import ResponsesRules
from antiphon.turn import Turn


class NewTurn(Protocol):
    """Makes the request's next turn, with what the model saw since; `last`: it may call no more tools."""

    def __call__(self, seen: Sequence[Document], *, last: bool) -> Turn: ...


Result = Callable[[Call, str], Awaitable[Ran]]
"""What came of a call."""

LOGGER = logging.getLogger("antiphon")


@dataclass(frozen=True, slots=True)
class Limits:
    """What the gateway's tools may cost in one response."""

    rounds: int = 16
    calls: int | None = None
    tool_seconds: float = 120.0
    turn_seconds: float = 900.0
    result_bytes: int = 64 * 1024

    def with_calls(self, calls: int) -> "Limits":
        """The same, with a request's own limit of calls."""
        return replace(self, calls=calls)


@dataclass(frozen=True, slots=True)
class Hosting:
    """The gateway's tools in one request. `sealer` None: the public items' ids are enough to recall by."""

    tools: dict[int, OpenTool]
    owners: dict[Key, int]
    again: NewTurn
    limits: Limits
    new_id: NewId
    owner: str = ""
    sealer: Sealer | None = None


@dataclass(slots=True)
class _Ledgers:
    """What the client saw, what the model saw, and what it cost."""

    output: list[Document] = field(default_factory=list[Document])
    transcript: list[Document] = field(default_factory=list[Document])
    usage: list[Document] = field(default_factory=list[Document])
    remembered: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])


class Rounds:
    """One response under way."""

    def __init__(self, turn: Turn, hosting: Hosting, ask: Ask, out: Out, keep: Keep | None = None) -> None:
        self._turn, self._hosting = turn, hosting
        self._ask, self._out, self._keep = ask, out, keep
        self._ledgers = _Ledgers()
        self._count = 0
        self._begun: Document | None = None
        self.cited: dict[str, str] = {}
        self.ids: set[str] = set()
        self._inner = Responding(turn, ask, Round(self), None)

    @property
    def answer(self) -> Any:
        """The machine that reads the model's answer now."""
        return self._inner.answer

    async def stream(self) -> None:
        """The response in events, to its end. Raises AntiphonError where it failed before anything was sent."""
        try:
            async with asyncio.timeout(self._hosting.limits.turn_seconds):
                await self._go_round()
        except TimeoutError:
            await self._end_badly(Failure(status=504, code="server_error", message="the tools of this response took too long together"))

    async def whole(self) -> Document:
        """The response in one piece, kept. Raises AntiphonError, or StoreFailed where it cannot be kept."""
        collected = _Collected()
        real, self._out = self._out, collected
        collected.real = real
        await self.stream()
        response = collected.response
        if response is None or response.text("status") == "failed":
            raise collected.failure()
        return response

    async def fail(self, failure: Failure) -> None:
        """Ends it in a failure, where it has not ended."""
        await self._end_badly(failure)

    async def keep_alive(self, *, begins: bool) -> Event | None:
        """An event that says nothing else."""
        if self._begun is None:
            return await self._inner.keep_alive(begins=begins)
        return Event.made(stream_rules.IN_PROGRESS, {"response": self._begun})

    async def _go_round(self) -> None:
        limits = self._hosting.limits
        budget = Budget(limits.rounds, limits.calls)
        while True:
            round = Round(self)
            self._inner = Responding(self._turn, self._ask, round, None)
            await self._inner.stream()
            if round.ended is None:
                return
            self._take_in(round)
            response = round.ended.document("response")
            if round.ended.type != stream_rules.COMPLETED or response is None:
                await self._end(round.ended, response)
                return
            decision = decide(round.calls, round.clients, budget)
            match decision:
                case Continue(calls, last):
                    await self._run(calls)
                    self._turn = self._hosting.again(self._ledgers.transcript, last=last)
                    budget = budget.after(len(calls))
                case RequiresClientAction(calls, _):
                    await self._run(calls)
                    await self._end(round.ended, response)
                    return
                case Incomplete(reason):
                    ended = Event.made(stream_rules.INCOMPLETE, {"response": response})
                    await self._end(ended, response.but(status="incomplete", incomplete_details={"reason": reason}))
                    return
                case _:
                    await self._end(round.ended, response)
                    return

    def _take_in(self, round: Round) -> None:
        """What the model said is part of what it sees next."""
        self._ledgers.transcript += round.said
        response = round.ended.document("response") if round.ended is not None else None
        if response is not None and (usage := response.document("usage")) is not None:
            self._ledgers.usage.append(usage)

    async def _run(self, calls: Sequence[Call]) -> None:
        """Runs calls of a round: at once where all their tools say so; what came of them is told in their order."""
        if not calls:
            return
        tools = self._hosting.tools
        named = [(call, self._hosting.new_id(_prefix(tools[call.tool].offer.kind))) for call in calls]
        async with asyncio.TaskGroup() as group:
            at_once = all(tools[call.tool].parallel for call in calls)
            tasks = [group.create_task(self._limited(call, id)) for call, id in named] if at_once else []
            running = iter(tasks)

            async def result(call: Call, id: str) -> Ran:
                return await next(running) if tasks else await self._limited(call, id)

            await (
                self._show_as_run(named, result) if self._hosting.sealer is None else self._show_sealed(named, result, self._hosting.sealer)
            )

    async def _show_as_run(self, named: Sequence[tuple[Call, str]], result: Result) -> None:
        """Each call is seen to begin and to end; what the model saw is kept by the first one's id."""
        results: list[Ran] = []
        for call, id in named:
            place, begun = await self._open(call, id)
            results.append(await result(call, id))
            await self._close(place, begun, results[-1])
        seen = self._seen(named, results)
        self._ledgers.remembered |= {id: [] for _, id in named} | {named[0][1]: [bytes(one) for one in seen]}

    async def _show_sealed(self, named: Sequence[tuple[Call, str]], result: Result, sealer: Sealer) -> None:
        """The envelope stands before the items, so these wait for what goes into it."""
        results = [await result(call, id) for call, id in named]
        seen = self._seen(named, results)
        await self._show(memory.envelope(seen, sealer, owner=self._hosting.owner, id=self._hosting.new_id("rs")))
        for (call, id), ran in zip(named, results, strict=True):
            place, begun = await self._open(call, id)
            await self._close(place, begun, ran)

    def _seen(self, named: Sequence[tuple[Call, str]], results: Sequence[Ran]) -> list[Document]:
        """What the model sees of these calls. The calls it has said itself; their outputs are new to it."""
        seen = _transcript([call for call, _ in named], results)
        self._ledgers.transcript += seen[len(named) :]
        for ran in results:
            self.cited |= ran.cited
        return seen

    async def _limited(self, call: Call, id: str) -> Ran:
        """A call that takes no longer, and says no more, than it may."""
        limits, tool = self._hosting.limits, self._hosting.tools[call.tool]
        try:
            async with asyncio.timeout(limits.tool_seconds):
                ran = await tool.run(call, id)
        except TimeoutError:
            return Ran(tool.begin(call, id).item.but(status="failed"), f"The tool did not answer within {limits.tool_seconds:g} seconds.")
        except Exception:
            LOGGER.exception("a tool of the gateway broke")
            return Ran(tool.begin(call, id).item.but(status="failed"), "The tool failed inside the gateway.")
        return replace(ran, output=within(ran.output, limits.result_bytes))

    async def _open(self, call: Call, id: str) -> tuple[int, Begun]:
        begun = self._hosting.tools[call.tool].begin(call, id)
        place = self._next_place()
        added = Event.made(stream_rules.ITEM_ADDED, {"output_index": place, "item": begun.item})
        await self._out.write([added, *_progress(begun.events, begun.item, place)])
        return place, begun

    async def _close(self, place: int, begun: Begun, ran: Ran) -> None:
        done = Event.made(stream_rules.ITEM_DONE, {"output_index": place, "item": ran.item})
        self._ledgers.output.append(ran.item)
        await self._out.write([*_progress(ran.events, ran.item, place), done])

    async def _show(self, item: Document) -> None:
        """An item that is whole from its beginning."""
        place = self._next_place()
        self._ledgers.output.append(item)
        names = (stream_rules.ITEM_ADDED, stream_rules.ITEM_DONE)
        await self._out.write([Event.made(name, {"output_index": place, "item": item}) for name in names])

    def _next_place(self) -> int:
        self._count += 1
        return self._count - 1

    async def _end(self, ended: Event, response: Document | None) -> None:
        """The end of all rounds, kept before it is told."""
        told = response or ended.document("response") or Document(b"{}")
        begun = {} if self._begun is None else {name: self._begun.members[name] for name in ("id", "created_at") if name in self._begun}
        whole = told.but(**begun, output=self._ledgers.output, usage=total(self._ledgers.usage))
        events: Events = [Event.made(ended.type, {"response": whole})]
        if self._keep is not None:
            events = await ended_with(self._keep, events, whole)
        await self._out.write(events, last=True)

    async def _end_badly(self, failure: Failure) -> None:
        if not self._out.started:
            raise _failed(failure)
        await self._inner.fail(failure)
        response = self._begun or self._turn.begun()
        error = {"code": failure.code or "server_error", "message": failure.message}
        await self._end(Event.made(stream_rules.FAILED, {"response": response}), response.but(status="failed", error=error))

    # what a round passes on

    @property
    def is_first(self) -> bool:
        """Whether the response has not begun yet."""
        return self._begun is None

    @property
    def started(self) -> bool:
        """Whether anything has been sent."""
        return self._out.started

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        """The head of a model server's answer."""
        self._out.told(answer, rules)

    async def pass_on(self, events: Sequence[Streamed]) -> None:
        """A round's events, with what stands before all of them."""
        if not events:
            return
        if self._begun is None:
            heads = [event for event in events if isinstance(event, Event) and event.type in HEADS]
            self._begun = heads[0].document("response") if heads else None
            if heads and (shown := [one for tool in self._hosting.tools.values() for one in tool.shown]):
                await self._out.write(heads)
                events = [event for event in events if event not in heads]
                for begun, ran in shown:
                    await self._show_listed(begun, ran)
        if events:
            await self._out.write(events)

    async def _show_listed(self, begun: Begun, ran: Ran) -> None:
        place = self._next_place()
        added = Event.made(stream_rules.ITEM_ADDED, {"output_index": place, "item": begun.item})
        await self._out.write([added, *_progress(begun.events, begun.item, place)])
        await self._close(place, begun, ran)

    def add(self, item: Document) -> None:
        """An item of the model's own that is done."""
        self._ledgers.output.append(item)

    def place(self) -> int:
        """The next item's place."""
        return self._next_place()

    def new_id(self, prefix: str) -> str:
        """An id that no item of the response has."""
        return self._hosting.new_id(prefix)

    def owner(self, item: Document) -> int | None:
        """The tool whose call this item is; None where it is not the gateway's."""
        if item.text("type") != "function_call":
            return None
        return self._hosting.owners.get((item.text("namespace") or None, item.text("name") or ""))


class _Collected:
    """An `Out` for a client that wants the response in one piece."""

    def __init__(self) -> None:
        self.started = False
        self.real: Out | None = None
        self.response: Document | None = None

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        if self.real is not None:
            self.real.told(answer, rules)

    async def write(self, events: Events, *, last: bool = False) -> None:
        for event in events:
            if isinstance(event, Event) and event.type in stream_rules.TERMINAL:
                self.response = event.document("response")

    def failure(self) -> AntiphonError:
        error = self.response.document("error") if self.response is not None else None
        message = (error.text("message") if error is not None else None) or "the model server ended its answer without finishing it"
        return _failed(Failure(status=502, code=(error.text("code") if error is not None else None) or "server_error", message=message))


_PREFIXES = {"web": "ws", "file": "fs", "code": "ci", "mcp": "mcp"}


def _prefix(kind: str) -> str:
    """How ids of a kind's items begin."""
    return _PREFIXES.get(kind.partition("_")[0], "ht")


def _failed(failure: Failure) -> AntiphonError:
    error = AntiphonError(failure.message)
    error.failure = failure
    return error


def _transcript(calls: Sequence[Call], results: Sequence[Ran]) -> list[Document]:
    """What the model sees of a round of calls: all of them, then all outputs."""
    outputs = [
        Document.of({"type": "function_call_output", "call_id": call.item.members.get("call_id"), "output": ran.output})
        for call, ran in zip(calls, results, strict=True)
    ]
    return [*(call.item for call in calls), *outputs]


def _progress(events: Sequence[tuple[str, Any]], item: Document, place: int) -> list[Event]:
    at = {"item_id": item.members.get("id"), "output_index": place}
    return [Event.made(type, {**at, **more}) for type, more in events]
