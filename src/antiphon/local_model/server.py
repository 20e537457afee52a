"""llama.cpp's HTTP server as a child process, so that it shares neither the gateway's interpreter nor its GIL.

The child is `python -m antiphon.local_model`; how it is tied to us is `antiphon.child`. Not here: what is said to it over HTTP, but for
the question whether it is healthy.
"""

import http.client
import importlib.util
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from antiphon import child
from antiphon.local_model.failure import Unavailable
from antiphon.local_model.settings import ROWS, Settings
from antiphon.protocol.document import Document

PATIENCE = 120.0
"""Seconds that a model may take to load."""
MAGIC = b"GGUF"
SAID = re.compile(rb"\{.*\}")

NOT_INSTALLED = (
    "The embedded model needs llama.cpp, which is not installed here: pip install 'antiphon[local]'. Its wheels are for Linux (glibc; x86-64, "
    "arm64), macOS 13 and later, and Windows (x86-64). Elsewhere run any model server and name it: antiphon serve --upstream URL."
)


@dataclass(slots=True)
class LocalModel:
    """A running model server; close it, or leave its context, to stop it."""

    url: str
    """Where it listens, without a path: `/v1/chat/completions`, `/v1/models`, `/props` and `/health` are below."""
    name: str
    process: child.Child

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops it, and waits until it has."""
        self.process.close()


def installed() -> bool:
    """Whether llama.cpp's wheel is there."""
    return importlib.util.find_spec("xllamacpp") is not None


def launch(gguf: Path, settings: Settings, folder: Path) -> LocalModel:
    """Starts that model and waits until it is healthy. `folder` is Antiphon's data folder."""
    _check(gguf)
    row = next(name for name, each in ROWS.items() if each is settings)
    # Threads that wait by spinning bring a busy machine to 1 to 4 tokens a second; the OpenMP runtime reads this when it is loaded.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    process = child.start(["antiphon.local_model", row, str(gguf)], folder / "logs" / "local-model.log", environment)
    try:
        ends = time.monotonic() + PATIENCE
        url = _address(process)
        _await_health(url, ends)
    except BaseException:
        process.close()
        raise
    return LocalModel(url=url, name=gguf.stem, process=process)


def _check(gguf: Path) -> None:
    if not installed():
        raise Unavailable(NOT_INSTALLED)
    try:
        with gguf.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as failed:
        raise Unavailable(f"{gguf} cannot be read: {failed.strerror}") from None
    if magic != MAGIC:
        raise Unavailable(f"{gguf} is not a GGUF file")


def _address(process: child.Child) -> str:
    try:
        ready = Document(process.line(SAID, within=PATIENCE)[0])
    except child.NotReady as failed:
        raise Unavailable(f"llama.cpp {failed}") from None
    url = ready.text("url")
    if url is None:
        raise Unavailable(f"llama.cpp could not load the model: {ready.text('error')} (log: {process.log})")
    return url


def _await_health(url: str, ends: float) -> None:
    while not _healthy(url):
        if time.monotonic() >= ends:
            raise Unavailable(f"The model at {url} was not healthy within {PATIENCE:.0f} s")
        time.sleep(0.05)


def _healthy(url: str) -> bool:
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
