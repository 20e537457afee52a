"""How a measured process says where it listens: the line that `antiphon serve` prints, and so one way to start them all."""

import asyncio
from collections.abc import Callable


def announce(port: int) -> None:
    """Print the line that the bench waits for."""
    print(f"bench: listening on http://127.0.0.1:{port}", flush=True)


async def serve_forever(protocol: Callable[[], asyncio.Protocol]) -> None:
    """Serve a protocol on a free port until the process ends."""
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0)
    announce(server.sockets[0].getsockname()[1])
    await server.serve_forever()
