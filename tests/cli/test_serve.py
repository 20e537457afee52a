"""`antiphon serve` as a process: what it says, what it refuses, how it ends."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from antiphon.cli import serve
from antiphon.config import SETTINGS
from antiphon.upstream.discover import Place, discover
from tests.wires.client import Connection, connect, fetch, get, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import PATIENCE, Call, Upstream, chat, chunks, data, head, named, responses_events, silent, whole

pytestmark = pytest.mark.anyio

LISTENING = re.compile(r"antiphon: listening on (http://127\.0\.0\.1:\d+)$", re.MULTILINE)
ENDS_WITHIN = 1.5
"""A second, and what a busy machine adds."""


@dataclass(slots=True)
class Serving:
    """A running `antiphon serve`."""

    process: asyncio.subprocess.Process
    log: Path
    said: str = ""
    url: str = field(default="")

    async def listen(self) -> None:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            async for line in self.process.stdout:
                self.said += line.decode()
                if found := LISTENING.search(self.said):
                    self.url = found[1]
                    return
        raise AssertionError(f"it ended: {self.said}{self.log.read_text()}")

    async def end(self, number: signal.Signals) -> tuple[int, float]:
        """Its exit status after a signal, and the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            status = await self.process.wait()
        return status, time.monotonic() - began


@asynccontextmanager
async def serving(
    folder: Path, *arguments: str, environ: Mapping[str, str] | None = None, under: tuple[str, ...] = ()
) -> AsyncIterator[Serving]:
    """`under`: the command that starts it."""
    log = folder / "serve.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(*under, sys.executable, "-m", "antiphon", "serve", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=clean(folder) | dict(environ or {}),
            cwd=folder,
        )
    try:
        yield Serving(process, log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def clean(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    return kept | {"XDG_CONFIG_HOME": str(folder / "config"), "ANTIPHON_HOME": str(folder / "home")}


def refused(folder: Path, *arguments: str, **environ: str) -> str:
    """What it says when it does not start."""
    command = [sys.executable, "-m", "antiphon", "serve", *arguments]
    done = subprocess.run(command, env=clean(folder) | environ, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode not in (0, -signal.SIGKILL)
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.requirement("cli.serve")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_says_where_it_listens_and_a_signal_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    async with Upstream(chat()) as upstream, serving(tmp_path, "--port", "0", "--upstream", upstream.url, "--api", "chat") as running:
        await running.listen()
        answer = await fetch(running.url, {"model": "m", "input": "hi", "stream": True})
        assert answer.types[-1] == "response.completed"
        status, seconds = await running.end(number)
    assert status in (0, -number)
    assert seconds < ENDS_WITHIN
    assert f"state is kept in {tmp_path / 'home' / 'state.db'}" in running.said
    assert "Traceback" not in running.log.read_text()


@pytest.mark.requirement("cli.serve")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_an_open_stream_with_a_failure_at_once(tmp_path: Path, number: signal.Signals) -> None:
    flags = ("--port", "0", "--api", "chat", "--drain-seconds", "0")
    async with Upstream(Halved()) as upstream, serving(tmp_path, *flags, "--upstream", upstream.url) as running:
        await running.listen()
        async with connect(running.url) as client:
            await client.send(request(running.url, {"model": "m", "input": "hi", "stream": True}))
            await client.until(b"half")
            status, seconds = await running.end(number)
            rest = await client.reader.read(-1)
    assert b"response.failed" in rest
    assert status == 0
    assert seconds < ENDS_WITHIN
    assert "Traceback" not in running.log.read_text()


NOT_AT_THE_START = {
    "aiohttp.web", "antiphon.cli.codex", "antiphon.local_model", "antiphon.upstream.discover", "asyncpg", "h11", "openai", "pydantic", "rich",
    "tomlkit", "websockets",
}  # fmt: skip
"""What costs time to import and is needed by other commands, by some settings, or by nobody."""


@pytest.mark.requirement("cli.light")
async def test_it_starts_with_what_it_needs_and_no_more(tmp_path: Path) -> None:
    told = {"PYTHONPROFILEIMPORTTIME": "1"}
    async with serving(tmp_path, "--port", "0", "--upstream", "http://127.0.0.1:9/v1", environ=told) as running:
        await running.listen()
    imported = {line.rpartition("|")[2].strip() for line in running.log.read_text().splitlines() if line.startswith("import time:")}
    assert {"antiphon.http.app", "aiohttp", "uvicorn"} <= imported
    assert imported & NOT_AT_THE_START == set()


FEW_FILES = ("sh", "-c", 'ulimit -Sn 48; exec "$@"', "sh")


@pytest.mark.requirement("cli.light")
@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems limit open files so")
async def test_a_low_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    async with (
        Upstream(chat()) as upstream,
        serving(tmp_path, "--port", "0", "--upstream", upstream.url, "--api", "chat", under=FEW_FILES) as running,
        contextlib.AsyncExitStack() as idle,
    ):
        await running.listen()
        for _ in range(64):
            await idle.enter_async_context(connect(running.url))
        answer = await fetch(running.url, {"model": "m", "input": "hi", "stream": True})
        assert answer.types[-1] == "response.completed"


class Halved:
    """An upstream that sends half of an answer, and the other half when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def __call__(self, call: Call) -> None:
        await call.send(head(), data({"choices": [{"index": 0, "delta": {"content": "half"}}]}))
        gone, going = asyncio.ensure_future(call.gone()), asyncio.ensure_future(self.go.wait())
        await asyncio.wait({gone, going}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        going.cancel()
        if self.go.is_set():
            await call.send(data(*chunks(" and whole"), b"[DONE]"))


@asynccontextmanager
async def halfway(folder: Path, upstream: Upstream, *flags: str) -> AsyncIterator[tuple[Serving, Connection, bytes]]:
    """A gateway, a client that has got half an answer of it, and that half."""
    async with serving(folder, "--port", "0", "--api", "chat", *flags, "--upstream", upstream.url) as running:
        await running.listen()
        async with connect(running.url) as client:
            await client.send(request(running.url, {"model": "m", "input": "hi", "stream": True}))
            yield running, client, await client.until(b"half")


async def refuses_connections(url: str) -> bool:
    """Whether nobody listens there any more."""
    for _ in range(100):
        try:
            async with connect(url):
                await asyncio.sleep(0.02)
        except OSError:
            return True
    return False


@pytest.mark.requirement("cli.drain")
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_an_answer_under_way_may_end_while_nobody_new_is_let_in(tmp_path: Path, workers: str) -> None:
    script = Halved()
    async with Upstream(script) as upstream, halfway(tmp_path, upstream, "--workers", workers) as (running, client, first):
        async with connect(running.url) as idle:
            await idle.send(request(running.url, path="/health", method="GET", headers={"connection": "keep-alive"}))
            await idle.until(b"}")
            running.process.send_signal(signal.SIGTERM)
            assert await refuses_connections(running.url)
            assert await idle.reader.read(-1) == b""  # a connection that does nothing is closed
        script.go.set()
        reply = parsed(first + await client.reader.read(-1))
        async with asyncio.timeout(PATIENCE):
            assert await running.process.wait() == 0
    assert reply.types[-1] == "response.completed"
    assert reply.events[-1]["response"]["output"][0]["content"][0]["text"] == "half and whole"
    assert "1 answers may take 8 s more" in running.log.read_text()
    assert "Traceback" not in running.log.read_text()


@pytest.mark.requirement("cli.drain")
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_what_has_not_ended_by_then_is_told_to_come_again(tmp_path: Path, workers: str) -> None:
    async with Upstream(Halved()) as upstream:
        flags = ("--drain-seconds", "0.5", "--workers", workers)
        async with halfway(tmp_path, upstream, *flags) as (running, client, first), connect(running.url) as waiting:
            await waiting.send(request(running.url, {"model": "m", "input": "hi", "stream": False}))
            while len(upstream.posts) < 2:  # noqa: ASYNC110 - it is in another process
                await asyncio.sleep(0.01)
            status, seconds = await running.end(signal.SIGTERM)
            reply = parsed(first + await client.reader.read(-1))
            whole_one = await waiting.reply()
    assert (status, reply.types[-1]) == (0, "response.failed")
    assert reply.events[-1]["response"]["error"]["code"] == "gateway_stopping"
    assert (whole_one.status, whole_one.headers["retry-after"], whole_one.error["code"]) == (503, "1", "gateway_stopping")
    assert 0.4 < seconds < 1 + ENDS_WITHIN
    assert "Traceback" not in running.log.read_text()


@pytest.mark.requirement("cli.drain")
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_second_signal_ends_it_at_once(tmp_path: Path, workers: str) -> None:
    flags = ("--drain-seconds", "60", "--workers", workers)
    async with Upstream(Halved()) as upstream, halfway(tmp_path, upstream, *flags) as (running, client, first):
        running.process.send_signal(signal.SIGINT)
        assert await refuses_connections(running.url)
        status, seconds = await running.end(signal.SIGTERM)
        reply = parsed(first + await client.reader.read(-1))
    assert (status, reply.types[-1]) == (0, "response.failed")
    assert seconds < ENDS_WITHIN


@pytest.mark.requirement("cli.drain")
async def test_who_waits_for_a_turn_or_another_attempt_is_told_too(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    async with Upstream(Halved()) as one, Upstream(whole({"error": {"message": "no"}}, 503)) as two:
        file.write_text(
            f'drain_seconds = 0\n[upstreams.one]\nurl = "{one.url}"\napi = "chat"\nmodels = ["m"]\nmax_concurrent = 1\n'
            f'[upstreams.two]\nurl = "{two.url}"\napi = "chat"\nmodels = ["n"]\nretries = 50\n'
        )
        async with serving(tmp_path, "--port", "0", "--config", str(file)) as running:
            await running.listen()
            async with connect(running.url) as first, connect(running.url) as queued, connect(running.url) as again:
                for client, model in ((first, "m"), (queued, "m"), (again, "n")):
                    await client.send(request(running.url, {"model": model, "input": "hi", "stream": False}))
                    for _ in range(1000):
                        state = (await get(running.url, "/ready")).json["upstreams"]["one"]
                        if (len(one.posts), state["waiting"], len(two.posts) > 2) == (1, client is not first, client is again):
                            break
                status, seconds = await running.end(signal.SIGTERM)
                replies = [await client.reply() for client in (first, queued, again)]
    assert [(reply.status, reply.error["code"]) for reply in replies[:2]] == [(503, "gateway_stopping")] * 2
    assert replies[2].status == 503
    assert (status, seconds < ENDS_WITHIN) == (0, True)


def workers_of(pid: int) -> list[int]:
    """The child processes of a process."""
    if not Path("/proc").exists():
        pytest.skip("only Linux tells a process's children in /proc")
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.requirement("cli.workers")
async def test_workers_share_the_port_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    async with Upstream(chat()) as upstream:
        flags = ("--port", "0", "--api", "chat", "--workers", "2", "--upstream", upstream.url)
        async with serving(tmp_path, *flags) as running:
            await running.listen()
            first = workers_of(running.process.pid)
            for _ in range(20):
                assert (await fetch(running.url, {"model": "m", "input": "hi", "stream": True})).types[-1] == "response.completed"
            asked = len([call for call in upstream.calls if call.path == "/v1/models"])  # each worker asks for itself
            os.kill(first[0], signal.SIGKILL)
            for _ in range(200):
                if len(workers_of(running.process.pid)) == 2 and first[0] not in workers_of(running.process.pid):
                    break
                await asyncio.sleep(0.05)
            replies = await asyncio.gather(*(fetch(running.url, {"model": "m", "input": "hi", "stream": True}) for _ in range(20)))
            status, _ = await running.end(signal.SIGTERM)
        assert asked == (2 if sys.platform == "linux" else asked)
        assert {reply.types[-1] for reply in replies} == {"response.completed"}
    assert (len(first), status) == (2, 0)
    assert "a worker ended with status -9" in running.log.read_text()


@pytest.mark.requirement("cli.workers")
async def test_no_worker_outlives_its_parent(tmp_path: Path) -> None:
    async with serving(tmp_path, "--port", "0", "--workers", "2", "--upstream", "http://127.0.0.1:9", "--api", "chat") as running:
        await running.listen()
        left = workers_of(running.process.pid)
        await running.end(signal.SIGKILL)
        for _ in range(200):
            left = [pid for pid in left if Path(f"/proc/{pid}").exists()]
            if not left:
                break
            await asyncio.sleep(0.05)
    assert left == []


@pytest.mark.requirement("cli.workers")
def test_workers_that_could_not_share_their_state_are_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, "--workers", "2", "--store", "memory", "--upstream", "http://127.0.0.1:9")
    assert "share no memory" in told


@pytest.mark.requirement("cli.workers")
def test_a_port_in_use_is_told_with_workers_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(tmp_path, "--port", str(port), "--workers", "2", "--upstream", "http://127.0.0.1:9")
        assert f"cannot listen on 127.0.0.1:{port}" in told


async def test_a_client_that_does_not_read_cannot_hold_up_the_end(tmp_path: Path) -> None:
    async def flood(call: Call) -> None:
        await call.send(head())
        with contextlib.suppress(ConnectionError):
            while True:
                await call.send(data({"choices": [{"index": 0, "delta": {"content": "x" * 65536}}]}))

    async with (
        Upstream(flood) as upstream,
        serving(tmp_path, "--port", "0", "--upstream", upstream.url, "--api", "chat", "--drain-seconds", "0") as running,
    ):
        await running.listen()
        async with connect(running.url) as client:
            client.writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
            client.writer.write(request(running.url, {"model": "m", "input": "hi", "stream": True}))
            async with asyncio.timeout(PATIENCE):
                await upstream.arrived.wait()
            _, seconds = await running.end(signal.SIGTERM)
    assert seconds < 1 + ENDS_WITHIN


FAKE_LLAMA = """
import http.server, os, pathlib, threading, types

class CommonParams(types.SimpleNamespace):
    def __init__(self):
        one = types.SimpleNamespace
        super().__init__(model=one(), cpuparams=one(), cpuparams_batch=one(), sampling=one())

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

class Server:
    def __init__(self, told):
        served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health)
        threading.Thread(target=served.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{served.server_port}"
        pathlib.Path(os.environ["PID_FILE"]).write_text(str(os.getpid()))
"""


@pytest.mark.requirement("cli.serve")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_embedded_model_has_ended_when_serve_has(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "xllamacpp.py").write_text(FAKE_LLAMA)
    gguf, pid_file = tmp_path / "some.gguf", tmp_path / "pid"
    gguf.write_bytes(b"GGUF")
    environ = {"PYTHONPATH": str(tmp_path), "PID_FILE": str(pid_file)}
    async with serving(tmp_path, "--port", "0", "--gguf", str(gguf), environ=environ) as running:
        await running.listen()
        status, _ = await running.end(number)
        with pytest.raises(ProcessLookupError):  # waited for, so there is not even a zombie
            os.kill(int(pid_file.read_text()), 0)
    assert status == 0


@pytest.mark.requirement("security.loopback")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example.org", "127.0.0.1.example.org"])
def test_it_refuses_an_address_that_is_not_loopback(tmp_path: Path, host: str) -> None:
    assert f"refusing to listen on {host}" in refused(tmp_path, "--host", host, "--port", "0", "--upstream", "http://127.0.0.1:9")


@pytest.mark.requirement("security.loopback")
def test_it_refuses_such_an_address_from_the_environment_too(tmp_path: Path) -> None:
    assert "refusing to listen" in refused(tmp_path, "--upstream", "http://127.0.0.1:9", ANTIPHON_HOST="0.0.0.0")


def test_a_port_in_use_is_told_plainly(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1:{port}" in refused(tmp_path, "--port", str(port), "--upstream", "http://127.0.0.1:9")


WRONG = {
    "port too large": (("--port", "70000"), "port"),
    "negative port": (("--port", "-1"), "port"),
    "port is a word": (("--port", "http"), "http"),
    "api": (("--api", "soap"), "soap"),
    "dialect": (("--dialect", "klingon"), "klingon"),
    "no URL": (("--upstream", "localhost:8000"), "http://"),
    "no such file": (("--config", "nowhere.toml"), "nowhere.toml"),
}


@pytest.mark.requirement("cli.settings")
@pytest.mark.parametrize(("arguments", "told"), WRONG.values(), ids=WRONG)
def test_a_setting_that_cannot_be_is_told(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    assert told in refused(tmp_path, "--upstream", "http://127.0.0.1:9", *arguments)


@pytest.mark.requirement("cli.settings")
def test_each_setting_with_a_flag_is_an_option_and_no_other() -> None:
    options = {parameter.name for parameter in serve.serve.params}
    assert options == {setting.name for setting in SETTINGS if setting.flag} | {"file"}


@pytest.mark.requirement("cli.settings")
async def test_flags_win_over_variables_and_variables_over_the_file(tmp_path: Path) -> None:
    def key(call: Call) -> str | None:
        return call.headers.get("authorization")

    file = tmp_path / "own.toml"
    async with Upstream(chat()) as first, Upstream(chat()) as second, Upstream(chat()) as third:
        file.write_text(f'upstream = "{first.url}"\napi = "chat"\nupstream_key_env = "FILE_KEY"\nport = 1\n')
        environ = {"ANTIPHON_CONFIG": str(file), "ANTIPHON_UPSTREAM": second.url, "ANTIPHON_UPSTREAM_KEY_ENV": "OTHER_KEY"}
        environ |= {"FILE_KEY": "from-file-row", "OTHER_KEY": "from-variable-row", "ANTIPHON_PORT": "0"}
        for flags, asked in (((), second), (("--upstream", third.url), third)):
            async with serving(tmp_path, *flags, environ=environ) as running:
                await running.listen()
                assert (await fetch(running.url, {"model": "m", "input": "hi"})).status == 200
            assert [key(call) for call in asked.posts] == ["Bearer from-variable-row"]
        assert first.calls == []


@pytest.mark.requirement("cli.find-upstream")
async def test_a_model_server_on_a_usual_port_is_found() -> None:
    async with Upstream(silent) as there:
        port = int(there.url.split(":")[2].split("/")[0])
        places = (Place(1, "nobody"), Place(port, "a server"))
        assert await discover(not_port=1, places=places) == (places[1], there.url)
        assert await discover(not_port=port, places=places) is None
        there.pages["/v1/models"] = b'{"hello":"I am something else"}'
        assert await discover(not_port=1, places=places) is None


@pytest.mark.requirement("cli.find-upstream")
def test_without_any_server_and_without_a_model_it_says_what_to_do(tmp_path: Path) -> None:
    said = refused(tmp_path, "--gguf", str(tmp_path / "none.gguf"))
    assert "antiphon serve --upstream http://" in said


@pytest.mark.requirement("security.keys")
async def test_the_key_is_sent_upstream_and_shown_nowhere(tmp_path: Path) -> None:
    key, theirs = "sk-the-secret-of-the-upstream", "sk-the-secret-of-the-client"
    echo = whole({"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}}, 401)
    flags = ("--port", "0", "--api", "responses", "--dialect", "openai", "--upstream-key-env", "THE_KEY", "--log-level", "debug")
    async with Upstream(echo) as upstream, serving(tmp_path, "--upstream", upstream.url, *flags, environ={"THE_KEY": key}) as running:
        await running.listen()
        shown = ""
        for stream in (True, False):
            body = {"model": "m", "input": "hi", "stream": stream}
            answer = await fetch(running.url, body, headers={"authorization": f"Bearer {theirs}", "x-api-key": theirs})
            assert answer.status == 401
            shown += f"{answer.headers}{answer.body!r}"
        upstream.answers(whole(named(*responses_events())))
        shown += repr(await fetch(running.url, {"model": "m", "input": "hi"}, headers={"authorization": f"Bearer {theirs}"}))
        shown += repr(await get(running.url, "/v1/models")) + repr(await get(running.url, "/ready"))
        sent = [call.headers for call in upstream.calls]
        await running.end(signal.SIGTERM)
    assert {headers["authorization"] for headers in sent} == {f"Bearer {key}"}
    assert theirs not in repr(sent)
    logged = running.log.read_text() + running.said
    assert "responses model='m'" in logged
    assert [secret for secret in (key, theirs) if secret in shown + logged] == []


@pytest.mark.requirement("network.tls", "network.proxy")
async def test_what_is_odd_about_the_way_upstream_is_said_at_start(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[upstreams.far]\nurl = "https://model.invalid/v1"\ninsecure = true\n[upstreams.near]\nurl = "http://127.0.0.1:9"\n')
    environ = {
        "HTTPS_PROXY": "http://proxy.invalid:1",
        "HTTP_PROXY": "http://proxy.invalid:1",
        "ANTIPHON_CONFIG": str(file),
        "NO_PROXY": "",
    }
    async with serving(tmp_path, "--port", "0", environ=environ | {"no_proxy": ""}) as running:
        await running.listen()
    assert "INSECURE: any certificate is taken for far" in running.said
    assert "HTTPS_PROXY is set, and not used for far" in running.said
    assert "near" not in running.said


@pytest.mark.requirement("network.tls")
def test_a_certificate_that_cannot_be_is_told_at_start(tmp_path: Path) -> None:
    told = refused(tmp_path, "--upstream", "https://model.invalid/v1", ANTIPHON_CA_FILE=str(tmp_path / "none.pem"))
    assert "none.pem: No such file" in told


async def test_the_listening_socket_sends_at_once() -> None:
    """Without TCP_NODELAY each stream would wait 40 ms for a delayed acknowledgement."""
    with serve.listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
    async with Upstream(chat()) as upstream, gateway(upstream.url, api="chat") as url:
        assert (await get(url, "/health")).status == 200
