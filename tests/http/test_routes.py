"""The small routes, and who is let in at all."""

import json

import pytest
from openai import AsyncOpenAI

import antiphon
from tests.http.conftest import Wired
from tests.wires.client import connect, fetch, get, parsed, request
from tests.wires.gateway import gateway
from tests.wires.upstream import Upstream, named, responses_events, streaming

pytestmark = pytest.mark.anyio

LISTED = {
    "object": "list",
    "data": [
        {"id": "org/big-model", "object": "model", "created": 5, "owned_by": "vllm", "max_model_len": 4096},
        {"id": "small", "object": "model"},
        {"id": "small", "object": "model", "owned_by": "twice"},
        {"id": 7},
        "not an object",
        {"id": "odd", "owned_by": ["a", {"list": 1}], "created": "yesterday", "max_model_len": "long"},
    ],
}


@pytest.mark.requirement("http.models", "models.catalogue")
async def test_one_body_for_both_kinds_of_client(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("models") / "antiphon.toml"
    async with Upstream(pages={"/v1/models": json.dumps(LISTED).encode()}) as upstream:
        file.write_text(f'[upstreams.one]\nurl = "{upstream.url}"\napi = "chat"\n[aliases]\n"my/alias" = "one/org/big-model"\n')
        async with gateway(file=file) as url:
            body = (await get(url, "/v1/models?client_version=0.169.0")).json
            async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
                listed = [model.id async for model in client.models.list()]
                one = await client.models.retrieve("org/big-model")
    ids = ["org/big-model", "small", "odd", "my/alias"]
    assert [model["id"] for model in body["data"]] == [model["slug"] for model in body["models"]] == listed == ids
    assert (one.id, one.created, one.owned_by) == ("org/big-model", 5, "vllm")
    windows = {model["slug"]: model.get("context_window") for model in body["models"]}
    assert windows == {"org/big-model": 4096, "small": None, "odd": None, "my/alias": 4096}


@pytest.mark.requirement("http.models")
@pytest.mark.parametrize("path", ["/v1/models/m", "/v1/models/%6D"])
async def test_one_model(each: Wired, path: str) -> None:
    assert (await get(each.url, path)).json["id"] == "m"


@pytest.mark.requirement("http.models")
@pytest.mark.parametrize("name", ["nothing", "a/b/c", "m/", "..%2F..%2Fetc", "%F0%9F%8C%8D", "%FF"])
async def test_an_unknown_model_is_404(each: Wired, name: str) -> None:
    reply = await get(each.url, f"/v1/models/{name}")
    assert (reply.status, reply.error["code"], reply.error["param"]) == (404, "model_not_found", "model")


@pytest.mark.requirement("http.models")
async def test_a_long_list_in_many_packets_is_read_whole() -> None:
    many = {"data": [{"id": f"model-{number}", "description": "x" * 1000} for number in range(3000)]}
    async with Upstream(pages={"/v1/models": json.dumps(many).encode()}) as upstream, gateway(upstream.url, api="chat") as url:
        assert len((await get(url, "/v1/models")).json["data"]) == 3000


@pytest.mark.requirement("http.health")
async def test_health_and_version(each: Wired) -> None:
    assert (await get(each.url, "/health")).json == {"status": "ok"}
    assert (await get(each.url, "/version")).json == {"name": "antiphon", "version": antiphon.__version__}


@pytest.mark.requirement("http.health")
async def test_ready_says_whether_the_upstream_answers() -> None:
    async with Upstream() as upstream, gateway(upstream.url, api="chat") as url:
        reply = await get(url, "/ready")
        fares = {"answers": True, "up": True, "running": 0, "waiting": 0}
        assert (reply.status, reply.json) == (200, {"ready": True, "upstreams": {"upstream": fares}})
    async with gateway("http://127.0.0.1:9", api="chat") as url:
        reply = await get(url, "/ready")
        fares = reply.json["upstreams"]["upstream"]
        assert (reply.status, reply.json["ready"], fares["answers"], fares["up"]) == (503, False, False, False)
        assert "cannot be reached" in fares["why"]
        assert (await get(url, "/health")).status == 200
        assert (await get(url, "/v1/models")).json == {"object": "list", "data": [], "models": []}


@pytest.mark.requirement("http.tool-outputs")
async def test_tool_outputs_says_where_they_belong(each: Wired) -> None:
    reply = await fetch(each.url, {"tool_outputs": []}, path="/v1/responses/resp_1/tool_outputs")
    assert (reply.status, reply.error["code"]) == (404, "not_found")
    assert "function_call_output" in reply.error["message"]
    assert "'input'" in reply.error["message"]


UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "openai-beta": "responses_websockets=2026-02-06",
}


@pytest.mark.requirement("http.websocket")
@pytest.mark.parametrize("more", [{}, {"connection": "keep-alive, Upgrade"}, {"upgrade": "WebSocket"}, {"authorization": "Bearer x"}])
async def test_a_websocket_upgrade_is_426(each: Wired, more: dict[str, str]) -> None:
    reply = await get(each.url, "/v1/responses", headers=UPGRADE | more)
    assert (reply.status, reply.headers["connection"]) == (426, "close")
    assert "upgrade" in reply.headers
    assert "POST" in reply.error["message"]


@pytest.mark.requirement("http.websocket", "security.origin")
async def test_a_web_page_may_not_even_ask(each: Wired) -> None:
    assert (await get(each.url, "/v1/responses", headers=UPGRADE | {"origin": "https://example.org"})).status == 403


@pytest.mark.requirement("http.routes")
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("POST", "/v1/v1/responses"), ("POST", "/v1/messages"), ("GET", "/v1/%00")])
async def test_what_is_not_there_is_404_as_json(each: Wired, method: str, path: str) -> None:
    reply = await fetch(each.url, method=method, path=path)
    assert (reply.status, reply.error["code"]) == (404, "not_found")
    assert "/v1/responses" in reply.error["message"]


@pytest.mark.requirement("http.routes")
@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/v1/responses", "POST"),
        ("GET", "/v1/chat/completions", "POST"),
        ("PUT", "/embeddings", "POST"),
        ("POST", "/v1/models", "GET, HEAD"),
    ],
)
async def test_another_method_is_405_and_options_tells_which(each: Wired, method: str, path: str, allow: str) -> None:
    reply = await fetch(each.url, method=method, path=path)
    assert (reply.status, reply.error["code"]) == (405, "method_not_allowed")
    asked = await fetch(each.url, method="OPTIONS", path=path)
    assert (asked.status, asked.body) == (204, b"")
    for one in (reply, asked):
        assert ", ".join(sorted(one.headers["allow"].split(", "))) == allow
        assert "access-control-allow-origin" not in one.headers


@pytest.mark.requirement("http.routes")
@pytest.mark.parametrize("path", ["/v1/models", "/models", "/models/m", "/health"])
async def test_head_is_get_without_its_body(each: Wired, path: str) -> None:
    asked, got = await fetch(each.url, method="HEAD", path=path), await get(each.url, path)
    assert (asked.status, asked.body, asked.headers["content-length"]) == (200, b"", str(len(got.body)))


@pytest.mark.requirement("http.routes")
async def test_the_api_is_at_the_host_too(each: Wired) -> None:
    """Some clients are told `http://host:port` and add no version."""
    each.upstream.answers(streaming(named(*responses_events())))
    reply = await fetch(each.url, {"model": "m", "input": "hi", "stream": True}, path="/responses")
    assert reply.status == 200
    assert (await get(each.url, "/models")).json == (await get(each.url, "/v1/models")).json
    assert (await get(each.url, "/responses", headers=UPGRADE)).status == 426


PORT = "{port}"
HOSTS = {
    "127.0.0.1:{port}": 200,
    "127.0.0.1": 200,
    "localhost:{port}": 200,
    "LocalHost:{port}": 200,
    "localhost.": 200,
    "localhost.:{port}": 200,
    "127.0.0.2:1": 200,
    "[::1]:{port}": 200,
    "[::1]": 200,
    "evil.example:{port}": 403,
    "evil.example": 403,
    "127.0.0.1.evil.example": 403,
    "localhost.evil.example:{port}": 403,
    "evillocalhost": 403,
    "0.0.0.0:{port}": 403,
    "192.168.1.4": 403,
    "[::]": 403,
    "[fe80::1]": 403,
    "127.1": 403,
    "2130706433": 403,
    "": 403,
    "localhost@evil.example": 403,
    "localhost, evil.example": 403,
}


@pytest.mark.requirement("security.host")
@pytest.mark.parametrize(("host", "status"), HOSTS.items(), ids=HOSTS)
async def test_only_a_loopback_host_is_served(each: Wired, host: str, status: int) -> None:
    port = each.url.rpartition(":")[2]
    reply = await get(each.url, "/health", headers={"host": host.format(port=port)})
    assert reply.status == status
    if status == 403:
        assert reply.error["type"] == "permission_error"


@pytest.mark.requirement("security.host")
async def test_a_request_without_a_host_is_refused(each: Wired) -> None:
    async with connect(each.url) as client:
        await client.send(b"GET /v1/models HTTP/1.0\r\n\r\n")
        assert (await client.reply()).status == 403


@pytest.mark.requirement("security.host")
async def test_of_two_hosts_none_may_be_foreign(each: Wired) -> None:
    for hosts in (("evil.example", "localhost"), ("localhost", "evil.example")):
        async with connect(each.url) as client:
            await client.send(
                b"GET /health HTTP/1.1\r\nconnection: close\r\n" + b"".join(b"host: %b\r\n" % host.encode() for host in hosts) + b"\r\n"
            )
            assert (await client.reply()).status in (400, 403)


ORIGINS = {
    "https://example.org": 403,
    "http://localhost:3000": 403,
    "http://127.0.0.1": 403,
    "null": 403,
    "": 403,
    "file://": 403,
    "chrome-extension://abc": 403,
    "http://{host}": 200,
    "http://{host}.evil.example": 403,
}


@pytest.mark.requirement("security.origin")
@pytest.mark.parametrize(("origin", "status"), ORIGINS.items(), ids=ORIGINS)
async def test_no_other_origin_is_served(each: Wired, origin: str, status: int) -> None:
    host = each.url.removeprefix("http://")
    reply = await get(each.url, "/health", headers={"origin": origin.format(host=host)})
    assert reply.status == status
    assert "access-control-allow-origin" not in reply.headers


@pytest.mark.requirement("security.origin")
@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)])
async def test_no_page_of_another_site_is_served(each: Wired, site: str, status: int) -> None:
    """A form, an image or a `no-cors` request may come without an Origin, but never without this."""
    assert (await get(each.url, "/health", headers={"sec-fetch-site": site})).status == status


REFERRERS = {
    "https://example.org/page": 403,
    "http://{host}.evil.example/": 403,
    "http://127.0.0.1": 403,
    "": 403,
    "http://{host}/page?x=1": 200,
    "http://{host}": 200,
}


@pytest.mark.requirement("security.origin")
@pytest.mark.parametrize(("referrer", "status"), REFERRERS.items(), ids=REFERRERS)
async def test_no_page_that_names_itself_is_served(each: Wired, referrer: str, status: int) -> None:
    """Older browsers send a form without an Origin."""
    host = each.url.removeprefix("http://")
    assert (await get(each.url, "/health", headers={"referer": referrer.format(host=host)})).status == status


@pytest.mark.requirement("security.origin")
async def test_a_refused_request_reaches_no_upstream(each: Wired) -> None:
    each.upstream.answers(streaming(named(*responses_events())))
    for headers in ({"origin": "https://example.org"}, {"host": "evil.example"}):
        reply = await fetch(each.url, {"model": "m", "input": "hi", "stream": True}, headers=headers)
        assert reply.status == 403
    preflight = await fetch(each.url, method="OPTIONS", headers={"origin": "https://example.org", "access-control-request-method": "POST"})
    assert preflight.status == 403
    assert each.upstream.calls == []


async def test_requests_on_one_connection_one_behind_the_other(each: Wired) -> None:
    once = request(each.url, path="/health", method="GET", headers={"connection": "keep-alive"})
    async with connect(each.url) as client:
        await client.send(once + once)
        for _ in range(2):
            assert parsed(await client.until(b'{"status":"ok"}')).status == 200
