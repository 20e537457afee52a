"""A model server that answers each request with the bytes a test gives it."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

PATIENCE = 10.0


@dataclass(slots=True)
class Call:
    """One request as it arrived, and the way to answer it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def gone(self) -> None:
        """Waits until the gateway has closed the connection."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(65536):
                pass

    def reset(self) -> None:
        """Ends the connection by RST."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Script = Callable[[Call], Awaitable[None]]


def head(status: int = 200, type: str = "text/event-stream", **more: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"content-type: {type}", *(f"{name.replace('_', '-')}: {value}" for name, value in more.items())]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1")


def answering(*pieces: bytes) -> Script:
    """Sends these bytes and closes."""

    async def script(call: Call) -> None:
        await call.send(*pieces)

    return script


def whole(body: Any, status: int = 200, **more: str) -> Script:
    """A JSON answer, or one of bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return answering(head(status, "application/json", content_length=str(len(data)), **more) + data)


def streaming(*events: bytes) -> Script:
    return answering(head(), *events)


def data(*documents: Any) -> bytes:
    """Documents as the events of a stream."""
    return b"".join(b"data: " + (one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n\n" for one in documents)


async def silent(call: Call) -> None:
    """Says nothing until the gateway goes."""
    await call.gone()


@dataclass(slots=True)
class Upstream:
    """Listens on an ephemeral port of the loopback while its context is open. Each POST goes to `script`; GETs are answered from `pages`."""

    script: Script = silent
    pages: dict[str, bytes] = field(default_factory=lambda: {"/v1/models": b'{"object":"list","data":[{"id":"m","object":"model"}]}'})
    calls: list[Call] = field(default_factory=list[Call])
    tls: ssl.SSLContext | None = None
    url: str = ""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def listen(self) -> None:
        """Begins, or comes back after it was killed."""
        port = int(self.url.rpartition(":")[2].partition("/")[0]) if self.url else 0
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port, limit=1 << 20, ssl=self.tls)
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def kill(self) -> None:
        """Takes no connection any more, and ends those it has."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def posts(self) -> list[Call]:
        return [call for call in self.calls if call.method == "POST"]

    def answers(self, script: Script) -> None:
        """What the next requests get; forgets those before."""
        self.script = script
        self.calls.clear()
        self.arrived.clear()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            call = await read_call(reader, writer)
            if call is not None:
                await self._respond(call)
        except ConnectionError:
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _respond(self, call: Call) -> None:
        self.calls.append(call)
        if call.method == "GET":
            page = self.pages.get(call.path)
            await (whole(b"{}", 404) if page is None else whole(page))(call)
            return
        self.arrived.set()
        await self.script(call)


async def read_call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call | None:
    try:
        start = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = start.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Call(method, path, headers, body, reader, writer)


def responses_events(text: str = "hello", **response: Any) -> list[dict[str, Any]]:
    """A whole Responses stream of one message, numbered."""
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    done = item | {"status": "completed", "content": [part | {"text": text}]}
    own = {"id": "resp_1", "object": "response", "created_at": 1, "status": "in_progress", "model": "m", "output": []} | response
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0}}
    usage["output_tokens_details"] = {"reasoning_tokens": 0}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events: Iterable[dict[str, Any]] = (
        {"type": "response.created", "response": own},
        {"type": "response.in_progress", "response": own},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, "delta": word, "logprobs": []} for word in text),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part | {"text": text}},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": own | {"status": "completed", "output": [done], "usage": usage}},
    )
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def named(*events: dict[str, Any]) -> bytes:
    """Events as OpenAI writes them, with their names."""
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode() for event in events)


def response(text: str = "hello", **response: Any) -> dict[str, Any]:
    """The response object that the stream ends with."""
    return responses_events(text, **response)[-1]["response"]


def chunks(text: str = "hello", finish: str | None = "stop") -> list[dict[str, Any]]:
    """A Chat Completions stream of one message, without its `[DONE]`."""
    said = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}]
    said += [{"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in text]
    if finish:
        said.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return said


def chat(text: str = "hello") -> Script:
    return streaming(data(*chunks(text), b"[DONE]"))


def completion(text: str = "hello", finish: str = "stop") -> dict[str, Any]:
    """A Chat Completions answer that was not streamed."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}
