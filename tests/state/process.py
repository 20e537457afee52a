"""The gateway as a process of its own, on one store, that can be killed and started again."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

LISTENING = re.compile(rb"listening on (http://\S+)")
SECONDS = 30.0


class Running(NamedTuple):
    """A gateway that runs."""

    url: str
    process: asyncio.subprocess.Process

    async def kill(self) -> None:
        """As the machine's own hand: nothing of it gets to say goodbye."""
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


@asynccontextmanager
async def running(folder: Path, upstream: str, store: str, *flags: str) -> AsyncIterator[Running]:
    """The gateway while the context is open, or until it is killed."""
    command = (sys.executable, "-m", "antiphon", "serve", "--port", "0", "--upstream", upstream, "--api", "chat", "--store", store, *flags)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    around = kept | {"XDG_CONFIG_HOME": os.devnull, "ANTIPHON_HOME": str(folder), "ANTIPHON_LOG_LEVEL": "warning"}
    log = (folder / "gateway.log").open("ab")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=log, env=around, cwd=folder)
    log.close()
    try:
        async with asyncio.timeout(SECONDS):
            yield Running(await _url(process), process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _url(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async for line in process.stdout:
        if found := LISTENING.search(line):
            return found[1].decode()
    raise RuntimeError("the gateway ended before it listened; gateway.log says why")
