"""The real Codex CLI: where its program is (installed once per version with npm), and one run of it in a home of its own."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.matrix.row import Step

VERSION = "0.169.0"
CACHE = Path(__file__).parents[2] / ".cache" / "codex"
CLIENT_KEY = "key-of-the-client"


class NoCodexError(Exception):
    """The Codex CLI can neither be found nor installed here."""


def installed(version: str) -> Path | None:
    program = CACHE / version / "node_modules" / ".bin" / "codex"
    return program if program.exists() else None


async def find(version: str) -> Path:
    """The program of that version; npm installs it into the project's cache when it is missing."""
    program = installed(version)
    if program is not None:
        return program
    npm = shutil.which("npm")
    if npm is None:
        raise NoCodexError(f"npm is not installed, so Codex {version} cannot be")
    folder = CACHE / version
    folder.mkdir(parents=True, exist_ok=True)
    flags = ("--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    done = await run([npm, "install", "--prefix", str(folder), *flags, f"@openai/codex@{version}"], seconds=300)
    program = installed(version)
    if program is None:
        raise NoCodexError(f"npm could not install Codex {version}: {done.errors.strip()[-400:]}")
    return program


@dataclass(frozen=True, slots=True)
class Done:
    exit: int | None  # None: ended because it took too long
    output: str
    errors: str


async def run(
    command: Sequence[str],
    *,
    seconds: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    interrupt: asyncio.Event | None = None,
    given: bytes = b"",
) -> Done:
    """Runs a program to its end, or interrupts it when told; one that takes too long is ended with all it started."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    exited = True
    reading = asyncio.ensure_future(process.communicate(given))
    interrupting = asyncio.ensure_future(_interrupted(process, interrupt))
    try:
        await asyncio.wait([reading], timeout=seconds)
        exited = reading.done()
    finally:
        interrupting.cancel()
        if not reading.done():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    output, errors = await reading
    return Done(process.returncode if exited else None, output.decode(errors="replace"), errors.decode(errors="replace"))


async def _interrupted(process: asyncio.subprocess.Process, when: asyncio.Event | None) -> None:
    if when is not None:
        await when.wait()
        process.send_signal(signal.SIGINT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A fresh folder with the home, the CODEX_HOME and the working directory of one run."""

    root: Path
    key: str = CLIENT_KEY
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def cwd(self) -> Path:
        return self.root / "cwd"

    def fill(self, files: Mapping[str, bytes]) -> None:
        for folder in ("home", "codex", "cwd"):
            (self.root / folder).mkdir()
        for name, data in files.items():
            (self.cwd / name).write_bytes(data)

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        homes = {"HOME": str(self.root / "home"), "CODEX_HOME": str(self.root / "codex")}
        # A proxy that nobody is: some versions ask OpenAI for its models, and no run may depend on the network.
        nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
        return kept | homes | nowhere | {"SCRIPTED_KEY": self.key, "TERM": "xterm"}

    def command(self, program: Path, step: Step) -> list[str]:
        """`resume` and the like are commands of exec, so the common flags stand before the step's own."""
        settings = [part for name, value in self.overrides.items() for part in ("-c", f"{name}={value}")]
        if step.keys:
            trusted = f'projects={{{json.dumps(str(self.cwd))}={{trust_level="trusted"}}}}'
            return [str(program), "--no-alt-screen", *settings, "-c", trusted, "-c", "check_for_update_on_startup=false"]
        common = ("--json", "--skip-git-repo-check", *step.sandbox)
        return [str(program), "exec", *common, *settings, *step.arguments, "--", step.prompt]
