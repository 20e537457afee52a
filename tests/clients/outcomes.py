"""All clients' scenarios, run: one process a client, two at a time, against one gateway with both kinds of upstream behind it."""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.clients.programs import CLIENTS, NoClientError
from tests.clients.scenarios import SCENARIOS, SHOWN, play
from tests.clients.strict import complaints
from tests.clients.tap import Tap
from tests.matrix.codex import Done, run
from tests.scripted.chat_server import ChatWire
from tests.scripted.responses_server import ResponsesWire
from tests.scripted.script import Json
from tests.scripted.server import ScriptedServer
from tests.wires.gateway import gateway

AT_A_TIME = 2
SECONDS = 60
TOLD = ("input[*].encrypted_content; count=1", "include[0] (reasoning.encrypted_content); count=1")
"""What may be lost: a thought that only its maker can read is not sent to a server that may be another one, and a chat server makes none."""
FILE = """
[upstreams.chat]
url = "{chat}"
api = "chat"
[upstreams.chat.chat]
files = true
strict_tools = true
[upstreams.responses]
url = "{responses}"
api = "responses"
"""


class Asked(NamedTuple):
    """One scenario of a client's, over one kind of upstream."""

    client: str
    upstream: str
    scenario: str

    @property
    def name(self) -> str:
        return "-".join(self)


ALL = [
    Asked(client, upstream, scenario)
    for client, one in CLIENTS.items()
    for scenario in one.scenarios
    for upstream in SCENARIOS[scenario].upstreams
]


@dataclass(slots=True)
class Outcome:
    """What a client told of one scenario, and all that is wrong with it and with what the gateway sent it."""

    result: Json | None = None
    problems: list[str] = field(default_factory=list[str])
    missing: str = ""  # why the client could not be run at all


@asynccontextmanager
async def served(folder: Path, tap: Tap) -> AsyncIterator[str]:
    """The gateway's base URL, in front of a chat and a Responses server."""
    async with ScriptedServer(ChatWire(), play) as chat, ScriptedServer(ResponsesWire(strict=True), play) as responses:
        file = folder / "antiphon.toml"
        file.write_text(FILE.format(chat=chat.url, responses=responses.url))
        async with gateway(file=file, tap=tap.around, store="memory") as url:
            yield f"{url}/v1"


async def outcomes(wanted: Iterable[Asked], folder: Path) -> dict[Asked, Outcome]:
    """Runs what is wanted."""
    by_client: dict[str, list[Asked]] = defaultdict(list)
    for asked in wanted:
        by_client[asked.client].append(asked)
    found = {asked: Outcome() for each in by_client.values() for asked in each}
    commands = [(each, command) for each in by_client.values() if (command := await _prepared(each, found))]
    tap, free = Tap(), asyncio.Semaphore(AT_A_TIME)
    async with served(folder, tap) as url:

        async def one(asked: list[Asked], command: list[str]) -> None:
            async with free:
                await _drive(asked, command, found, url)

        async with asyncio.TaskGroup() as group:
            for asked, command in commands:
                group.create_task(one(asked, command))
    _hold(tap, found)
    return found


async def _prepared(asked: list[Asked], found: dict[Asked, Outcome]) -> list[str]:
    """The command of a client's program, once its packages are there; one by one, as some share theirs."""
    client = CLIENTS[asked[0].client]
    try:
        return await client.prepared(client.program)
    except NoClientError as why:
        for one in asked:
            found[one].missing = str(why)
        return []


async def _drive(asked: list[Asked], command: list[str], found: dict[Asked, Outcome], url: str) -> None:
    cases = [{"upstream": one.upstream, "scenario": one.scenario} for one in asked]
    told = {"base_url": url, "key": asked[0].client, **SHOWN, "cases": cases}
    done = await run(command, seconds=SECONDS, env=dict(os.environ), given=json.dumps(told).encode())
    for one, line in _lines(asked[0].client, done):
        found[one].result = line.get("result")
        warned = [] if SCENARIOS[one.scenario].fails else line["problems"]
        found[one].problems += [*warned, *([line["error"]] if "error" in line else [])]
    for one in asked:
        if found[one].result is None and not found[one].problems:
            found[one].problems.append(f"the program said nothing of it: exit {done.exit}, {done.errors[-2000:]}")


def _lines(client: str, done: Done) -> Iterable[tuple[Asked, Json]]:
    for line in done.output.splitlines():
        told: Json = json.loads(line)
        yield Asked(client, told["upstream"], told["scenario"]), told


def _hold(tap: Tap, found: dict[Asked, Outcome]) -> None:
    """What the gateway sent, held against OpenAI's own models."""
    for reply in tap.replies:
        if reply.path.startswith("/v1/conversations"):
            continue
        named = json.loads(reply.request or reply.body)["model"]
        outcome = found[Asked(reply.client, *named.split("/"))]
        if reply.status == 200:
            outcome.problems += complaints(reply.path, reply.headers.get("content-type", ""), reply.body)
        if reply.headers.get("x-antiphon-dropped", TOLD[0]) not in TOLD:
            outcome.problems.append(f"lost: {reply.headers['x-antiphon-dropped']}")


def wrong(asked: Asked, outcome: Outcome) -> list[str]:
    """All that is not as it should be."""
    expected = SCENARIOS[asked.scenario].told
    told: dict[str, Any] = outcome.result or {}
    differing = [f"{name}: {value!r}, expected {expected.get(name)!r}" for name, value in told.items() if value != expected.get(name)]
    return [*outcome.problems, *differing, *([] if told else ["it told nothing"])]
