"""The real gateway in the test's own loop: settings, app and server as `antiphon serve` makes them, on an ephemeral port."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from starlette.types import ASGIApp

from antiphon import config
from antiphon.cli import serve

NO_FILE = {"XDG_CONFIG_HOME": os.devnull}
"""An environment in which no configuration of the person who runs the tests is found."""


@asynccontextmanager
async def gateway(
    upstream: str = "",
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    tap: Callable[[ASGIApp], ASGIApp] | None = None,
    **settings: Any,
) -> AsyncIterator[str]:
    """The gateway's URL while it serves; a tap stands between the app and its server."""
    around = {**NO_FILE, **(environ or {})}
    loaded = config.load(
        {"upstream": upstream or None, "store": "none", "drain_seconds": 0, **settings}, file=str(file or ""), environ=around
    )
    with serve.listen("127.0.0.1", 0) as listening:
        server = serve.server(loaded, around)
        if tap is not None:
            server.config.app = tap(cast("ASGIApp", server.config.app))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with asyncio.timeout(10):
                await server.listening.wait()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
