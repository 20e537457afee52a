"""One cell of the matrix: a row run with one Codex against one upstream, and all that is wrong with what came of it."""

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path

from tests.matrix import events
from tests.matrix.codex import CLIENT_KEY, Done, Home, run
from tests.matrix.gateway import Gateway, GatewayError, gateway
from tests.matrix.prompt import Break, stability
from tests.matrix.row import Moved, Row, Step
from tests.matrix.terminal import typed
from tests.matrix.versions import Version, adapted
from tests.scripted import mcp_echo
from tests.scripted.catalogue import ENTRY, OLDER
from tests.scripted.chat_server import STYLES, ChatWire
from tests.scripted.responses_server import ResponsesWire
from tests.scripted.scenarios import SCRIPTS
from tests.scripted.script import Json, objects
from tests.scripted.server import MODEL, Exchange, ScriptedServer, Wire

UPSTREAM_KEY = "key-of-the-upstream"
CHAT_FILE = """
[upstreams.scripted]
url = "URL"
api = "chat"
key_env = "UPSTREAM_KEY"
"""
REASONING_BACK = f'{CHAT_FILE}[upstreams.scripted.chat]\nreasoning_back = "reasoning_content"\n'
APPEND = f'{CHAT_FILE}[upstreams.scripted.chat]\nfound_tools = "append"\n'
ONE_MODEL = f'default_model = "{MODEL}"\n{CHAT_FILE}'


@dataclass(frozen=True, slots=True)
class Upstream:
    """A kind of server behind Antiphon, and the flags by which Antiphon is told of it; `direct` is without Antiphon."""

    wire: Wire
    flags: tuple[str, ...] = ()
    file: str = ""  # antiphon.toml, where flags cannot say it; URL is the upstream's


DIRECT = "direct"
UPSTREAMS: dict[str, Upstream] = {
    DIRECT: Upstream(ResponsesWire()),
    "chat": Upstream(ChatWire(), ("--api", "chat")),
    "chat-llama-cpp-python": Upstream(ChatWire(STYLES["llama-cpp-python"]), ("--api", "chat")),
    "chat-ollama": Upstream(ChatWire(STYLES["ollama"]), ("--api", "chat")),
    "chat-vllm": Upstream(ChatWire(STYLES["vllm"]), ("--api", "chat", "--dialect", "vllm")),
    "chat-append": Upstream(ChatWire(), file=APPEND),
    "chat-one-model": Upstream(ChatWire(only=MODEL), file=ONE_MODEL),
    "chat-reasoning": Upstream(ChatWire(STYLES["deepseek"]), file=REASONING_BACK),
    "auto-chat": Upstream(ChatWire()),
    "auto-responses": Upstream(ResponsesWire(strict=True)),
    "responses": Upstream(ResponsesWire(strict=True), ("--api", "responses")),
    "openai": Upstream(ResponsesWire(), ("--api", "responses", "--dialect", "openai")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of one row: each process with its events, what the upstream got, the files, what Antiphon logged."""

    steps: tuple[Done, ...]
    shown: tuple[list[Json], ...]
    exchanges: list[Exchange]
    files: Mapping[str, bytes | None]
    seconds: float
    log: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    row: Row
    upstream: str
    version: str
    ran: Ran | None
    problems: tuple[str, ...] = field(default=())
    lacking: str = ""  # why this version cannot run it
    prefix_stable_ratio: float | None = None  # None: no conversation of more than one request

    @property
    def name(self) -> str:
        return f"{self.row.name}-{self.upstream}"


def overrides(row: Row, url: str, root: Path) -> dict[str, str]:
    """The settings of Codex for a row: the same for direct and for Antiphon, but for the address."""
    provider: dict[str, object] = {"name": "Scripted", "base_url": url, "wire_api": "responses", "env_key": "SCRIPTED_KEY"}
    if row.catalogue == "url":
        provider["model_catalog_url"] = f"{url}/models"
    settings = {f"model_providers.scripted.{name}": json.dumps(value) for name, value in (provider | dict(row.provider)).items()}
    if row.catalogue == "json":
        (root / "models.json").write_text(json.dumps({"models": [ENTRY | OLDER | dict(row.model)]}))
        settings["model_catalog_json"] = json.dumps(str(root / "models.json"))
    for name, server in row.mcp.items():
        settings[f"mcp_servers.{name}.command"] = json.dumps(sys.executable)
        settings[f"mcp_servers.{name}.args"] = json.dumps([mcp_echo.__file__, server.word, server.echo, *(["--odd"] if server.odd else [])])
    return {"model": json.dumps(MODEL), "model_provider": '"scripted"', **settings, **row.config}


@asynccontextmanager
async def reached(row: Row, upstream: str, root: Path) -> AsyncIterator[tuple[ScriptedServer, str, str, Gateway | None]]:
    """The scripted server, the address Codex is given, the key it sends, and Antiphon if it stands between."""
    kind = UPSTREAMS[upstream]
    script = row.direct_script if upstream == DIRECT and row.direct_script else row.script
    key = "wrong" if row.bad_key else UPSTREAM_KEY
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ScriptedServer(kind.wire, SCRIPTS[script], UPSTREAM_KEY))
        if upstream == DIRECT:
            yield server, server.url, key, None
        else:
            between = await stack.enter_async_context(gateway(server.url, kind.flags, key=key, root=root, file=kind.file))
            yield server, between.url, CLIENT_KEY, between


async def ran(row: Row, upstream: str, program: Path) -> Ran:
    """Runs all processes of a row, one after another, in one fresh home."""
    with tempfile.TemporaryDirectory(prefix="matrix-", ignore_cleanup_errors=True) as folder:
        root = Path(os.path.realpath(folder))
        async with reached(row, upstream, root) as (server, url, key, between):
            home = Home(root=root, key=key, overrides=overrides(row, url, root))
            home.fill(row.files)
            started = time.monotonic()
            steps = [await _step(row, step, home, program, server) for step in row.steps]
            seconds = time.monotonic() - started
            masks = _places(root, url)
            return Ran(
                steps=tuple(steps),
                shown=tuple([events.replaced(event, masks) for event in events.parsed(done.output)] for done in steps),
                exchanges=[exchange for exchange in server.exchanges if exchange.body != {}],  # {} asks what API there is
                files={name: _read(home.cwd / name) for name in row.files_after},
                seconds=seconds,
                log=between.log_text if between else "",
            )


async def _step(row: Row, step: Step, home: Home, program: Path, server: ScriptedServer) -> Done:
    command, env, interrupt = home.command(program, step), home.environment(), server.hangs if step.interrupted else None
    if step.keys:
        return await typed(command, step.keys, seconds=row.seconds, server=server, env=env, cwd=home.cwd)
    return await run(command, seconds=row.seconds, env=env, cwd=home.cwd, interrupt=interrupt)


def _places(root: Path, url: str) -> tuple[tuple[str, str], ...]:
    return (re.escape(str(root)), "<root>"), (re.escape(url), "<url>"), (r", request id: \S+", "")


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def step_problems(step: Step, done: Done, shown: list[Json], *, unordered: bool = False) -> Iterator[str]:
    """Where one process differs from what its row says; `unordered`: its items may come in any order."""
    if done.exit is None:
        yield f"took too long and was ended{': ' + done.errors if step.keys else ''}"
    elif done.exit != step.exit:
        yield f"exit {done.exit}, expected {step.exit}"
    last, failure = events.last_message(shown), events.failure(shown)
    if step.last and last != step.last:
        yield f"last message {last!r}, expected {step.last!r}"
    if not re.search(step.error, failure) or (failure and not step.error):
        yield f"turn failed with {failure!r}, expected {step.error!r}"
    items = tuple(str(item.get("type")) for item in events.completed(shown))
    if items != step.items and not (unordered and sorted(items) == sorted(step.items)):
        yield f"items {items}, expected {step.items}"
    if step.usage is not None and events.usage(shown) != step.usage:
        yield f"usage {events.usage(shown)}, expected {step.usage}"


def problems(row: Row, result: Ran) -> Iterator[str]:
    """Where a run differs from what its row says."""
    for number, (step, done, shown) in enumerate(zip(row.steps, result.steps, result.shown, strict=True), 1):
        for problem in step_problems(step, done, shown, unordered=row.unordered):
            yield f"process {number}: {problem}"
    if len(result.exchanges) != row.requests:
        yield f"{len(result.exchanges)} requests reached the upstream, expected {row.requests}"
    for name, data in row.files_after.items():
        if result.files[name] != data:
            yield f"file {name} holds {result.files[name]!r}, expected {data!r}"
    if row.leaves and not any(exchange.left for exchange in result.exchanges):
        yield "the upstream never saw that the client went"
    for exchange in result.exchanges:
        if exchange.refused:
            yield f"the upstream refused request {exchange.number}: {exchange.refused}"


def undeclared(row: Row, direct: Ran) -> Iterator[str]:
    """Which tools Codex should have declared and did not, so that the row would prove nothing."""
    kinds = {tool.get("type") for exchange in direct.exchanges for tool in _told(exchange.body)}
    for kind in row.declared:
        if kind not in kinds:
            yield f"Codex declared no tool of type {kind}, only {sorted(map(str, kinds))}"


def moves(expected: Moved | None, breaks: Sequence[Break], log: str) -> Iterator[str]:
    """Where the prompt's beginning moved and should have stayed, or the other way round, or moved untold."""
    if expected is None:
        yield from map(str, breaks)
        return
    if not breaks or any(re.search(expected.at, each.before) is None for each in breaks):
        yield f"the prompt should have moved at {expected.at!r}, and did so at {[each.before for each in breaks]}"
    if re.search(expected.logged, log) is None:
        yield f"it was not told that the prompt moved: nothing like {expected.logged!r} in the log"


def _told(body: Json) -> Iterator[Json]:
    """All tools of a request: in their field, in an item, in a namespace."""
    items = body.get("input")
    for holder in (body, *(objects(items) if isinstance(items, list) else [])):
        for tool in objects(holder.get("tools")):
            yield tool
            yield from objects(tool.get("tools"))


def differences(row: Row, result: Ran, direct: Ran) -> Iterator[str]:
    """Where Codex shows something else than it does directly."""
    for number, (here, there) in enumerate(zip(result.shown, direct.shown, strict=True), 1):
        ours, theirs = (_lines(events.normalised(shown, row.masks, unordered=row.unordered)) for shown in (here, there))
        if ours != theirs:
            yield f"process {number} shows other events than directly:\n" + "\n".join(
                unified_diff(theirs, ours, "direct", "here", lineterm="", n=1)
            )


def _lines(shown: list[Json]) -> list[str]:
    return [json.dumps(event, ensure_ascii=False, sort_keys=True) for event in shown]


class Runner:
    """Runs cells of one Codex, and what a row shows directly once only."""

    def __init__(self, program: Path, version: Version, *, patience: float = 1.0) -> None:
        self._program = program
        self._patience = patience
        self._version = version
        self._direct: dict[str, Ran] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def direct(self, row: Row) -> Ran:
        async with self._locks.setdefault(row.name, asyncio.Lock()):
            if row.name not in self._direct:
                self._direct[row.name] = await ran(row, DIRECT, self._program)
            return self._direct[row.name]

    async def cell(self, any_row: Row, upstream: str) -> Cell:
        row = adapted(any_row, self._version)
        row = replace(row, seconds=row.seconds * self._patience)
        none = Cell(row=row, upstream=upstream, version=self._version.number, ran=None)
        lacking = self._version.lacks.get(row.name, "")
        if lacking:
            return replace(none, lacking=lacking)
        direct = await self.direct(row)
        try:
            result = direct if upstream == DIRECT else await ran(row, upstream, self._program)
        except GatewayError as error:
            return replace(none, problems=(str(error),))
        return judged(none, result, direct)


def judged(cell: Cell, result: Ran, direct: Ran) -> Cell:
    """The cell with what came of it and all that is wrong with that."""
    stable, row = stability(result.exchanges), cell.row
    found = [*problems(row, result), *undeclared(row, direct), *moves(row.moved.get(cell.upstream), stable.breaks, result.log)]
    if cell.upstream != DIRECT and row.compared:
        found += differences(row, result, direct)
    return replace(cell, ran=result, problems=tuple(found), prefix_stable_ratio=stable.prefix_stable_ratio)
