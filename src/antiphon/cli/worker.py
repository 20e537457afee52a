"""`python -m antiphon.cli.worker FD`: one of several processes of `antiphon serve --workers`, on a listening socket that it was given.

Its settings come on stdin, whose end means that the parent is gone: it ends then as by SIGTERM.
"""

import asyncio
import os
import pickle
import signal
import socket
import sys

from antiphon.child import when_parent_ends
from antiphon.cli import serve
from antiphon.cli.workers import READY
from antiphon.config import Config
from antiphon.observe import log


async def work(settings: Config, listening: socket.socket) -> None:
    """Serves until it is told to end."""
    server = serve.server(settings, os.environ)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listening]))
        await server.listening.wait()
        os.write(1, READY)


def main() -> None:
    """The whole process."""
    settings: Config = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own parent wrote it
    when_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
    log.set_up(settings.log_level)
    # TCP_NODELAY is only set by asyncio where the socket's protocol is named, and the number does not tell it.
    listening = socket.socket(fileno=int(sys.argv[1]))
    named = socket.socket(listening.family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=listening.detach())
    with asyncio.Runner(loop_factory=serve.event_loop) as runner:
        runner.run(work(settings, named))


if __name__ == "__main__":
    main()
