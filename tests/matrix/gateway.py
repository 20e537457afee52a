"""Antiphon as a process of its own: `antiphon serve` in front of one scripted upstream."""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

LISTENING = re.compile(rb"antiphon: listening on (http://[^\s/]+)")
STARTED_WITHIN = 15.0


class GatewayError(Exception):
    """Antiphon did not start or did not stop as it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    url: str
    log: Path
    pid: int

    @property
    def log_text(self) -> str:
        return _logged(self.log)


def _logged(log: Path) -> str:
    return log.read_text(errors="replace")


@asynccontextmanager
async def gateway(upstream: str, arguments: Sequence[str], *, key: str, root: Path, file: str = "") -> AsyncIterator[Gateway]:
    """Serves while the context is open; what it logs goes to a file, so that a full pipe cannot stop it.

    `file` is an antiphon.toml that names the upstream, as URL, instead of the flags.
    """
    log = root / "gateway.log"
    named: tuple[str, ...] = ("--upstream", upstream, "--upstream-key-env", "UPSTREAM_KEY")
    if file:
        (root / "antiphon.toml").write_text(file.replace("URL", upstream))
        named = ("--config", str(root / "antiphon.toml"))
    process = await _started((*named, *arguments), key, log)
    try:
        url = await _address(process, log)
        yield Gateway(url=f"{url}/v1", log=log, pid=process.pid)
    finally:
        await _stopped(process)


async def _started(arguments: Sequence[str], key: str, log: Path) -> asyncio.subprocess.Process:
    flags = ("--port", "0", *arguments)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    with log.open("wb") as errors:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "antiphon.cli.main", "serve", *flags),
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=kept | {"UPSTREAM_KEY": key, "ANTIPHON_HOME": str(log.parent / "antiphon")},
            cwd=log.parent,
        )


async def _address(process: asyncio.subprocess.Process, log: Path) -> str:
    assert process.stdout is not None
    shown = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STARTED_WITHIN):
            async for line in process.stdout:
                shown += line
                found = LISTENING.match(line)
                if found:
                    return found.group(1).decode()
    raise GatewayError(f"antiphon serve did not say where it listens: {shown.decode()}{_logged(log)[-2000:]}")


async def _stopped(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(10):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise GatewayError("antiphon serve did not stop within 10 s of SIGTERM") from None
