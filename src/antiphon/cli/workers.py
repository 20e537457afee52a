"""Several processes that share the port: each a whole gateway, with nobody above them but this, which starts them, hands signals on and waits.

A worker that ends without being told to is started again. Workers end with us, however we end: the end of their stdin says so. What each keeps for
itself is in docs/howto/running.md. Not here: the worker itself (`worker`).
"""

import asyncio
import pickle
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import click

from antiphon.config import Config
from antiphon.observe import log

READY = b"ready\n"
PAUSE = 1.0
"""Before a worker that ended is started again."""


def sockets(first: socket.socket, count: int) -> list[socket.socket]:
    """A listening socket for each worker, on the address of the first. On Linux the kernel shares connections out among them; elsewhere it is one
    socket, and whoever is quicker has the connection.
    """
    if sys.platform != "linux":
        return [first] * count
    address, family = first.getsockname(), first.family
    first.close()
    return [_sharing(address, family) for _ in range(count)]


def _sharing(address: tuple[str, int], family: socket.AddressFamily) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listening.bind(address)
    listening.listen(2048)
    return listening


class Workers:
    """The processes. `ready` is called once all of them listen."""

    def __init__(self, settings: Config, listening: Sequence[socket.socket], ready: Callable[[], None]) -> None:
        self._told = pickle.dumps(settings)
        self._listening = listening
        self._ready = ready
        self._awaited = len(listening)
        self._running: set[asyncio.subprocess.Process] = set()
        self._ending = asyncio.Event()

    async def run(self) -> None:
        """Until a signal, and then until all of them have ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end)
        try:
            async with asyncio.TaskGroup() as group:
                for each in self._listening:
                    group.create_task(self._keep(each))
        except* click.ClickException as failed:
            raise failed.exceptions[0] from None
        finally:
            self._end()

    def _end(self) -> None:
        """Ctrl-C is ours alone, for workers have sessions of their own; so they are told once for each signal."""
        if not self._ending.is_set():
            self._ending.set()
            for each in self._listening:
                each.close()
        for process in self._running:
            process.send_signal(signal.SIGTERM)

    async def _keep(self, listening: socket.socket) -> None:
        while not self._ending.is_set():
            status = await self._once(listening)
            if self._ending.is_set():
                return
            if self._awaited > 0:
                raise click.ClickException(f"a worker ended with status {status} before it listened")
            log.LOGGER.error("a worker ended with status %s; another takes its place", status)
            with suppress(TimeoutError):
                async with asyncio.timeout(PAUSE):
                    await self._ending.wait()

    async def _once(self, listening: socket.socket) -> int:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "antiphon.cli.worker", str(listening.fileno())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=(listening.fileno(),),
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._running.add(process)
        if self._ending.is_set():
            process.terminate()
        process.stdin.write(self._told)
        if await process.stdout.readline() == READY:
            self._awaited -= 1
            if self._awaited == 0:
                self._ready()
        status = await process.wait()
        self._running.discard(process)
        return status
