"""The real terminal program of Codex in a pseudo terminal: what it draws is read, keys are typed when it shows what they wait for."""

import asyncio
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.matrix.codex import Done
from tests.matrix.row import Keys
from tests.scripted.server import ScriptedServer

ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\x1b[()][A-Z0-9]|[\x00-\x08\x0e-\x1f]")
# What a terminal answers when it is asked for its cursor, what it is, its keyboard, and its colours.
ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
ROWS, COLUMNS = 40, 120
CONTROL_C = b"\x03"


def words(drawn: bytes) -> str:
    """What was drawn, without escapes, blanks and case: a screen is drawn in pieces, and blank cells are jumped over."""
    return re.sub(r"\s+", "", ESCAPES.sub("", drawn.decode(errors="replace"))).casefold()


class Screen:
    """The master side of a pseudo terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._changed = asyncio.Event()
        self.drawn = b""

    def read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the program has closed its side
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
        self.drawn += data
        for asked, reply in ANSWERS.items():
            for _ in range(data.count(asked)):
                os.write(self._master, reply)
        self._changed.set()

    async def shows(self, text: str, since: int) -> int:
        """Waits until the text is drawn behind the `since`th byte; where the drawing then stands."""
        sought = words(text.encode())
        while sought not in words(self.drawn[since:]):
            self._changed.clear()
            await self._changed.wait()
        return len(self.drawn)


async def typed(
    command: Sequence[str], keys: Sequence[Keys], *, seconds: float, server: ScriptedServer, env: Mapping[str, str], cwd: Path
) -> Done:
    """Runs the program to its end; `errors` says what it did not show in time."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *command, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=cwd, start_new_session=True
    )
    os.close(slave)
    screen, missing, exited = Screen(master), "", False
    loop = asyncio.get_running_loop()
    loop.add_reader(master, screen.read)
    waits = list(keys)
    try:
        async with asyncio.timeout(seconds):
            await _type(screen, waits, master, server)
            exited = await _quit(process, master)
    except TimeoutError:
        missing = f"it did not show {waits[0].after or 'that it answers'!r}" if waits else "it did not end"
    finally:
        loop.remove_reader(master)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        os.close(master)
    return Done(process.returncode if exited else None, screen.drawn.decode(errors="replace"), missing)


async def _type(screen: Screen, waits: list[Keys], master: int, server: ScriptedServer) -> None:
    """Takes each key out of the list once it is typed."""
    since = 0
    while waits:
        if waits[0].hanging:
            await server.hangs.wait()
        since = await screen.shows(waits[0].after, since)
        await server.until_answered(waits[0].answered)
        os.write(master, waits.pop(0).send.encode())


async def _quit(process: asyncio.subprocess.Process, master: int) -> bool:
    """Presses Ctrl-C until the program ends: the first one may only stop what still runs."""
    for _ in range(5):
        with contextlib.suppress(OSError):
            os.write(master, CONTROL_C)
        try:
            async with asyncio.timeout(1):
                await process.wait()
        except TimeoutError:
            continue
        return True
    return False
