"""Runs a recording with one version of Codex, and gives the files that came of it."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from antiphon.threads.folder import ids
from tests.eras import recordings
from tests.eras.app_server import app_server, spawned
from tests.eras.model import model
from tests.eras.recordings import INSTRUCTIONS, Era, Recording, Step
from tests.matrix import codex
from tests.matrix import row as matrix
from tests.matrix.codex import Home
from tests.matrix.row import PICTURE
from tests.scripted import mcp_echo
from tests.scripted.catalogue import ENTRY, OLDER
from tests.scripted.responses_server import ResponsesWire
from tests.scripted.server import MODEL, ScriptedServer

PROVIDER = "scripted"
SECONDS = 60.0


class RecordingError(Exception):
    """A step did not do what it was to do."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The rollout files by their path in the Codex home, and the folder that stands in them."""

    root: Path
    files: Mapping[str, bytes]


def settings(url: str, root: Path, *, catalogue: str, provider: str = PROVIDER) -> dict[str, str]:
    """The overrides by which a Codex finds the scripted model."""
    told: dict[str, object] = {"name": "Scripted", "base_url": url, "wire_api": "responses", "env_key": "SCRIPTED_KEY"}
    if catalogue == "url":
        told["model_catalog_url"] = f"{url}/models"
    given = {f"model_providers.{provider}.{name}": json.dumps(value) for name, value in told.items()}
    if catalogue == "json":
        (root / "models.json").write_text(json.dumps({"models": [ENTRY | OLDER]}))
        given["model_catalog_json"] = json.dumps(str(root / "models.json"))
    return {"model": json.dumps(MODEL), "model_provider": json.dumps(provider), **given}


async def record(recording: Recording, era: Era) -> Recorded:
    """One recording, in a fresh home."""
    program = await codex.find(era.number)
    with tempfile.TemporaryDirectory(prefix="eras-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        async with ScriptedServer(ResponsesWire(), model, codex.CLIENT_KEY) as server:
            home = Home(root=root, overrides=_overrides(server.url, root, era, recording))
            home.fill({"greeting.txt": b"hello\n", "picture.png": PICTURE})
            if recording.steps[0].method:
                await _serve(recording, home, program)
            else:
                for number, step in enumerate(recording.steps):
                    await _execute(step, home, program, server, resume=era.resume if number else "")
        return Recorded(root, rollouts(root / "codex"))


def rollouts(home: Path) -> dict[str, bytes]:
    """Every rollout file of a Codex home."""
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.rglob("rollout-*")) if path.is_file()}


def _overrides(url: str, root: Path, era: Era, recording: Recording) -> dict[str, str]:
    (root / "instructions.md").write_text(INSTRUCTIONS)
    mcp = {"mcp_servers.echo.command": json.dumps(sys.executable), "mcp_servers.echo.args": json.dumps([mcp_echo.__file__, "polo"])}
    own = {name: value.replace("INSTRUCTIONS", str(root / "instructions.md")) for name, value in era.config.items()}
    return {**settings(url, root, catalogue=era.catalogue), **mcp, **own, **recording.config}


def resuming(step: Step, thread_id: str) -> matrix.Step:
    """The step as a row of the matrix has it."""
    return matrix.Step(prompt=step.prompt, arguments=("resume", thread_id))


async def _execute(step: Step, home: Home, program: Path, server: ScriptedServer, *, resume: str) -> None:
    """One `codex exec`; `resume` is how the version goes on with the only thread there is."""
    common = ("exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access")
    thread = next(iter((home.root / "codex").rglob("rollout-*")), None)
    if resume == "setting" and thread is not None:
        await speak(step, home, program, thread)
        return
    flags = [part for name, value in home.overrides.items() for part in ("-c", f"{name}={value}")]
    resumed = ("resume", ids(thread.name)[0]) if thread is not None and resume == "command" else ()
    command = [str(program), *common, *step.arguments, *flags, *resumed, "--", step.prompt]  # flags end the list of pictures
    interrupt = server.hangs if step.interrupted else None
    done = await codex.run(command, seconds=SECONDS, env=home.environment(), cwd=home.cwd, interrupt=interrupt)
    refused = [exchange.refused for exchange in server.exchanges if exchange.refused]
    if refused or (done.exit != 0 and not step.interrupted):
        raise RecordingError(f"{step.prompt!r}: exit {done.exit}, refused {refused}: {done.errors[-500:]}")


async def speak(step: Step, home: Home, program: Path, thread: Path) -> None:
    """A turn by the protocol of summer 2025, the only way in which those versions resume without a terminal."""
    own = {"experimental_resume": json.dumps(str(thread)), "approval_policy": '"never"', "sandbox_mode": '"danger-full-access"'}
    flags = [part for name, value in {**home.overrides, **own}.items() for part in ("-c", f"{name}={value}")]
    pictures = [{"type": "local_image", "path": str(home.cwd / name)} for name in step.arguments[1:]]
    op = {"type": "user_input", "items": [{"type": "text", "text": step.prompt}, *pictures]}
    async with spawned([str(program), "proto", *flags], env=home.environment(), cwd=home.cwd) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"id": "1", "op": op}).encode() + b"\n")
        await process.stdin.drain()
        async with asyncio.timeout(SECONDS):
            while b'"task_complete"' not in (line := await process.stdout.readline()):
                if not line:
                    raise RecordingError(f"{step.prompt!r}: the program ended")


async def _serve(recording: Recording, home: Home, program: Path) -> None:
    """The steps in one app-server."""
    flags = [part for name, value in home.overrides.items() for part in ("-c", f"{name}={value}")]
    thread_id = turn_id = ""
    async with app_server([str(program), "app-server", *flags], env=home.environment(), cwd=home.cwd) as server:
        for step in recording.steps:
            told = json.loads(json.dumps(dict(step.params)).replace('"ID"', json.dumps(thread_id)).replace('"TURN"', json.dumps(turn_id)))
            if step.method == "turn/start":
                turn_id = str((await server.turn(thread_id, told["input"][0]["text"]))["id"])
                continue
            if step is recordings.START:
                told = {"cwd": str(home.cwd), "approvalPolicy": "never", "sandbox": "danger-full-access"}
            result = await server.ask(step.method, told)
            thread_id = result.get("thread", {}).get("id", thread_id)
