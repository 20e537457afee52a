"""How servers are reached over real sockets: queries, keys, proxies, certificates."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from antiphon import config
from antiphon.config import BadConfig
from antiphon.upstream import access
from tests.wires.client import Reply, fetch, get
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream, chat, whole

pytestmark = pytest.mark.anyio

HIDDEN = "sk-the-clients-own-secret"


@asynccontextmanager
async def behind(folder: Path, table: str, **environ: str) -> AsyncIterator[str]:
    """A gateway with one upstream, described by its table."""
    file = folder / "antiphon.toml"
    file.write_text(f"[upstreams.one]\n{table}\n")
    async with gateway(file=file, environ=environ) as url:
        yield url


async def ask(url: str, **headers: str) -> Reply:
    return await fetch(url, {"model": "m", "input": "hi", "stream": True}, headers=headers)


def path(call: Call) -> str:
    return call.path


@pytest.mark.requirement("network.query")
async def test_query_parameters_go_along_with_every_request(tmp_path: Path) -> None:
    async with Upstream(chat()) as upstream:
        upstream.pages["/v1/models?tier=a%26b&api-version=2024-10-21"] = upstream.pages["/v1/models"]
        table = f'url = "{upstream.url}?tier=a%26b"\napi = "chat"\nquery = {{ api-version = "2024-10-21" }}'
        async with behind(tmp_path, table) as url:
            assert (await ask(url)).types[-1] == "response.completed"
            assert [model["id"] for model in (await get(url, "/v1/models")).json["data"]] == ["m"]
        assert {call.path.partition("?")[2] for call in upstream.calls} == {"tier=a%26b&api-version=2024-10-21"}
    assert path(upstream.posts[0]).startswith("/v1/chat/completions?")


@pytest.mark.requirement("network.key-header")
async def test_a_key_goes_in_the_header_that_is_named_and_nowhere_else(tmp_path: Path) -> None:
    async with Upstream(chat()) as upstream:
        table = f'url = "{upstream.url}"\napi = "chat"\nkey_env = "K"\nkey_header = "api-key"\nheaders = {{ x-own = "1" }}'
        async with behind(tmp_path, table, K="the-azure-key") as url:
            await ask(url, authorization=f"Bearer {HIDDEN}")
        sent = upstream.posts[0].headers
    assert (sent["api-key"], sent["x-own"]) == ("the-azure-key", "1")
    assert "authorization" not in sent
    assert HIDDEN not in repr([call.headers for call in upstream.calls])


@pytest.mark.requirement("network.key-header")
async def test_a_name_and_password_in_the_url_are_sent_and_not_told(tmp_path: Path) -> None:
    refusal = whole({"error": {"message": "p@ssword1 is wrong"}}, 401)
    async with Upstream(refusal) as upstream:
        at = upstream.url.replace("http://", "http://me:p%40ssword1@")
        async with behind(tmp_path, f'url = "{at}"\napi = "chat"') as url:
            reply = await ask(url)
        assert upstream.posts[0].headers["authorization"] == "Basic bWU6cEBzc3dvcmQx"
    assert reply.error["message"] == "[key] is wrong"


@pytest.mark.requirement("network.pass-authorization")
@pytest.mark.parametrize("passed", [True, False])
async def test_a_clients_key_is_passed_on_only_where_configured(tmp_path: Path, passed: bool) -> None:
    async with Upstream(chat()) as upstream:
        table = f'url = "{upstream.url}"\napi = "chat"\nkey_env = "K"\npass_authorization = {str(passed).lower()}'
        async with behind(tmp_path, table, K="own-key-of-gateway") as url:
            await ask(url, authorization=f"Bearer {HIDDEN}")
            await ask(url)
            await fetch(url, {"model": "m", "messages": []}, path="/v1/chat/completions", headers={"authorization": f"Bearer {HIDDEN}"})
            upstream.script = whole({"error": {"message": f"{HIDDEN} is unknown"}}, 401)
            refused = await ask(url, authorization=f"Bearer {HIDDEN}")
        keys = [call.headers["authorization"].removeprefix("Bearer ") for call in upstream.posts]
    assert keys[:3] == ([HIDDEN, "own-key-of-gateway", HIDDEN] if passed else ["own-key-of-gateway"] * 3)
    assert (HIDDEN not in repr(refused)) == passed  # where it was not sent it is the upstream's own word


@pytest.mark.requirement("network.proxy")
async def test_a_proxy_is_asked_for_the_whole_url(tmp_path: Path) -> None:
    async with Upstream(chat()) as proxy:
        at = proxy.url.removesuffix("/v1")
        proxy.pages["http://model.invalid/v1/models"] = proxy.pages["/v1/models"]
        table = 'url = "http://model.invalid/v1"\napi = "chat"\nproxy = "environment"'
        async with behind(tmp_path, table, HTTP_PROXY=at) as url:
            assert (await ask(url)).types[-1] == "response.completed"
        assert path(proxy.posts[0]) == "http://model.invalid/v1/chat/completions"
        async with behind(tmp_path, table, HTTP_PROXY=at, NO_PROXY=".invalid") as url:
            assert (await ask(url)).error["code"] == "upstream_unreachable"
        assert len(proxy.posts) == 1


@pytest.mark.requirement("network.proxy")
async def test_a_server_of_this_machine_is_never_asked_through_a_proxy(tmp_path: Path) -> None:
    async with Upstream(chat()) as upstream, behind(tmp_path, f'url = "{upstream.url}"\napi = "chat"\nproxy = "http://127.0.0.1:9"') as url:
        assert (await ask(url)).types[-1] == "response.completed"


@pytest.mark.requirement("network.proxy")
async def test_a_proxy_that_is_not_there_or_refuses_is_told_as_such(tmp_path: Path) -> None:
    table = 'url = "https://model.invalid/v1"\napi = "chat"\nproxy = "{}"'
    async with behind(tmp_path, table.format("http://u:secret-word@127.0.0.1:9")) as url:
        reply = await ask(url)
    assert (reply.status, reply.error["code"]) == (502, "upstream_unreachable")
    assert "its proxy does not answer" in reply.error["message"]
    assert "secret-word" not in repr(reply)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with behind(tmp_path, table.format(f"http://127.0.0.1:{port}")) as url:
            assert "its proxy answered 407" in (await ask(url)).error["message"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(file)
    return str(file)


@pytest.fixture
async def secure(authority: trustme.CA) -> AsyncIterator[Upstream]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "model.invalid").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    async with Upstream(chat(), tls=context) as upstream:
        yield upstream


@pytest.mark.requirement("network.tls")
async def test_a_certificate_counts_when_its_authority_is_named(tmp_path: Path, secure: Upstream, ca_file: str) -> None:
    table = f'url = "{secure.url}"\napi = "chat"\n'
    async with behind(tmp_path, table) as url:
        reply = await ask(url)
    assert (reply.status, reply.error["code"]) == (502, "upstream_unreachable")
    assert "cannot be trusted" in reply.error["message"]
    assert "ca_file" in reply.error["message"]
    for way in (f'ca_file = "{ca_file}"', "insecure = true"):
        async with behind(tmp_path, table + way) as url:
            assert (await ask(url)).types[-1] == "response.completed"


@pytest.mark.requirement("network.tls")
async def test_a_certificate_of_our_own_is_shown(tmp_path: Path, secure: Upstream, authority: trustme.CA, ca_file: str) -> None:
    shown: list[Any] = []

    async def look(call: Call) -> None:
        shown.append(call.writer.get_extra_info("peercert"))
        await chat()(call)

    secure.answers(look)
    own = authority.issue_cert("gateway.invalid")
    cert, key = tmp_path / "own.pem", tmp_path / "own.key"
    own.cert_chain_pems[0].write_to_path(cert)
    own.private_key_pem.write_to_path(key)
    table = f'url = "{secure.url}"\napi = "chat"\nca_file = "{ca_file}"\nclient_cert = "{cert}"\nclient_key = "{key}"'
    async with behind(tmp_path, table) as url:
        assert (await ask(url)).types[-1] == "response.completed"
    assert "gateway.invalid" in repr(shown[0]["subjectAltName"])


@pytest.mark.requirement("network.proxy", "network.tls")
async def test_a_tunnel_through_a_proxy(tmp_path: Path, secure: Upstream, ca_file: str) -> None:
    asked: list[str] = []
    port = int(secure.url.split(":")[2].removesuffix("/v1"))

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pump(reader, back), pump(there, writer), return_exceptions=True)

    async with await asyncio.start_server(tunnel, "127.0.0.1", 0) as server:
        at = server.sockets[0].getsockname()[1]
        table = f'url = "https://model.invalid/v1"\napi = "chat"\nca_file = "{ca_file}"\nproxy = "http://me:pw@127.0.0.1:{at}"'
        async with behind(tmp_path, table) as url:
            assert (await ask(url)).types[-1] == "response.completed"
    assert asked[0].startswith("CONNECT model.invalid:443 ")
    assert "Proxy-Authorization: Basic bWU6cHc=" in asked[0]


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    bad = tmp_path / "bad.pem"
    bad.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n")
    return {"bad": str(bad), "none": str(tmp_path / "none.pem")}


WRONG = {
    "no such authority": ('ca_file = "{none}"', "ca_file .*none.pem: No such file"),
    "no authority": ('ca_file = "{bad}"', "ca_file .*bad.pem: it is no PEM file"),
    "no such certificate": ('client_cert = "{none}"', "client_cert .*none.pem: No such file"),
    "no certificate": ('client_cert = "{bad}"', "client_cert .*bad.pem: it is no PEM file"),
    "a key without one": ('client_key = "{bad}"', "client_key is of a client_cert"),
    "no proxy": ('proxy = "socks5://h:1"', "the proxy must be like"),
    "a proxy of another kind": ('proxy = "environment"', "of the kind 'socks5'"),
}


@pytest.mark.requirement("network.tls", "network.proxy")
@pytest.mark.parametrize(("line", "told"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_refused_at_the_start(tmp_path: Path, broken: dict[str, str], line: str, told: str) -> None:
    file = tmp_path / "antiphon.toml"
    file.write_text(f'[upstreams.one]\nurl = "https://h/v1"\n{line.format(**broken)}\n')
    environ = {"https_proxy": "socks5://h:1"}
    with pytest.raises(BadConfig, match=told):
        access.of("one", config.load(file=str(file), environ=environ).upstreams["one"], environ)


@pytest.mark.requirement("network.limits")
async def test_each_wait_has_its_own_limit(tmp_path: Path) -> None:
    release = asyncio.Event()

    async def slow_to_begin(call: Call) -> None:
        await release.wait()
        await chat("late")(call)

    async with Upstream(slow_to_begin) as upstream:
        table = f'url = "{upstream.url}"\napi = "chat"\nfirst_byte_seconds = 0\nidle_seconds = 0.1'
        async with behind(tmp_path, table) as url:
            asking = asyncio.create_task(ask(url))
            await upstream.arrived.wait()
            await asyncio.sleep(0.4)  # far longer than it may be silent within an answer
            release.set()
            assert (await asking).types[-1] == "response.completed"


@pytest.mark.requirement("network.limits")
@pytest.mark.parametrize(("start", "piece"), [(b"HTTP/1.1 200 OK\r\nx-long: ", b"y"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n")])
async def test_a_head_that_never_ends_is_a_timeout(tmp_path: Path, start: bytes, piece: bytes) -> None:
    async def dribble(call: Call) -> None:
        await call.send(start)
        gone = asyncio.create_task(call.gone())
        while not gone.done():
            call.writer.write(piece)
            await asyncio.wait([gone], timeout=0.02)

    limit = 'api = "chat"\nfirst_byte_seconds = 0.3'
    async with Upstream(dribble) as upstream, behind(tmp_path, f'url = "{upstream.url}"\n{limit}') as url:
        reply = await ask(url)
    assert (reply.status, reply.error["code"]) == (504, "upstream_timeout")
