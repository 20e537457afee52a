"""Keys: who may ask, what for, how often; and that nobody learns of what is somebody else's."""

import asyncio
import re
import statistics
import time
from pathlib import Path
from typing import Any

import pytest

from antiphon.http.keyring import BadKeys, Keyring, hashed, of_environment
from antiphon.http.limits import Limits
from antiphon.loop.ports import Key
from antiphon.protocol.errors import TooMany
from antiphon.store.state import store
from tests.state.conftest import World, echo, eventually
from tests.state.keyed import Keyed, add_key, keyed
from tests.wires.client import Reply, fetch, get
from tests.wires.gateway import gateway
from tests.wires.upstream import Call, Upstream

pytestmark = pytest.mark.anyio
BAD: dict[str, dict[str, str]] = {
    "none": {},
    "empty": {"authorization": ""},
    "another kind": {"authorization": "Basic abc"},
    "no secret": {"authorization": "Bearer "},
    "wrong": {"authorization": "Bearer sk-antiphon-wrong"},
    "10 KB": {"authorization": "Bearer " + "x" * 10_000},
    "not ASCII": {"authorization": "Bearer é\xff"},
}
ROUTES = [
    ("POST", "/v1/responses"), ("POST", "/v1/chat/completions"), ("POST", "/responses"), ("GET", "/v1/responses/resp_1"), ("DELETE", "/v1/responses/resp_1"),
    ("GET", "/v1/models"), ("GET", "/v1/models/m"), ("GET", "/ready"), ("GET", "/version"), ("POST", "/v1/conversations"), ("GET", "/nowhere"),
    ("GET", "/v1/responses"), ("OPTIONS", "/v1/responses"),
]  # fmt: skip


@pytest.mark.requirement("keys.needed")
async def test_once_a_key_exists_every_route_but_health_needs_one(store_url: str, tmp_path: Path) -> None:
    async with keyed(store_url, tmp_path) as both:
        url = both.one.url
        assert (await get(url, "/health")).status == 200
        for method, path in ROUTES:
            for name, headers in BAD.items():
                reply = await fetch(url, path=path, method=method, headers=headers)
                assert (reply.status, reply.error["type"], reply.headers["www-authenticate"]) == (401, "invalid_request_error", "Bearer"), (
                    path,
                    name,
                )
                assert reply.error["code"] == ("invalid_api_key" if name in ("wrong", "10 KB", "not ASCII") else "missing_api_key")
                assert "wrong" not in reply.error["message"]
        assert both.one.upstream.calls == []
        await both.one.create("one")
        assert (await both.one.get("/v1/models")).status == 200


@pytest.mark.requirement("keys.needed")
async def test_without_keys_none_is_needed_and_one_that_is_made_or_revoked_counts_within_seconds(store_url: str, tmp_path: Path) -> None:
    async with (
        Upstream(echo) as upstream,
        gateway(upstream.url, api="chat", store=store_url, environ={"ANTIPHON_HOME": str(tmp_path)}) as url,
    ):
        assert (await get(url, "/v1/models")).status == 200
        secret = await add_key(store_url, tmp_path)

        async def needs_one() -> bool:
            return (await get(url, "/v1/models")).status == 401

        await eventually(needs_one, within=10)
        assert (await get(url, "/v1/models", headers={"authorization": f"Bearer {secret}"})).status == 200
        opened = store(store_url, tmp_path)
        assert opened is not None
        await opened.open()
        (key,) = await opened.keys()
        assert await opened.revoke_key(key.id, 2)
        assert not await opened.revoke_key(key.id, 3)
        await opened.close()

        async def needs_none() -> bool:
            return not await needs_one()

        await eventually(needs_none, within=10)


@pytest.mark.requirement("keys.needed")
async def test_keys_of_a_variable_work_without_a_store(tmp_path: Path) -> None:
    around = {"ANTIPHON_HOME": str(tmp_path), "CLIENT_KEYS": "first-key-of-clients second-key-of-clients"}
    async with Upstream(echo) as upstream, gateway(upstream.url, api="chat", key_env="CLIENT_KEYS", environ=around) as url:
        assert (await get(url, "/v1/models")).status == 401
        for secret in around["CLIENT_KEYS"].split():
            assert (await get(url, "/v1/models", headers={"authorization": f"Bearer {secret}"})).status == 200


@pytest.mark.parametrize("held", ["", "short", "good-enough-for-a-key short"])
def test_a_variable_without_good_keys_is_refused_by_name(held: str) -> None:
    with pytest.raises(BadKeys, match="CLIENT_KEYS") as refused:
        of_environment("CLIENT_KEYS", {"CLIENT_KEYS": held})
    assert "good-enough" not in str(refused.value)


@pytest.mark.requirement("keys.not-passed-on")
async def test_a_clients_key_goes_to_no_upstream(store_url: str, tmp_path: Path) -> None:
    written = '[upstreams.main]\nurl = "URL"\napi = "chat"\npass_authorization = true\n'
    async with keyed(store_url, tmp_path, written=written) as both:
        await both.one.create("one")
        await both.one.post("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]})
        assert [call.headers.get("authorization") for call in both.one.upstream.posts] == [None, None]


@pytest.mark.requirement("keys.rights")
async def test_a_key_may_use_its_models_only(tmp_path: Path) -> None:
    async with keyed(str(tmp_path / "state.db"), tmp_path, rights=({"models": ("oth*",)}, {})) as both:
        refused = await both.one.post("/v1/responses", {"model": "m", "input": "x"})
        assert (refused.status, refused.error["code"], refused.error["param"]) == (404, "model_not_found", "model")
        assert (await both.one.post("/v1/chat/completions", {"model": "m", "messages": []})).status == 404
        assert both.one.upstream.posts == []
        await both.one.create("x", model="other")
        assert [model["id"] for model in (await both.one.get("/v1/models")).json["data"]] == ["other"]
        assert (await both.one.get("/v1/models/m")).status == 404
        assert [model["id"] for model in (await both.two.get("/v1/models")).json["data"]] == ["m", "other"]


@pytest.mark.requirement("keys.limits")
async def test_a_key_may_ask_so_often_in_a_minute(tmp_path: Path) -> None:
    async with keyed(str(tmp_path / "state.db"), tmp_path, rights=({"per_minute": 3}, {})) as both:
        statuses = [(await both.one.post("/v1/responses", {"model": "m", "input": "x"})).status for _ in range(3)]
        refused = await both.one.post("/v1/responses", {"model": "m", "input": "x"})
        assert (statuses, refused.status, refused.error["code"]) == ([200] * 3, 429, "rate_limit_exceeded")
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert (await both.one.get("/v1/models")).status == 200, "what asks no model is not counted"
        await both.two.create("x")


@pytest.mark.requirement("keys.limits")
async def test_a_key_may_have_so_many_under_way_background_ones_too(tmp_path: Path) -> None:
    release = asyncio.Event()

    async def waiting(call: Call) -> None:
        await release.wait()
        await echo(call)

    async with keyed(str(tmp_path / "state.db"), tmp_path, rights=({"at_once": 2}, {})) as both:
        both.one.upstream.answers(waiting)
        queued = await both.one.create("x", background=True)
        asking = asyncio.create_task(both.one.create("x"))

        async def both_asked() -> bool:
            return len(both.one.upstream.posts) == 2

        await eventually(both_asked)
        refused = await both.one.post("/v1/responses", {"model": "m", "input": "x"})
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        release.set()
        await asking
        await both.one.ended(queued["id"])
        await both.one.create("x")


def test_a_minute_is_the_last_sixty_seconds() -> None:
    now = 0.0
    limits = Limits(lambda: now)
    key = Key("key_1", "n", b"", per_minute=2)
    limits.admit(key).free()
    now = 30.0
    limits.admit(key).free()
    now = 59.9
    with pytest.raises(TooMany) as refused:
        limits.admit(key)
    assert refused.value.failure.retry_after == "1"
    now = 60.1
    limits.admit(key)
    with pytest.raises(TooMany) as refused:
        limits.admit(key)
    assert refused.value.failure.retry_after == "30"


def test_a_key_is_found_by_its_hash_alone() -> None:
    key = Key("key_1", "n", hashed("the secret"))
    assert Keyring(None, [key]).find("the secret") == key
    assert Keyring(None, [key]).find("the secreT") is None
    assert Keyring(None, [key]).find(key.hash.hex()) is None


async def prizes(world: World) -> dict[str, str]:
    one = await world.create("the secret plan")
    slow = await world.create("background plan", background=True)
    await world.ended(slow["id"])
    conversation = (await world.post("/v1/conversations", {"items": [{"role": "user", "content": "secret talk"}]})).json
    listed = (await world.get(f"/v1/conversations/{conversation['id']}/items")).json["data"]
    inputs = (await world.get(f"/v1/responses/{one['id']}/input_items")).json["data"]
    return {
        "resp": one["id"], "run": slow["id"], "conv": conversation["id"], "item": listed[0]["id"], "input": inputs[0]["id"], "output": one["output"][0]["id"],
    }  # fmt: skip


def attempts(ids: dict[str, str]) -> list[tuple[str, str, Any]]:
    """Every route with somebody's ids in every place."""
    ask = {"model": "m", "input": "x"}
    found: list[tuple[str, str, Any]] = [
        ("POST", "/v1/responses", {**ask, "previous_response_id": ids["resp"]}),
        ("POST", "/v1/responses", {**ask, "previous_response_id": ids["run"], "stream": True}),
        ("POST", "/v1/responses", {**ask, "previous_response_id": ids["resp"], "background": True}),
        ("POST", "/v1/responses", {**ask, "previous_response_id": ids["resp"], "store": False}),
        ("POST", "/v1/responses", {**ask, "conversation": ids["conv"]}),
        ("POST", "/v1/responses", {**ask, "conversation": {"id": ids["conv"]}}),
        *(
            ("POST", "/v1/responses", {**ask, "input": [{"type": "item_reference", "id": ids[name]}]})
            for name in ("item", "input", "output")
        ),
        ("POST", "/v1/responses/input_tokens", {**ask, "previous_response_id": ids["resp"]}),
        ("GET", f"/v1/conversations/{ids['conv']}", b""),
        ("POST", f"/v1/conversations/{ids['conv']}", {"metadata": {}}),
        ("GET", f"/v1/conversations/{ids['conv']}/items", b""),
        ("POST", f"/v1/conversations/{ids['conv']}/items", {"items": [{"role": "user", "content": "x"}]}),
        ("GET", f"/v1/conversations/{ids['conv']}/items/{ids['item']}", b""),
        ("DELETE", f"/v1/conversations/{ids['conv']}/items/{ids['item']}", b""),
        ("DELETE", f"/v1/conversations/{ids['conv']}", b""),
    ]
    for name in ("resp", "run"):
        at = f"/v1/responses/{ids[name]}"
        found += [("GET", at, b""), ("GET", f"{at}?stream=true", b""), ("GET", f"{at}/input_items", b""), ("POST", f"{at}/cancel", b"")]
        found += [("GET", f"{at}/input_items?after={ids['input']}", b""), ("DELETE", at, b"")]
    return found


def nowhere(ids: dict[str, str]) -> dict[str, str]:
    """The same kinds of ids, of nothing."""
    return {name: re.sub(r"[0-9a-f]{8,}", lambda found: found[0][::-1], id) for name, id in ids.items()}


def shown(reply: Reply, ids: dict[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
    """An answer without the ids that were asked for and the time."""
    body = reply.body
    for name, id in ids.items():
        body = body.replace(id.encode(), name.encode())
    headers = sorted((name, value) for name, value in reply.headers.items() if name != "date")
    return reply.status, headers, body


@pytest.mark.requirement("keys.isolation")
async def test_nothing_tells_one_key_of_anothers_ids(store_url: str, tmp_path: Path) -> None:
    async with keyed(store_url, tmp_path) as both:
        await both.two.create("mine")
        ids = await prizes(both.one)
        none = nowhere(ids)
        posts = len(both.one.upstream.posts)
        for (method, path, body), (_, other_path, other_body) in zip(attempts(ids), attempts(none), strict=True):
            foreign = await fetch(both.two.url, body, path=path, method=method, headers=both.two.headers)
            unknown = await fetch(both.two.url, other_body, path=other_path, method=method, headers=both.two.headers)
            assert foreign.status in (400, 404), (method, path, foreign.body)
            assert shown(foreign, ids) == shown(unknown, none), (method, path)
            assert b"secret" not in foreign.body
        assert len(both.one.upstream.posts) == posts, "no model was asked"
        for path in (f"/v1/responses/{ids['resp']}", f"/v1/responses/{ids['run']}", f"/v1/conversations/{ids['conv']}/items/{ids['item']}"):
            assert (await both.one.get(path)).status == 200, "and nothing was changed"


@pytest.mark.requirement("keys.isolation")
async def test_foreign_ids_take_as_long_as_unknown_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with keyed(str(tmp_path / "state.db"), tmp_path) as both:
        ids = await prizes(both.one)
        rows = await _timed(both, ids, nowhere(ids))
    with capsys.disabled():
        print("\n10th percentile, ms  foreign  unknown")  # noqa: T201 - the table is asked for
        for name, foreign, unknown in rows:
            print(f"{name:20} {foreign:7.2f}  {unknown:7.2f}")  # noqa: T201
    for name, foreign, unknown in rows:
        assert abs(foreign - unknown) < 0.5 * max(foreign, unknown), name


async def _timed(both: Keyed, ids: dict[str, str], none: dict[str, str]) -> list[tuple[str, float, float]]:
    """Both in alternation, so that a busy machine hits both alike."""
    paths = {
        "response": "/v1/responses/{resp}",
        "input items": "/v1/responses/{resp}/input_items",
        "conversation": "/v1/conversations/{conv}/items",
    }
    rows: list[tuple[str, float, float]] = []
    for name, path in paths.items():
        took: tuple[list[float], list[float]] = ([], [])
        for _ in range(60):
            for index, which in enumerate((ids, none)):
                began = time.perf_counter()
                await both.two.get(path.format(**which))
                took[index].append(1e3 * (time.perf_counter() - began))
        rows.append((name, statistics.quantiles(took[0], n=10)[0], statistics.quantiles(took[1], n=10)[0]))
    return rows


PLANTED = "sk-planted-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


@pytest.mark.requirement("keys.planted")
async def test_planted_secrets_are_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    file = tmp_path / "state.db"
    around = {"ANTIPHON_HOME": str(tmp_path), "CLIENT_KEYS": PLANTED, "UPSTREAM_KEY": f"{PLANTED}-upstream"}
    settings = {"api": "chat", "store": str(file), "key_env": "CLIENT_KEYS", "upstream_key_env": "UPSTREAM_KEY", "environ": around}
    replies: list[bytes] = []
    async with Upstream(echo) as upstream, gateway(upstream.url, **settings) as url:
        world = World(url, upstream, {"authorization": f"Bearer {PLANTED}", "x-other": "fine"})
        odd: list[dict[str, Any]] = [
            {"background": True},
            {"stream": True},
            {"store": False},
            {"previous_response_id": "resp_none"},
            {"model": None},
        ]
        replies += [(await world.post("/v1/responses", {"model": "m", "input": "hi", **body})).body for body in odd]
        replies.append((await fetch(url, path="/v1/models", method="GET", headers={"authorization": f"Bearer {PLANTED}x"})).body)
        await asyncio.sleep(0.1)
        during = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"re: hi" in kept
    for held in (kept, during, caplog.text.encode(), *replies):
        assert PLANTED.encode() not in held
        assert PLANTED[3:].encode() not in held
