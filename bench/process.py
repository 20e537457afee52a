"""A measured process: started in a folder and home of its own, its CPU time, memory and time to the first answer. Linux only."""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTENING = re.compile(rb"listening on (http://\S+)")
START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Measured:
    """A running process and where it listens."""

    pid: int
    url: str
    spawned: float

    def cpu_seconds(self) -> float:
        """CPU time of all its threads so far, in nanosecond steps."""
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def memory_megabytes(self) -> float:
        """What it holds in memory now."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1024 / 1e6

    async def seconds_to_health(self) -> float:
        """From its spawn to the first 200 on /health."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /health HTTP/1.1\r\nhost: " + f"{host}:{port}".encode() + b"\r\nconnection: close\r\n\r\n")
        status = await asyncio.wait_for(reader.readline(), START_SECONDS)
        took = time.perf_counter() - self.spawned
        writer.close()
        if b" 200 " not in status:
            raise RuntimeError(f"{self.url}/health answered {status!r}")
        return took


@asynccontextmanager
async def running(command: Sequence[str]) -> AsyncIterator[Measured]:
    """Start a process that says where it listens; end it afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTIPHON_", "XDG_"))}
        env = kept | {"HOME": home, "ANTIPHON_HOME": f"{home}/antiphon", "PYTHONPATH": str(ROOT)}
        log = Path(home, "log")
        spawned = time.perf_counter()
        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=errors, env=env, cwd=home)
        assert process.stdout is not None
        try:
            url = await asyncio.wait_for(_listening(process.stdout), START_SECONDS)
            if url is None:
                raise RuntimeError(f"{' '.join(command)} ended before it listened: {log.read_text()[-2000:]}")
            yield Measured(process.pid, url, spawned)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()


async def _listening(lines: asyncio.StreamReader) -> str | None:
    async for line in lines:
        if found := LISTENING.search(line):
            return found[1].decode()
    return None


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs one of the bench's own modules."""
    return [sys.executable, "-m", name, *arguments]


def antiphon(*flags: str) -> list[str]:
    """The command that starts the gateway."""
    return [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--store", "none", *flags]
