"""What a server is, from what it answers; which upstream a model's name goes to."""

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon.protocol.errors import UpstreamError
from antiphon.upstream import probe as probing
from antiphon.upstream.access import Access, split_url
from antiphon.upstream.client import Client, Limits
from antiphon.upstream.probe import Probed, probe
from antiphon.upstream.select import Directory, Instead, Route, select
from tests.wires.client import fetch, get
from tests.wires.gateway import gateway
from tests.wires.upstream import (
    Call,
    Script,
    Upstream,
    answering,
    chat,
    completion,
    head,
    named,
    responses_events,
    silent,
    streaming,
    whole,
)

pytestmark = pytest.mark.anyio

VLLM = {"/v1/models": {"object": "list", "data": [{"id": "m", "owned_by": "vllm", "max_model_len": 32768}]}}
LLAMA = {
    "/v1/models": {"object": "list", "data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}]},
    "/props": {"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": False}},
}
LMSTUDIO = {
    "object": "list",
    "data": [{"id": "m", "compatibility_type": "gguf", "max_context_length": 131072, "loaded_context_length": 4096}],
}


def owned(by: str) -> dict[str, Any]:
    return {"/v1/models": {"data": [{"id": "m", "owned_by": by}]}}


PLAIN = {"/v1/models": {"object": "list", "data": [{"id": "m"}]}}
NO_ROUTE = whole({"detail": "Not Found"}, 404)
NO_METHOD = whole({"detail": "Method Not Allowed"}, 405)
REFUSED = whole({"error": {"message": "model is required"}}, 400)
KINDS: dict[str, tuple[dict[str, Any], Script, tuple[str, str]]] = {
    "llama.cpp": (LLAMA, REFUSED, ("chat", "llama.cpp")),
    "vLLM": (VLLM, REFUSED, ("responses", "vllm")),
    "vLLM without Responses": (VLLM, NO_ROUTE, ("chat", "vllm")),
    "SGLang": (owned("sglang"), REFUSED, ("chat", "sglang")),
    "llama-cpp-python": (owned("me"), REFUSED, ("chat", "llama-cpp-python")),
    "Ollama, by a model of its library": (owned("library"), REFUSED, ("chat", "ollama")),
    "Ollama, by its version": (owned("somebody") | {"/api/version": {"version": "0.40.1"}}, REFUSED, ("chat", "ollama")),
    "LM Studio": (owned("organization_owner"), REFUSED, ("chat", "lmstudio")),
    "LM Studio, by its own list": (PLAIN | {"/api/v0/models": LMSTUDIO}, REFUSED, ("chat", "lmstudio")),
    "unknown with Responses": (PLAIN, REFUSED, ("responses", "responses")),
    "unknown without Responses": (PLAIN, NO_ROUTE, ("chat", "chat")),
    "unknown with a page at every path": (PLAIN, answering(head(200, "text/html", content_length="6") + b"<html>"), ("chat", "chat")),
    "unknown without POST": (PLAIN, NO_METHOD, ("chat", "chat")),
    "lists no models": ({}, NO_ROUTE, ("chat", "chat")),
    "lists a text": ({"/v1/models": "models"}, NO_ROUTE, ("chat", "chat")),
    "lists odd entries": ({"/v1/models": {"data": [1, None, {"id": 3}, {"id": "m", "owned_by": [1]}]}}, NO_ROUTE, ("chat", "chat")),
    "data is no list": ({"/v1/models": {"data": {"id": "m"}}}, NO_ROUTE, ("chat", "chat")),
    "props of odd types": (PLAIN | {"/props": {"default_generation_settings": 5, "modalities": []}}, NO_ROUTE, ("chat", "llama.cpp")),
}


async def probed(url: str, *, api: str = "auto", dialect: str = "") -> Probed:
    client = Client(Access(url), Limits(5, 5))
    try:
        return await probe(client, api=api, dialect=dialect)
    finally:
        await client.close()


def pages(documents: dict[str, Any]) -> dict[str, bytes]:
    return {path: json.dumps(document).encode() for path, document in documents.items()}


@pytest.mark.requirement("models.probe")
@pytest.mark.parametrize(("documents", "script", "expected"), KINDS.values(), ids=KINDS)
async def test_a_server_is_known_by_its_answers(documents: dict[str, Any], script: Script, expected: tuple[str, str]) -> None:
    async with Upstream(script, pages(documents)) as upstream:
        found = await probed(upstream.url)
    assert (found.api, found.dialect.name) == expected
    assert all(post.body == b"{}" for post in upstream.posts)  # nothing is generated


HOSTS = {
    "https://api.openai.com/v1": "openai",
    "https://contoso.openai.azure.com/openai/v1": "azure",
    "https://contoso.services.ai.azure.com/openai/v1": "azure",
    "https://openrouter.ai/api/v1": "openrouter",
    "https://api.groq.com/openai/v1": "groq",
    "https://api.deepseek.com": "deepseek",
    "https://api.moonshot.ai/v1": "kimi",
    "https://api.moonshot.cn/v1": "kimi",
    "https://api.z.ai/api/paas/v4": "glm",
    "https://open.bigmodel.cn/api/paas/v4": "glm",
    "https://dashscope-intl.aliyuncs.com/compatible-mode/v1": "qwen",
    "https://API.MISTRAL.AI/v1": "mistral",
    "https://notopenai.com/v1": None,
    "https://openai.com.example.org/v1": None,
    "http://localhost:8000/v1": None,
}


@pytest.mark.requirement("models.probe")
@pytest.mark.parametrize(("url", "name"), HOSTS.items(), ids=HOSTS)
def test_a_server_is_known_by_its_host(url: str, name: str | None) -> None:
    found = probing.by_host(url)
    assert (None if found is None else found.name) == name


@pytest.mark.requirement("models.probe")
async def test_a_server_that_is_known_is_not_asked_for_others_pages() -> None:
    async with Upstream(REFUSED, pages(PLAIN)) as upstream:
        await probed(upstream.url, dialect="deepseek")
    assert [call.path for call in upstream.calls] == ["/v1/models"]


@pytest.mark.requirement("models.probe")
async def test_what_is_given_is_not_asked_for() -> None:
    async with Upstream(REFUSED, pages(LLAMA)) as upstream:
        found = await probed(upstream.url, api="responses", dialect="openai")
    assert (found.api, found.dialect.name, upstream.posts) == ("responses", "openai", [])


@pytest.mark.requirement("models.probe", "models.catalogue")
async def test_what_a_server_says_of_its_models() -> None:
    async with Upstream(REFUSED, pages(LLAMA)) as upstream:
        (model,) = (await probed(upstream.url)).models
        assert (model.context, model.images) == (8192, False)  # what it was started with, not what it was trained for
    async with Upstream(REFUSED, pages(VLLM)) as upstream:
        (model,) = (await probed(upstream.url)).models
        assert (model.context, model.images) == (32768, None)
    async with Upstream(REFUSED, pages(owned("organization_owner") | {"/api/v0/models": LMSTUDIO})) as upstream:
        (model,) = (await probed(upstream.url)).models
        assert model.context == 4096  # what is loaded


@pytest.mark.requirement("models.probe")
async def test_a_server_that_does_not_say_which_api_it_has_is_an_upstream_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "SECONDS", 0.2)
    async with Upstream(silent) as upstream:
        with pytest.raises(UpstreamError) as failed:
            await probed(upstream.url)
    assert failed.value.failure.status == 504


@pytest.mark.requirement("models.probe")
@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_server_that_is_not_ready_is_asked_again(status: int) -> None:
    """Which API it has cannot be told from that, and must not be kept."""
    async with Upstream(whole({"error": {"message": "loading"}}, status)) as upstream, gateway(upstream.url, api="auto") as url:
        asked = {"model": "m", "input": "hi"}
        assert (await fetch(url, asked)).status == status

        async def chat_only(call: Call) -> None:
            await (whole(completion()) if call.path.endswith("/chat/completions") else NO_ROUTE)(call)

        upstream.answers(chat_only)
        assert (await fetch(url, asked)).json["output"][0]["content"][0]["text"] == "hello"


@pytest.mark.requirement("models.probe")
async def test_it_is_asked_once_and_kept() -> None:
    async def both(call: Call) -> None:
        await (NO_ROUTE if call.path == "/v1/responses" else whole(completion()))(call)

    async with Upstream(both) as upstream, gateway(upstream.url) as url:
        for _ in range(3):
            assert (await fetch(url, {"model": "m", "input": "hi"})).status == 200
        assert (await get(url, "/v1/models")).status == 200
    assert [call.path for call in upstream.posts] == ["/v1/responses", *["/v1/chat/completions"] * 3]
    assert len([call for call in upstream.calls if call.path == "/v1/models"]) == 1


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://h:1", "http://h:1/v1"),
        ("http://h:1/", "http://h:1/v1"),
        ("http://h:1/v1", "http://h:1/v1"),
        ("http://h:1/v1/", "http://h:1/v1"),
        ("https://h/api/openai/v2", "https://h/api/openai/v2"),
    ],
)
def test_a_bare_host_means_its_v1(url: str, base: str) -> None:
    assert split_url(url) == (base, "")


SERVED = {"one": {"a", "shared", "org/x"}, "two": {"b", "shared", "one/b"}, "three": set[str]()}
ALIASES = {"fast": "two/b", "same": "a", "deep": "three/any/thing", "loop": "loop"}
ROUTES = {
    "a": Route(("one",), "a", certain=True),
    "b": Route(("two",), "b", certain=True),
    "shared": Route(("one",), "shared", certain=True),
    "org/x": Route(("one",), "org/x", certain=True),
    "two/shared": Route(("two",), "shared", certain=True),
    "one/b": Route(("two",), "one/b", certain=True),
    "three/unlisted": Route(("three",), "unlisted", certain=True),
    "fast": Route(("two",), "b", certain=True),
    "same": Route(("one",), "a", certain=True),
    "deep": Route(("three",), "any/thing", certain=True),
    "loop": Route(("one",), "loop", certain=False),
    "unknown": Route(("one",), "unknown", certain=False),
    "four/unknown": Route(("one",), "four/unknown", certain=False),
    "one/": Route(("one",), "one/", certain=False),
    "codex-auto-review": Route(("one",), "codex-auto-review", certain=False),
}


@pytest.mark.requirement("models.alias")
@pytest.mark.parametrize(("model", "route"), ROUTES.items(), ids=ROUTES)
def test_where_a_name_goes(model: str, route: Route) -> None:
    assert select(model, Directory(SERVED, {}), aliases=ALIASES) == route


@pytest.mark.requirement("models.alias")
def test_approval_review_has_its_own_setting() -> None:
    assert select("codex-auto-review", Directory(SERVED, {}), aliases=ALIASES, instead=Instead(review="fast")) == Route(
        ("two",), "b", certain=True
    )


@pytest.mark.requirement("models.alias")
@pytest.mark.parametrize(
    ("model", "route"),
    [
        ("gpt-6.1-terra", Route(("two",), "b", certain=True)),
        ("codex-auto-review", Route(("two",), "b", certain=True)),
        ("a", Route(("one",), "a", certain=True)),
        ("three/unlisted", Route(("three",), "unlisted", certain=True)),
    ],
)
def test_a_name_that_nobody_lists_may_have_a_model_that_answers(model: str, route: Route) -> None:
    assert select(model, Directory(SERVED, {}), aliases=ALIASES, instead=Instead(default="fast")) == route
    nobody = select(model, Directory({"one": set[str]()}, {}), aliases={}, instead=Instead(default="fast"))
    assert nobody == Route(("one",), model, certain=False), "where nothing is listed, any name may be right"


@pytest.mark.requirement("models.alias")
async def test_the_model_for_unknown_names_is_looked_for_once_the_lists_are_known(tmp_path: Path) -> None:
    page = pages({"/v1/models": {"data": [{"id": "mine"}]}})
    async with Upstream(chat(), page) as upstream, gateway(upstream.url, api="chat", default_model="mine") as url:
        for model in ("gpt-6.1-terra", "mine"):
            reply = await fetch(url, {"model": model, "input": "hi", "stream": True})
            assert reply.events[-1]["response"]["model"] == model
    assert [json.loads(call.body)["model"] for call in upstream.posts] == ["mine", "mine"]


@pytest.mark.requirement("models.alias")
async def test_each_model_goes_to_the_upstream_that_lists_it(tmp_path: Path) -> None:
    async with (
        Upstream(chat(), pages({"/v1/models": {"data": [{"id": "a"}, {"id": "both"}]}})) as one,
        Upstream(streaming(named(*responses_events())), pages({"/v1/models": {"data": [{"id": "b"}, {"id": "both"}]}})) as two,
        Upstream(answering(b"")) as down,
    ):
        file = tmp_path / "antiphon.toml"
        rows = ((one, "one", "chat"), (two, "two", "responses"), (down, "down", "chat"))
        file.write_text(
            "".join(f'[upstreams.{name}]\nurl = "{up.url}"\napi = "{api}"\nmodels = ["{name}s"]\n' for up, name, api in rows)
            + '[aliases]\nz = "b"\n'
        )
        down.pages.clear()
        async with gateway(file=file) as url:
            for model in ("b", "a", "z", "two/other"):
                reply = await fetch(url, {"model": model, "input": "hi", "stream": True})
                assert reply.types[-1] == "response.completed"
                assert reply.events[-1]["response"]["model"] == ("m" if model == "b" else model)
            listed = [model["id"] for model in (await get(url, "/v1/models")).json["data"]]
    assert [json.loads(call.body)["model"] for call in one.posts] == ["a"]
    assert [json.loads(call.body)["model"] for call in two.posts] == ["b", "b", "other"]
    assert listed == ["a", "both", "ones", "b", "twos", "downs", "z"]
