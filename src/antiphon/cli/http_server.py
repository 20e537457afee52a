"""The HTTP server that `serve` runs: uvicorn, ended in our own way.

The first signal ends the listening and lets answers under way go on for a while; what is left then is told that the gateway is being stopped. The
second one ends the while. After that the caller goes on and puts away what it holds (uvicorn itself would raise the signal again and so kill the
process there). Not here: what is served (`http.app`), several processes (`workers`).
"""

import asyncio
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from antiphon.cli.bounded_head import BoundedHead
from antiphon.http.app import app
from antiphon.http.background import Background
from antiphon.http.gateway import Gateway
from antiphon.http.keyring import Keyring
from antiphon.observe import log

GRACE_SECONDS = 1
"""How long a client that does not read may hold up the end."""


class HttpServer(uvicorn.Server):
    """Serves a gateway."""

    def __init__(self, gateway: Gateway, keyring: Keyring) -> None:
        self._pool = gateway.pool
        self._background = None if gateway.store is None else Background(gateway, gateway.store)
        self._drain_seconds = gateway.config.drain_seconds
        self._loop = asyncio.get_running_loop()
        self._hurried = asyncio.Event()
        self.listening = asyncio.Event()
        super().__init__(
            uvicorn.Config(
                app(gateway, keyring, self._background), ws="none", lifespan="on", http=BoundedHead, access_log=False, log_level="error", proxy_headers=False,
                server_header=False, timeout_keep_alive=75, timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )  # fmt: skip

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Sets `listening` when it is."""
        await super().startup(sockets)
        self.listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """With the upstreams' connections all answers end, each with a failure that its client can act on; background ones wait for the next start."""
        self._stop_listening(sockets or [])
        await self._drain()
        if self._background is not None:
            await self._background.stop()
        await self._pool.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal is the wish to end, the next one the wish to end at once."""
        if self.should_exit:
            self._loop.call_soon_threadsafe(self._hurried.set)
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """A signal is a wish, and no more."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop_listening(self, sockets: list[socket.socket]) -> None:
        for server in self.servers:
            server.close()
        for each in sockets:
            each.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()

    async def _drain(self) -> None:
        """Waits for the answers under way, for so long and no longer."""
        running = set(self.server_state.tasks)
        if not running or not self._drain_seconds:
            return
        log.LOGGER.info("ending: %d answers may take %g s more; another signal ends them now", len(running), self._drain_seconds)
        hurried = asyncio.ensure_future(self._hurried.wait())
        done = asyncio.ensure_future(asyncio.wait(running))
        await asyncio.wait({hurried, done}, timeout=self._drain_seconds, return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        done.cancel()
