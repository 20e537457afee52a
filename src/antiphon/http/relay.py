"""`POST /v1/chat/completions`, `/v1/completions`, `/v1/embeddings`: on to the model's upstream and back, byte for byte.

Such a client already speaks what most upstreams speak, so nothing is translated: not the request, except for the model's name where an alias
stands for another; not the answer, in which the model has the name that its server gives it; not a refusal, which keeps its status. What Antiphon
does is the routing, the guard, the limits, and an honest end. Not here: the Responses API (`responses_sse`).
"""

import asyncio
from dataclasses import replace

from starlette.datastructures import Headers
from starlette.responses import Response

from antiphon.http import problems, travelling
from antiphon.http.endpoint import Asked
from antiphon.http.gateway import Gateway
from antiphon.observe import log
from antiphon.protocol import failures, json, request
from antiphon.protocol.document import Document
from antiphon.protocol.failures import Failure
from antiphon.upstream import threads
from antiphon.upstream.client import Answer
from antiphon.upstream.group import Destination
from antiphon.upstream.server import Outgoing

PATHS = ("/chat/completions", "/completions", "/embeddings")
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")


class Relay:
    """One request and its answer."""

    def __init__(self, gateway: Gateway, asked: Asked, *, path: str) -> None:
        self._gateway = gateway
        self._headers, self._send, self._caller = asked
        self._path = path
        self._record = log.Record(path.removeprefix("/"))
        self._started = False
        self._last_bytes = b""
        """Of a stream of events, as far as it was passed on."""

    async def run(self, body: bytes, group: asyncio.TaskGroup) -> None:
        """All of it; every failure is told in the form that fits the moment."""
        try:
            document, mended = request.open_body(body)
            name = self._record.model = request.model(document)
            self._caller.check(name)
            to = await self._gateway.pool.route(name)
            self._record.begin(to.name, to.api, mended)
            await self._pass(document if to.model == name else document.but(model=to.model), to)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client is told in the form that it can read
            await self._fail(problems.told(error))
        finally:
            self._record.write()

    async def _pass(self, document: Document, to: Destination) -> None:
        rules = to.dialect.responses
        sent = travelling.sent(self._headers, rules, accept=self._headers.get("accept", "*/*"))
        thread = threads.key(self._headers, document.text("prompt_cache_key") or "")
        outgoing = Outgoing(self._path, bytes(document), sent, thread, self._headers.get("authorization", ""))
        async with self._gateway.pool.answer(to, outgoing) as answer:
            self._record.upstream = answer.upstream
            told = travelling.told(answer.headers, rules)
            if answer.status >= 300:
                await self._answer(await self._refusal(to, answer, told))
            elif answer.is_stream:
                await self._stream(answer, told)
            else:
                await self._answer(Response(await answer.all(), answer.status, told, media_type="application/json"))

    async def _stream(self, answer: Answer, told: dict[str, str]) -> None:
        kind = answer.headers.get("content-type", "application/octet-stream")
        head = {"content-type": kind, "cache-control": "no-store", "x-accel-buffering": "no", **told}
        self._started, self._record.status = True, answer.status
        await self._send({"type": "http.response.start", "status": answer.status, "headers": Headers(head).raw})
        has_events = kind.startswith("text/event-stream")
        while piece := await answer.some():
            if has_events:
                self._last_bytes = (self._last_bytes + piece[-4:])[-4:]
            await self._write(piece)
        await self._write(b"", last=True)

    async def _refusal(self, to: Destination, answer: Answer, told: dict[str, str]) -> Response:
        """A failing answer: as it came where that is OpenAI's form, else put into it."""
        if "retry-after" in answer.headers:
            told = {**told, "retry-after": answer.headers["retry-after"]}
        body = await answer.refusal()
        failure = failures.as_told(answer.status, body)
        self._record.failed(failure)
        if failure.status == answer.status and failures.is_openais(body):
            return Response(body, answer.status, told, media_type="application/json")
        return problems.answer(self._explained(failure, to), told)

    def _explained(self, failure: Failure, to: Destination) -> Failure:
        """A server's bare "Not Found" does not say what it has not."""
        if failure.status not in (404, 405):
            return failure
        instead = " It speaks the Responses API: use POST /v1/responses." if to.api == "responses" else ""
        return replace(failure, message=f"The {to.upstream.client.place} refused POST {self._path}: {failure.message}.{instead}")

    async def _fail(self, failure: Failure) -> None:
        """Inside an event nothing can be told any more: the answer then ends unfinished, as the upstream's did."""
        self._record.failed(failure)
        if not self._started:
            await self._answer(problems.answer(failure))
        elif self._last_bytes.endswith(_EVENT_ENDS):
            await self._write(b"data: " + json.encode({"error": failure.error()}) + b"\n\n", last=True)

    async def _write(self, data: bytes, *, last: bool = False) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})

    async def _answer(self, response: Response) -> None:
        self._started, self._record.status = True, response.status_code
        await response({"type": "http"}, _nothing, self._send)


async def _nothing() -> dict[str, str]:
    return {"type": "http.disconnect"}
