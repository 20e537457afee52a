"""`antiphon ask`: one question to a running gateway, its answer as it streams.

A client like any other: it knows the gateway's URL and the Responses API, and shows that both work. Not here: conversations, tools, files.
"""

import http.client
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import click

from antiphon.cli import running_gateway
from antiphon.protocol import json, sse
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event, of_frame

URL = "http://127.0.0.1:8787"
READ = 65_536
BODY_LIMIT = 1_000_000


class Failed(click.ClickException):
    """The gateway, or the model behind it, gave no answer."""


@click.command()
@click.option("--url", default=URL, show_default=True, help="The gateway.")
@click.option("--model", help="A model it serves; the first of its list where none is named.")
@click.option("--timeout", default=120.0, show_default=True, help="Seconds to wait for each part of the answer.")
@click.argument("text")
def ask(url: str, text: str, *, model: str | None, timeout: float) -> None:
    """Ask a running gateway one question and print the answer as it streams."""
    gateway = Gateway(url, timeout)
    named = model or gateway.first_model()
    answered_by = answer(gateway.events({"model": named, "input": text, "stream": True}), _show)
    _show("\n")
    click.echo(f"(answered by {answered_by or named})", err=True)


class Gateway:
    """A gateway's routes over one connection per request."""

    def __init__(self, url: str, timeout: float) -> None:
        at = urlsplit(url if "://" in url else f"http://{url}")
        if at.scheme not in {"http", "https"} or not at.hostname:
            raise Failed(f"not an http URL: {url}")
        self._connect = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._timeout = at.hostname, at.port, timeout
        self._base = at.path.rstrip("/").removesuffix("/v1") + "/v1"
        self.url = url

    def first_model(self) -> str:
        """The first model of the gateway's list."""
        with self._reply("GET", "/models") as reply:
            listed = Document(reply.read(BODY_LIMIT)).elements("data")
        name = Document(listed[0]).text("id") if listed else None
        if name is None:
            raise Failed(
                f"{self.url} lists no model. Is its model server up? {self.url}/ready tells; a model can be named with: antiphon ask --model"
            )
        return name

    def events(self, request: dict[str, Any]) -> Iterator[Event]:
        """The events of one streamed answer."""
        frames = sse.Decoder()
        with self._reply("POST", "/responses", json.encode(request)) as reply:
            while chunk := _reading(reply.read1, READ):
                for frame in frames.feed(chunk):
                    if isinstance(frame, sse.Frame) and frame.data != sse.DONE:
                        yield of_frame(frame)

    @contextmanager
    def _reply(self, method: str, path: str, body: bytes | None = None) -> Generator[http.client.HTTPResponse]:
        with closing(self._connect(self._host, self._port, timeout=self._timeout)) as connection:
            try:
                connection.request(
                    method,
                    self._base + path,
                    body,
                    {"content-type": "application/json", "accept": "text/event-stream", **running_gateway.authorization()},
                )
                reply = connection.getresponse()
            except (OSError, http.client.HTTPException) as refused:
                raise Failed(f"no gateway answers at {self.url} ({refused!r}); start one with: antiphon serve") from None
            with reply:
                if reply.status != http.client.OK:
                    raise Failed(f"HTTP {reply.status}: {_said(reply.read(BODY_LIMIT))}")
                yield reply


def answer(events: Iterator[Event], show: Callable[[str], object]) -> str | None:
    """Show the text of a stream of events; which model gave it. Anything but a whole answer is a failure."""
    for event in events:
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta":
                show(event.text("delta") or "")
            case "response.completed":
                return _model(event)
            case "response.incomplete":
                show(" [cut short]")
                return _model(event)
            case "response.failed" | "error":
                raise Failed(_said(bytes((event.document("response") or event).raw)))
            case _:
                pass
    raise Failed("the stream ended before the answer did")


def _model(event: Event) -> str | None:
    response = event.document("response")
    return response.text("model") if response else None


def _said(body: bytes) -> str:
    """The message of an error body; the body itself where it is none of OpenAI's."""
    try:
        document = Document(body)
        told = (document.document("error") or document).text("message")
    except ValueError:
        told = None
    return told or body.decode(errors="replace")[:500]


def _reading(read: Callable[[int], bytes], size: int) -> bytes:
    try:
        return read(size)
    except (OSError, http.client.HTTPException) as broken:
        raise Failed(f"the connection broke in the middle of the answer ({broken!r})") from None


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
