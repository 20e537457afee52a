"""A gateway for a client that Antiphon starts: the one that is running, else one of its own for as long as the client runs.

Not here: the gateway itself (`serve`), nor what the client is told of it.
"""

import http.client
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from antiphon import child
from antiphon.protocol.document import Document
from antiphon.protocol.json import BadJson, WrongType

LISTENING = re.compile(rb"antiphon: listening on (http://\S+)")
PATIENCE = 300.0
"""Seconds for a gateway to start, the embedded model and its weights included."""
LIMIT = 16_000_000


KEY = "ANTIPHON_API_KEY"
"""The variable with the key for a gateway that asks for one."""


class NoGateway(Exception):
    """There is no gateway and none could be started; the message says why."""


def address(host: str, port: int) -> str:
    """The URL of a gateway that listens there."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def is_running(url: str) -> bool:
    """Whether a gateway answers there, and is Antiphon."""
    try:
        return fetch(url, "/version", within=3).text("name") == "antiphon" and fetch(url, "/health", within=3).text("status") is not None
    except NoGateway:
        return False


def fetch(url: str, path: str, *, within: float = 20) -> Document:
    """The JSON object at that path, each part within so many seconds. No proxy is asked: a gateway is on this machine or named by its own address."""
    at = urlsplit(url)
    kind = http.client.HTTPSConnection if at.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(at.hostname or "", at.port, timeout=within)
        try:
            connection.request("GET", f"{at.path.rstrip('/')}{path}", headers=authorization())
            response = connection.getresponse()
            body = response.read(LIMIT)
        finally:
            connection.close()
        document = Document(body)
        _ = document.members
    except (OSError, http.client.HTTPException, ValueError, BadJson, WrongType) as failed:
        raise NoGateway(f"no gateway answers at {url}: {failed}") from None
    if response.status == http.HTTPStatus.UNAUTHORIZED:
        raise NoGateway(f"{url} asks for a key: set {KEY}")
    if response.status != http.HTTPStatus.OK:
        raise NoGateway(f"{url}{path} answered {response.status}")
    return document


def authorization(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The header that a gateway with keys asks for, where the user has one."""
    key = environ.get(KEY, "").strip()
    return {"authorization": f"Bearer {key}"} if key else {}


@contextmanager
def started(folder: Path) -> Generator[str]:
    """A gateway on a free port, for as long as the context is open; its URL. `folder` is Antiphon's data folder."""
    serving = child.start(["antiphon.cli.tethered", "serve", "--port", "0"], folder / "logs" / "codex-gateway.log")
    with serving:
        try:
            found = serving.line(LISTENING, within=PATIENCE)
        except child.NotReady as failed:
            raise NoGateway(f"antiphon serve {failed}") from None
        yield found[1].decode()
