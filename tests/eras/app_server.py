"""The real Codex as an app-server: JSON-RPC over its pipes, one request after another."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
LIMIT = 64 * 1024 * 1024


class Refused(Exception):
    """The server answered with an error."""


@dataclass(slots=True)
class AppServer:
    process: asyncio.subprocess.Process
    notified: list[Json] = field(default_factory=list[Json])
    number: int = 0

    async def ask(self, method: str, params: Json, *, seconds: float = 30.0) -> Json:
        """The result of a request; what is notified meanwhile is kept."""
        self.number += 1
        await self._send({"id": self.number, "method": method, "params": params})
        async with asyncio.timeout(seconds):
            while True:
                message = await self._read()
                if message.get("id") == self.number and "method" not in message:
                    if "error" in message:
                        raise Refused(f"{method}: {message['error']['message']}")
                    return message["result"]
                self.notified.append(message)

    async def until(self, method: str, *, seconds: float = 30.0) -> Json:
        """The params of the next notification of that method."""
        async with asyncio.timeout(seconds):
            while True:
                for at, message in enumerate(self.notified):
                    if message.get("method") == method:
                        del self.notified[: at + 1]
                        return message["params"]
                self.notified.append(await self._read())

    async def turn(self, thread_id: str, prompt: str) -> Json:
        """A whole turn; what its end says."""
        self.notified.clear()
        await self.ask("turn/start", {"threadId": thread_id, "input": [{"type": "text", "text": prompt}]})
        return (await self.until("turn/completed"))["turn"]

    async def tell(self, method: str) -> None:
        """A notification."""
        await self._send({"method": method})

    async def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def _read(self) -> Json:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise Refused("the app-server ended")
        return json.loads(line)


@asynccontextmanager
async def spawned(command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program with pipes, ended with all it started when the context closes."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=nothing, env=env, cwd=cwd, limit=LIMIT, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@asynccontextmanager
async def app_server(command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> AsyncIterator[AppServer]:
    """Runs while the context is open, with the handshake done."""
    async with spawned(command, env=env, cwd=cwd) as process:
        server = AppServer(process)
        info = {"name": "eras", "title": "Eras", "version": "1"}
        await server.ask("initialize", {"clientInfo": info, "capabilities": {"experimentalApi": True}})
        await server.tell("initialized")
        yield server
