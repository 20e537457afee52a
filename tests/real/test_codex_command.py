"""`antiphon codex` with the real Codex in a user's home: what lay there before and after, and that the user's things still work."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.matrix import events
from tests.matrix.codex import Done, run
from tests.matrix.gateway import gateway
from tests.scripted import mcp_echo
from tests.scripted.responses_server import ResponsesWire
from tests.scripted.scenarios import SCRIPTS
from tests.scripted.server import MODEL, Exchange, ScriptedServer

pytestmark = [pytest.mark.real, pytest.mark.requirement("cli.codex-untouched")]

CONFIG = f"""# How I like it.
model = "gpt-5.5"   # with a comment
model_reasoning_effort = "high"

[mcp_servers.mine]
command = {sys.executable!r}
args = [{str(mcp_echo.__file__)!r}, "cuckoo"]

[notice]
hide_full_access_warning = true
"""
HOME: dict[str, bytes] = {
    "codex/config.toml": CONFIG.encode(),
    "codex/auth.json": b'{"OPENAI_API_KEY": "sk-of-the-user"}',
    "codex/AGENTS.md": b"Always speak of the weather in Ulm.\n",
    "codex/models_cache.json": b'{"fetched_at":"2026-11-01T00:00:00Z","etag":"W/1","client_version":"0.1.0","models":[]}',
    "codex/history.jsonl": b'{"session_id":"x","ts":1,"text":"earlier"}\n',
    "home/.profile": b"# nothing\n",
    "cwd/notes.txt": b"one\n",
}


@dataclass(frozen=True, slots=True)
class User:
    """A home with a Codex set up by hand, and the command line in it."""

    root: Path
    program: Path

    def fill(self) -> None:
        for name, data in HOME.items():
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        (self.root / "codex" / "auth.json").chmod(0o600)

    def files(self, *folders: str) -> dict[str, bytes]:
        found = (path for folder in folders for path in (self.root / folder).rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    async def codex(self, *arguments: str, **more: str) -> Done:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        own = {"HOME": str(self.root / "home"), "CODEX_HOME": str(self.root / "codex"), "ANTIPHON_HOME": str(self.root / "antiphon")}
        command = [sys.executable, "-m", "antiphon", "codex", *arguments]
        environment = kept | own | {"ANTIPHON_CODEX": str(self.program), "ANTIPHON_PORT": "9", "TERM": "xterm"} | more
        return await run(command, seconds=90, env=environment, cwd=self.root / "cwd")


@pytest.fixture
def user(tmp_path: Path, codex_binary: Path) -> User:
    user = User(tmp_path, codex_binary)
    user.fill()
    return user


@asynccontextmanager
async def upstream(script: str) -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(ResponsesWire(), SCRIPTS[script]) as server:
        yield server


def asked(server: ScriptedServer) -> list[Exchange]:
    return [exchange for exchange in server.exchanges if exchange.body]


def knows_the_model(done: Done) -> bool:
    """Codex says in its output where it was told nothing of the model."""
    return "Model metadata" not in done.output + done.errors


EXEC = ("exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access")


def test_the_users_files_are_as_before_and_their_tools_and_threads_work(user: User) -> None:
    async def first_and_resumed() -> tuple[Done, Done, list[Exchange]]:
        async with upstream("mcp") as server:
            first = await user.codex(*EXEC, "say hello", ANTIPHON_UPSTREAM=server.url)
            resumed = await user.codex(*EXEC, "resume", "--last", "and again", ANTIPHON_UPSTREAM=server.url)
            return first, resumed, asked(server)

    before = user.files("codex", "home", "cwd")
    first, resumed, exchanges = asyncio.run(first_and_resumed())
    after = user.files("codex", "home", "cwd")

    assert events.last_message(events.parsed(first.output)) == "The server says: cuckoo: say hello", first.errors
    assert resumed.exit == 0, resumed.errors
    assert {name: after.get(name) for name in before} == before
    assert [name for name in after if name.startswith("codex/sessions/")], "the thread is not in the user's home"
    assert all(b"Ulm" in str(exchange.body["input"]).encode() for exchange in exchanges)
    assert "say hello" in str(exchanges[-1].body["input"]), "the resumed thread has lost its beginning"
    assert {exchange.body["model"] for exchange in exchanges} == {MODEL}
    assert "sk-of-the-user" not in str([exchange.headers for exchange in exchanges])
    assert knows_the_model(first)


def test_on_a_running_gateway_codex_takes_our_place(user: User) -> None:
    async def once() -> Done:
        async with upstream("text") as server, gateway(server.url, (), key="", root=user.root) as running:
            return await user.codex(*EXEC, "hello", ANTIPHON_PORT=running.url.rpartition(":")[2].partition("/")[0])

    before = user.files("codex", "home", "cwd")
    done = asyncio.run(once())
    after = user.files("codex", "home", "cwd")
    assert (done.exit, events.last_message(events.parsed(done.output))) == (0, "You said: hello"), done.errors
    assert knows_the_model(done)
    assert "starting one" not in done.errors
    assert {name: after.get(name) for name in before} == before


def test_isolated_leaves_the_users_home_alone_altogether(user: User) -> None:
    async def once() -> tuple[Done, list[Exchange]]:
        async with upstream("text") as server:
            return await user.codex("--isolated", *EXEC, "hello", ANTIPHON_UPSTREAM=server.url), asked(server)

    before = user.files("codex", "home", "cwd")
    done, exchanges = asyncio.run(once())
    assert (done.exit, events.last_message(events.parsed(done.output))) == (0, "You said: hello"), done.errors
    assert user.files("codex", "home", "cwd") == before
    assert "Ulm" not in str(exchanges[0].body["input"])
    assert list((user.root / "antiphon" / "codex" / "home" / "sessions").rglob("*.jsonl"))
    assert knows_the_model(done)


def test_codexs_failure_is_our_exit_status(user: User) -> None:
    async def once() -> Done:
        async with upstream("down") as server:
            quick = ("-c", "model_providers.antiphon.request_max_retries=0", "-c", "model_providers.antiphon.stream_max_retries=0")
            return await user.codex(*quick, *EXEC, "hello", ANTIPHON_UPSTREAM=server.url)

    done = asyncio.run(once())
    assert done.exit == 1
    assert events.failure(events.parsed(done.output))


@pytest.mark.requirement("cli.setup-undo")
def test_what_setup_writes_is_what_codex_reads(user: User) -> None:
    """Also for a user who has never logged in: without a key Codex would not ask for the list."""
    (user.root / "codex" / "auth.json").unlink()

    async def set_up_and_run() -> Done:
        async with upstream("text") as server, gateway(server.url, (), key="", root=user.root) as running:
            address = {"ANTIPHON_PORT": running.url.rpartition(":")[2].partition("/")[0], "ANTIPHON_CODEX": str(user.program)}
            homes = {"HOME": str(user.root / "home"), "CODEX_HOME": str(user.root / "codex"), "PATH": os.environ["PATH"]}
            environment = homes | address | {"TERM": "xterm"}
            command = [sys.executable, "-m", "antiphon", "setup", "codex", "--yes"]
            assert (await run(command, seconds=30, env=environment)).exit == 0
            done = await run([str(user.program), *EXEC, "hello"], seconds=60, env=environment, cwd=user.root / "cwd")
            assert (await run([*command, "--undo"], seconds=30, env=environment)).exit == 0
            return done

    done = asyncio.run(set_up_and_run())
    assert events.last_message(events.parsed(done.output)) == "You said: hello", done.errors
    assert knows_the_model(done)
    assert (user.root / "codex" / "config.toml").read_bytes() == HOME["codex/config.toml"]
