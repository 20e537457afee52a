"""Background responses: run beside any request, each event kept before anybody sees it.

Who wants to see a run reads what is kept of it and is told when there is more, so that a stream goes on from any number, in any process. What a
process left behind is taken over: a run of which nothing was kept yet runs again, any other ends as interrupted.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from dataclasses import replace

from starlette.datastructures import Headers

from antiphon.http import problems
from antiphon.http.caller import Caller
from antiphon.http.gateway import HOLD_SECONDS, Gateway
from antiphon.http.prepared import Identity, Prepared, acquire, prepare, release, responding
from antiphon.loop import run
from antiphon.loop.ports import Events, Holder, Kept, Store, StoreFailed, Taken
from antiphon.loop.rounds import Rounds
from antiphon.loop.run import ModelAnswer, Responding
from antiphon.observe import log
from antiphon.protocol import failures, request, stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.protocol.failures import Failure
from antiphon.stages.numbering import Numbering
from antiphon.translation.dialect import ResponsesRules

RUNNING = frozenset({"queued", "in_progress"})
POLL_SECONDS = 0.5
"""How often it is looked for more of a stream that another process runs."""
PRUNE_SECONDS = 3600.0
DAY = 86_400
TOLD_FIRST = frozenset({stream_rules.CREATED, stream_rules.QUEUED})
"""Events that a client was told before the run began."""
FIRST = 2
"""How many events those are."""
_INTERRUPTED = Failure(status=500, code="server_error", message="interrupted by a restart")
_NOT_KEPT = Failure(status=503, code="store_unavailable", message="the state store failed while this response was running")


class Lost(Exception):
    """The run is not this process's any more: it was cancelled, deleted, or taken over."""


class Detached:
    """Where the events of one run go: `Out` and `Keep` in one, since here an event is kept before it is seen."""

    started = True

    def __init__(self, gateway: Gateway, store: Store, id: str, changed: asyncio.Event, record: log.Record) -> None:
        self._gateway, self._store, self._id = gateway, store, id
        self._changed, self._record = changed, record
        self._numbering = Numbering(FIRST)
        self.ended = False

    def told(self, answer: ModelAnswer, rules: ResponsesRules) -> None:
        """Nobody is there to be told but the log."""
        self._record.upstream = answer.upstream

    async def write(self, events: run.Events, *, last: bool = False) -> None:
        """Keeps events; the end it keeps with its response."""
        if self.ended:
            return
        ended = next((event for event in events if isinstance(event, Event) and event.type in stream_rules.TERMINAL), None)
        response = ended.document("response") if ended is not None else None
        if response is not None:
            await self.end(response, events)
            return
        spelled = self._spelled(events)
        if spelled.length and not await self._store.go_on(self._id, spelled, self._gateway.holder()):
            raise Lost
        self._changed.set()

    async def end(self, response: Document, events: run.Events) -> None:
        """Keeps the end."""
        numbering = Numbering(self._numbering.next)  # if it cannot be kept, these events will not have been
        spelled = self._spelled(events, numbering)
        if not await self._store.end(self._id, spelled, bytes(response), self._gateway.holder()):
            raise Lost
        self.ended = True
        self._changed.set()

    def _spelled(self, events: run.Events, numbering: Numbering | None = None) -> Events:
        numbering = numbering or self._numbering
        first = numbering.next
        data = numbering.wire([event for event in events if event.type not in TOLD_FIRST])
        return Events(first, numbering.next - first, data)


class Background:
    """All runs of this process, and the upkeep of the store. Works while `work` does."""

    def __init__(self, gateway: Gateway, store: Store) -> None:
        self._gateway, self._store = gateway, store
        self._group = asyncio.TaskGroup()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._unended: list[tuple[Taken, Failure]] = []
        """Runs whose end could not be kept yet."""
        self._pruned = float("-inf")

    async def work(self) -> None:
        """Says that this process lives, takes over what others left, prunes; until it is cancelled."""
        async with self._group:
            while True:
                try:
                    await self._look_after()
                except StoreFailed as failed:
                    log.LOGGER.warning("state: %s", failed)
                except Exception:  # noqa: BLE001 - whatever it is, the gateway serves on
                    log.LOGGER.exception("the upkeep of state broke")
                await asyncio.sleep(HOLD_SECONDS / 3)

    async def stop(self) -> None:
        """Leaves the runs to whoever takes them over: what was kept of them is kept."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(StoreFailed):
            await self._store.still_here(Holder(self._gateway.process, 0))

    async def begin(self, prepared: Prepared, headers: Headers, body: bytes) -> Document:
        """Keeps a response that is to run, and starts it; the response as it is queued."""
        await acquire(self._gateway, prepared)
        queued = prepared.turn.begun().but(status="queued")
        events = [Event.made(name, {"response": queued}) for name in (stream_rules.CREATED, stream_rules.QUEUED)]
        spelled = events[0].document("response") or queued
        data = Numbering().wire(events)
        try:
            await self._store.begin(prepared.entry(spelled, self._gateway.process), body, Events(0, FIRST, data), self._gateway.holder())
        except StoreFailed:
            await release(self._gateway, prepared)
            raise
        if prepared.caller.slot is not None:
            prepared.caller.slot.outlives = True
        self._start(Taken(prepared.identity.id, prepared.caller.owner, b"", FIRST, bytes(spelled)), self._run(prepared, headers))
        return spelled

    async def cancel(self, owner: str, kept: Kept) -> Kept | None:
        """Ends a run; the response as it is then."""
        response = Document(kept.document).but(status="cancelled")
        ended = Event.made(stream_rules.INCOMPLETE, {"response": response})
        spelled = ended.document("response") or response
        await self._store.cancel(owner, kept.id, bytes(spelled), lambda number: Numbering(number).wire([ended]))
        self.forget(kept.id)
        return await self._store.response(owner, kept.id)

    def forget(self, id: str) -> None:
        """Stops a run that is over in the store."""
        if id in self._tasks:
            self._tasks[id].cancel()

    async def follow(self, owner: str, id: str, after: int) -> AsyncGenerator[bytes]:
        """The events of a background response that come behind a number, to its end; empty bytes while there is nothing new."""
        while True:
            changed = self._changed.get(id)
            if changed is not None:
                changed.clear()
            status = await self._store.status(owner, id)
            for events in await self._store.events(owner, id, after):
                yield _behind(events, after)
                after = events.first + events.length - 1
                status = "in_progress"  # there may be more
            if status is None or status not in RUNNING:
                return
            yield b""
            if changed is None:
                await asyncio.sleep(POLL_SECONDS)
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), POLL_SECONDS)

    def _start(self, run: Taken, work: Coroutine[None, None, None]) -> None:
        self._changed[run.id] = asyncio.Event()
        task = self._tasks[run.id] = self._group.create_task(self._guarded(run, work))
        task.add_done_callback(lambda _: self._over(run.id))

    async def _guarded(self, run: Taken, work: Coroutine[None, None, None]) -> None:
        """A run that breaks takes no other with it, and ends as soon as that can be kept."""
        try:
            await work
        except StoreFailed as failed:
            log.LOGGER.warning("state: %s", failed)
            self._unended.append((run, _NOT_KEPT))
        except Exception:  # noqa: BLE001 - as above
            self._unended.append((run, problems.own_fault().failure))

    def _over(self, id: str) -> None:
        del self._tasks[id]
        self._changed.pop(id).set()

    async def _run(self, prepared: Prepared, headers: Headers) -> None:
        """A run to its end, whatever happens on the way."""
        record = log.Record(model=prepared.to.model)
        record.begin(prepared.to.name, prepared.to.api, prepared.turn.notes)
        out = Detached(self._gateway, self._store, prepared.identity.id, self._changed[prepared.identity.id], record)
        answering = responding(self._gateway, prepared, headers, out, out)
        try:
            await _respond(answering)
            record.status = 200
            if answering.answer.failure is not None:
                record.failed(answering.answer.failure)
        except Lost:
            pass
        finally:
            record.write()
            if prepared.caller.slot is not None:
                prepared.caller.slot.free()
            await release(self._gateway, prepared)

    async def _look_after(self) -> None:
        await self._store.still_here(self._gateway.holder())
        for taken in await self._store.take_over(self._gateway.holder(), self._gateway.manner.now()):
            log.LOGGER.info("background response %s was left behind: %s", taken.id, "run again" if taken.next == FIRST else "ended")
            if taken.next == FIRST:
                self._start(taken, self._again(taken))
            else:
                self._unended.append((taken, _INTERRUPTED))
        await self._end_unended()
        if time.monotonic() - self._pruned > PRUNE_SECONDS:
            self._pruned = time.monotonic()
            await self._prune()

    async def _again(self, taken: Taken) -> None:
        """Runs what another process had not begun."""
        try:
            document, _ = request.open_body(taken.request)
            identity = Identity(taken.id, int(Document(taken.document).get("created_at")))
            prepared = await prepare(self._gateway, document, request.view(document), Caller(taken.owner), identity=identity)
            await acquire(self._gateway, prepared)
        except Exception as error:  # noqa: BLE001 - whatever it is, the response must end
            await self._fail(taken, problems.told(error))
        else:
            await self._run(prepared, Headers())

    async def _end_unended(self) -> None:
        while self._unended:
            taken, failure = self._unended[0]
            kept = await self._store.events(taken.owner, taken.id, -1)
            while kept and (more := await self._store.events(taken.owner, taken.id, kept[-1].first + kept[-1].length - 1)):
                kept = more
            await self._fail(replace(taken, next=kept[-1].first + kept[-1].length if kept else 0), failure)
            self._unended.pop(0)

    async def _fail(self, taken: Taken, failure: Failure) -> None:
        """The end of a run that cannot go on."""
        error = {"code": failures.stream_code(failure), "message": failure.message}
        failed = Event.made(stream_rules.FAILED, {"response": Document(taken.document).but(status="failed", error=error)})
        spelled = failed.document("response")
        assert spelled is not None, "it was made with one"
        events = Events(taken.next, 1, Numbering(taken.next).wire([failed]))
        await self._store.end(taken.id, events, bytes(spelled), self._gateway.holder())

    async def _prune(self) -> None:
        now, config = self._gateway.manner.now(), self._gateway.config
        before = now - config.keep_days * DAY if config.keep_days else 0
        pruned = await self._store.prune(before=before, events_before=now - config.keep_stream_hours * 3600)
        if any(pruned.values()):
            log.LOGGER.info("state: pruned %s", ", ".join(f"{count} {name}" for name, count in pruned.items()))


async def _respond(answering: Responding | Rounds) -> None:
    try:
        await answering.stream()
    except (Lost, StoreFailed):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the response must end
        await answering.fail(problems.told(error))


def _behind(events: Events, after: int) -> bytes:
    """The events that come behind a number."""
    known = after + 1 - events.first
    return events.data if known <= 0 else b"".join(frame + b"\n\n" for frame in events.data.split(b"\n\n")[known:-1])
