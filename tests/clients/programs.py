"""The clients: which program drives each, what it needs, and which scenarios it has.

Their packages are locked (`requirements/clients.txt`, `node/package-lock.json`) and installed into the project's cache when a test first needs
them: an environment of their own, so that no client's dependencies are the project's.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from tests.matrix.codex import run

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "clients"
NODE = HERE / "node"
LOCK = ROOT / "requirements" / "clients.txt"
INSTALL_SECONDS = 300


class NoClientError(Exception):
    """A client's packages can neither be found nor installed here."""


async def python(program: str) -> list[str]:
    """A Python program's command."""
    return [str(await interpreter()), str(HERE / "python" / program)]


async def interpreter() -> Path:
    """The Python of the clients' environment."""
    folder = CACHE / f"python-{sys.version_info.major}.{sys.version_info.minor}-{_digest(LOCK)}"
    found = folder / "bin" / "python"
    if not (folder / "installed").exists():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(found)]
        await _install([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)])
        await _install([*pip, "install", "--quiet", "--no-compile", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK)])
        (folder / "installed").touch()
    return found


async def node(program: str) -> list[str]:
    """A Node program's command. Node looks for packages beside the program, so the programs are copied there."""
    folder = await packages()
    shutil.copytree(NODE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    return ["node", str(folder / program)]


async def packages() -> Path:
    """The folder with the clients' packages of Node."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise NoClientError("node and npm are not installed")
    folder = CACHE / f"node-{_digest(NODE / 'package-lock.json')}"
    if not (folder / "installed").exists():
        shutil.copytree(NODE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
        await _install([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)
        (folder / "installed").touch()
    return folder


async def curl(program: str) -> list[str]:
    """The command of a Python program that runs curl; it needs nothing else."""
    if shutil.which("curl") is None:
        raise NoClientError("curl is not installed")
    return [sys.executable, str(HERE / "python" / program)]


def _digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()[:12]


async def _install(command: list[str], folder: Path | None = None) -> None:
    done = await run(command, seconds=INSTALL_SECONDS, env=dict(os.environ), cwd=folder)
    if done.exit != 0:
        raise NoClientError(f"{command[0]} could not install the clients: {(done.errors or done.output).strip()[-600:]}")


@dataclass(frozen=True, slots=True)
class Client:
    """One client, and the scenarios it has."""

    prepared: Callable[[str], Awaitable[list[str]]]
    program: str
    scenarios: tuple[str, ...]


EVERYBODYS = ("text", "stream", "tools", "structured", "image", "file", "turns", "kept", "failing", "broken")
CLIENTS: dict[str, Client] = {
    "openai-python": Client(python, "openai_sync.py", (*EVERYBODYS, "busy", "chat")),
    "openai-python-async": Client(python, "openai_async.py", (*EVERYBODYS, "busy", "chat")),
    "openai-agents-python": Client(python, "openai_agents.py", (*EVERYBODYS, "patch")),
    "langchain": Client(python, "langchain_openai_chat.py", EVERYBODYS),
    "pydantic-ai": Client(python, "pydantic_agent.py", EVERYBODYS),
    "openai-node": Client(node, "openai.mjs", (*EVERYBODYS, "busy", "chat")),
    "openai-agents-node": Client(node, "openai_agents.mjs", (*EVERYBODYS, "patch")),
    "vercel-ai": Client(node, "vercel_ai.mjs", EVERYBODYS),
    "curl": Client(curl, "curl.py", (*EVERYBODYS, "busy", "chat")),
}
