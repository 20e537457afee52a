"""llama.cpp's HTTP server as a child process, so that it shares neither the gateway's interpreter nor its GIL.

The child (`python -m antiphon.local_model`) has two pipes to us: on its stdout it says where it listens, and the end of its stdin means
that we are gone. A pipe ends with its process on every platform, however that process died. Not here: what is said over HTTP.
"""

import contextlib
import http.client
import importlib.util
import os
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self
from urllib.parse import urlsplit

from antiphon.local_model.settings import ROWS, Settings
from antiphon.protocol.document import Document

PATIENCE = 120.0
"""Seconds that a model may take to load."""
STOPS_WITHIN = 10.0
MAGIC = b"GGUF"

NOT_INSTALLED = (
    "The embedded model needs llama.cpp, which is not installed here: pip install 'antiphon[local]'. Its wheels are for Linux (glibc; x86-64, "
    "arm64), macOS and Windows (x86-64). Elsewhere run any model server and name it: antiphon serve --upstream URL."
)


class LocalModelFailed(Exception):
    """The model could not be started; the message says why and what to do."""


@dataclass(slots=True)
class LocalModel:
    """A running model server; close it, or leave its context, to stop it."""

    url: str
    """Where it listens, without a path: `/v1/chat/completions`, `/v1/models`, `/props` and `/health` are below."""
    name: str
    log: Path
    process: "subprocess.Popen[bytes]"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stops it, and waits until it has."""
        _stop(self.process)


def launch(gguf: Path, settings: Settings, folder: Path) -> LocalModel:
    """Starts that model and waits until it is healthy. `folder` is Antiphon's data folder."""
    _check(gguf)
    log = folder / "logs" / "local-model.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    process = _child(gguf, settings, log)
    try:
        ends = time.monotonic() + PATIENCE
        url = _address(process, log, ends)
        _await_health(url, ends)
    except BaseException:
        _stop(process)
        raise
    return LocalModel(url=url, name=gguf.stem, log=log, process=process)


def installed() -> bool:
    """Whether llama.cpp's wheel is there."""
    return importlib.util.find_spec("xllamacpp") is not None


def _check(gguf: Path) -> None:
    if not installed():
        raise LocalModelFailed(NOT_INSTALLED)
    try:
        with gguf.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as failed:
        raise LocalModelFailed(f"{gguf} cannot be read: {failed.strerror}") from None
    if magic != MAGIC:
        raise LocalModelFailed(f"{gguf} is not a GGUF file")


def _child(gguf: Path, settings: Settings, log: Path) -> "subprocess.Popen[bytes]":
    row = next(name for name, each in ROWS.items() if each is settings)
    command = [sys.executable, "-m", "antiphon.local_model", row, str(gguf)]
    # Threads that wait by spinning bring a busy machine to 1 to 4 tokens a second; read by the OpenMP runtime when it is loaded.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    with log.open("wb") as errors:
        # A session of its own: Ctrl-C is for the gateway, which then ends us by the pipe.
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment, start_new_session=True
        )


def _address(process: "subprocess.Popen[bytes]", log: Path, ends: float) -> str:
    assert process.stdout is not None
    said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # A thread, because no select works on a pipe everywhere; it ends with the child's first line or with the child.
    threading.Thread(target=_read_line, args=(process.stdout, said), daemon=True).start()
    try:
        line = said.get(timeout=max(0.0, ends - time.monotonic()))
    except queue.Empty:
        raise LocalModelFailed(f"The model did not load within {PATIENCE:.0f} s; see {log}") from None
    ready = Document(line) if line else None
    url = ready.text("url") if ready else None
    if url is None:
        reason = ready.text("error") if ready else None
        raise LocalModelFailed(f"llama.cpp could not load the model: {reason or _last_words(log)} (log: {log})")
    return url


def _read_line(pipe: IO[bytes], said: "queue.SimpleQueue[bytes]") -> None:
    said.put(pipe.readline())


def _last_words(log: Path) -> str:
    return log.read_text("utf-8", "replace").strip()[-500:] or "it ended without a word"


def _await_health(url: str, ends: float) -> None:
    while not _healthy(url):
        if time.monotonic() >= ends:
            raise LocalModelFailed(f"The model at {url} was not healthy within {PATIENCE:.0f} s")
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


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """By the end of its stdin, at which it goes at once; by force where it does not."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(STOPS_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
