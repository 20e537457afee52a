"""The HTTP server that `serve` runs: uvicorn, ended in our own way.

A signal ends it as anything else would: streams under way are told, then the caller goes on and puts away what it holds (uvicorn itself would
raise the signal again and so kill the process there). Not here: what is served (`http.app`).
"""

import asyncio
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn

from antiphon.cli.bounded_head import BoundedHead
from antiphon.http.app import app
from antiphon.http.background import Background
from antiphon.http.gateway import Gateway
from antiphon.http.keyring import Keyring

GRACE_SECONDS = 1
"""How long a client that does not read may hold up the end."""


class HttpServer(uvicorn.Server):
    """Serves a gateway."""

    def __init__(self, gateway: Gateway, keyring: Keyring) -> None:
        self._pool = gateway.pool
        self._background = None if gateway.store is None else Background(gateway, gateway.store)
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
        if self._background is not None:
            await self._background.stop()
        await self._pool.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """A signal is the wish to end, and no more."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
