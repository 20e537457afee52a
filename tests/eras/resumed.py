"""What a real Codex sends when it resumes a thread: the measure of every rebuilt history.

The rule by which what is new in that run is taken out of the request has two parts, and no judgement:
- the first developer message, where a request has no `instructions`, are the base instructions;
- the items that the run itself wrote to the thread's file before the model answered stand at the end of the request.
"""

import json
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.threads.folder import ids
from tests.eras import run
from tests.eras.app_server import AppServer, app_server
from tests.eras.recordings import ERAS, Step
from tests.matrix import codex
from tests.matrix.codex import Home
from tests.scripted.responses_server import ResponsesWire
from tests.scripted.script import Reply, View, answer
from tests.scripted.server import ScriptedServer

Json = dict[str, Any]
PROMPT = "And then?"
ANSWER = "Then nothing."
OWN = ("internal_chat_message_metadata_passthrough",)


@dataclass(frozen=True, slots=True)
class Resumed:
    """`sent` is the whole input of the first request, `new` what of it the run wrote itself, `past` the rest."""

    exit: int | None
    errors: str
    sent: list[Json]
    new: list[Json]
    past: list[Json]
    files: Mapping[str, bytes]


async def resume(files: Mapping[str, bytes], name: str, version: str = codex.VERSION, *, provider: str = run.PROVIDER) -> Resumed:
    """Resumes the thread in file `name`, beside which the other files lie."""
    program = await codex.find(version)
    with tempfile.TemporaryDirectory(prefix="resumed-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        async with ScriptedServer(ResponsesWire(), _answers, codex.CLIENT_KEY) as server:
            home = Home(root=root, overrides=run.settings(server.url, root, catalogue=ERAS[version].catalogue, provider=provider))
            home.fill({})
            place = _place(files, root)
            step = Step(prompt=PROMPT)
            if ERAS[version].resume == "setting":
                await run.speak(step, home, program, place / name)
                exit, errors = 0, ""
            else:
                command = home.command(program, run.resuming(step, ids(name)[0]))
                done = await codex.run(command, seconds=run.SECONDS, env=home.environment(), cwd=home.cwd)
                exit, errors = done.exit, done.errors
            sent = [dict(item) for exchange in server.exchanges[:1] for item in exchange.body.get("input", [])]
            has_instructions = bool(server.exchanges) and bool(server.exchanges[0].body.get("instructions"))
            written = (place / name).read_bytes()[len(files[name]) :]
            return _told(exit, errors, sent, _new(written), run.rollouts(root / "codex"), has_instructions=has_instructions)


@dataclass(slots=True)
class Served(AppServer):
    """An app-server, its home, and where in it the files lie."""

    home: Path = Path()
    place: Path = Path()


@asynccontextmanager
async def served(files: Mapping[str, bytes]) -> AsyncIterator[Served]:
    """The newest Codex as an app-server, with the files in its home."""
    program = await codex.find(codex.VERSION)
    with tempfile.TemporaryDirectory(prefix="served-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        async with ScriptedServer(ResponsesWire(), _answers, codex.CLIENT_KEY) as model:
            home = Home(root=root, overrides=run.settings(model.url, root, catalogue="url"))
            home.fill({})
            place = _place(files, root)
            flags = [part for name, value in home.overrides.items() for part in ("-c", f"{name}={value}")]
            async with app_server([str(program), "app-server", *flags], env=home.environment(), cwd=home.cwd) as server:
                yield Served(server.process, server.notified, server.number, root / "codex", place)


def _place(files: Mapping[str, bytes], root: Path) -> Path:
    place = root / "codex" / "sessions" / "2026" / "01" / "01"
    place.mkdir(parents=True)
    for name, data in files.items():
        (place / name).write_bytes(data)
    return place


def _answers(_: View) -> Reply:
    return answer(ANSWER)


def _told(
    exit: int | None, errors: str, sent: list[Json], new: list[Json], files: Mapping[str, bytes], *, has_instructions: bool
) -> Resumed:
    sent = [plain(item) for item in sent]
    start = 0 if has_instructions or not sent or sent[0].get("role") != "developer" else 1
    return Resumed(exit, errors, sent, new, sent[start : len(sent) - len(new)], files)


def _new(written: bytes) -> list[Json]:
    """The items that a run wrote, up to the model's answer."""
    items: list[Json] = []
    for line in written.splitlines():
        told = json.loads(line)
        item = told.get("payload") if told.get("type") == "response_item" else told if "role" in told else None
        if item is None:
            continue
        if item.get("role") == "assistant" and item["content"][0]["text"] == ANSWER:
            break
        items.append(plain(item))
    return items


def plain(item: Json) -> Json:
    """An item without what is null in it, and what Codex keeps for itself."""
    return {name: value for name, value in item.items() if value is not None and name not in OWN}


def without_ids(items: Sequence[Json]) -> list[Json]:
    """For versions that store no ids."""
    return [{name: value for name, value in item.items() if name != "id"} for item in items]
