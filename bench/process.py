"""A measured process with all that it starts: in a folder and home of its own, its CPU time, memory and time to the first answer. Linux only."""

import asyncio
import os
import re
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTENING = re.compile(rb"listening on (http://\S+)")
START_SECONDS = 60.0
LOOK_SECONDS = 0.003


@dataclass(frozen=True, slots=True)
class Command:
    """How a process is started. `url`: where it will listen, of one that does not say so itself; `health`: what answers 200 when it is ready."""

    words: tuple[str, ...]
    url: str | None = None
    health: str = "/health"
    env: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Measured:
    """A running process, where it listens, and how long it took from its spawn to the first 200 on its health route."""

    pid: int
    url: str
    start_seconds: float

    def cpu_seconds(self) -> float:
        """CPU time of it and of its children so far, of all their threads, in nanosecond steps."""
        return sum(_cpu_nanoseconds(pid) for pid in _tree(self.pid)) / 1e9

    def memory_megabytes(self) -> float:
        """What they hold in memory now."""
        return sum(_resident_bytes(pid) for pid in _tree(self.pid)) / 1e6


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield from _tree(int(child))


def _cpu_nanoseconds(pid: int) -> int:
    """Threads come and go while they are counted."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            total += int((thread / "schedstat").read_text().split()[0])
    return total


def _resident_bytes(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


@asynccontextmanager
async def running(command: Command) -> AsyncIterator[Measured]:
    """Start a process and wait until it is ready; end it and what it started afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTIPHON_", "XDG_"))}
        env = {**kept, "HOME": home, "ANTIPHON_HOME": f"{home}/antiphon", "PYTHONPATH": str(ROOT), **command.env}
        spawned = time.perf_counter()
        with Path(home, "out").open("wb") as out, Path(home, "errors").open("wb") as errors:
            # A session of its own, so that its children end with it.
            process = await asyncio.create_subprocess_exec(
                *command.words, stdout=out, stderr=errors, env=env, cwd=home, start_new_session=True
            )
        try:
            async with asyncio.timeout(START_SECONDS):
                url = await _ready(process, command, Path(home))
            yield Measured(process.pid, url, time.perf_counter() - spawned)
        finally:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 5)


async def _ready(process: asyncio.subprocess.Process, command: Command, home: Path) -> str:
    """Where it listens, as soon as it is healthy."""
    url = command.url
    while url is None or not await _healthy(url, command.health):
        if process.returncode is not None:
            raise RuntimeError(f"{' '.join(command.words)} ended at once: {Path(home, 'errors').read_text()[-2000:]}")
        await asyncio.sleep(LOOK_SECONDS)
        if url is None and (said := LISTENING.search(Path(home, "out").read_bytes())) is not None:
            url = said[1].decode()
    return url


async def _healthy(url: str, path: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
    except ConnectionError:
        return False
    writer.write(b"GET %b HTTP/1.1\r\nhost: %b\r\nconnection: close\r\n\r\n" % (path.encode(), f"{host}:{port}".encode()))
    status = await reader.readline()
    writer.close()
    return b" 200 " in status


def free_port() -> int:
    """A port for a process that cannot choose one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def module(name: str, *arguments: str) -> Command:
    """One of the bench's own modules."""
    return Command((sys.executable, "-m", name, *arguments))


def antiphon(*flags: str) -> Command:
    """The gateway."""
    return Command((sys.executable, "-m", "antiphon", "serve", "--port", "0", "--store", "none", *flags))
