"""Responses of several model calls, over sockets: the gateway searches in between, and the client sees one answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from antiphon.protocol.event_views import Event
from antiphon.protocol.stream_validator import StreamValidator
from tests.loop.model import Model, Round, serving
from tests.loop.web import Web, hit
from tests.wires.client import Reply, connect, fetch, request
from tests.wires.gateway import gateway

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("loop.rounds")]

Json = dict[str, Any]
QUOKKA = hit("Quokka", "https://quokka.example.org/", "It weighs 3 kg.")
SEARCHES = Round("Let me look.", [("web_search", {"query": "quokka"})])
ANSWERS = Round("It weighs 3 kg: [Quokka](https://quokka.example.org/).")
ASKED = {"type": "message", "role": "user", "content": "How heavy is a quokka?"}
TOOLS: list[Json] = [{"type": "web_search"}]
LIGHTS: Json = {"type": "function", "name": "lights", "parameters": {"type": "object", "properties": {}}}


@asynccontextmanager
async def wired(tmp_path: Path, api: str, *rounds: Round, web: Web | None = None, **settings: Any) -> AsyncIterator[tuple[str, Model, Web]]:
    model = Model(api, list(rounds))
    web = web or Web({"quokka": [QUOKKA]})
    async with serving(model) as upstream, web:
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        file = tmp_path / "antiphon.toml"
        file.write_text(
            "\n".join([*lines, "[web_search]", 'provider = "searxng"', f'url = "{web.url}"', "[fetch]", f'allow_urls = ["{web.url}"]'])
        )
        async with gateway(upstream.url, api=api, file=file, environ={"ANTIPHON_HOME": str(tmp_path / "home")}) as url:
            yield url, model, web


async def ask(url: str, **more: Any) -> Reply:
    return await fetch(url, {"model": "m", "input": [ASKED], "tools": TOOLS, "store": False, **more})


def complaints(reply: Reply) -> list[str]:
    validator = StreamValidator()
    return [
        f"{note.where} {note.why}" for event in reply.events for note in validator.feed(Event(event["type"], json.dumps(event).encode()))
    ]


def kinds(output: list[Json]) -> list[str]:
    return [item["type"] for item in output]


APIS = pytest.mark.parametrize("api", ["chat", "responses"])


@APIS
@pytest.mark.parametrize("stream", [True, False])
async def test_one_answer_of_two_rounds(tmp_path: Path, api: str, stream: bool) -> None:
    async with wired(tmp_path, api, SEARCHES, ANSWERS) as (url, model, web):
        reply = await ask(url, stream=stream)
    response = reply.events[-1]["response"] if stream else reply.json
    assert response["status"] == "completed"
    assert kinds(response["output"]) == ["message", "reasoning", "web_search_call", "message"]
    assert response["output"][2]["action"] == {"type": "search", "query": "quokka", "queries": ["quokka"]}
    assert response["tools"] == TOOLS
    assert response["usage"]["total_tokens"] == 26
    assert response["usage"]["input_tokens_details"]["cached_tokens"] == 8
    assert len({item["id"] for item in response["output"]}) == 4
    assert web.searches == [{"q": "quokka", "format": "json"}]
    assert "It weighs 3 kg." in str(model.prompts()[1])
    annotation = response["output"][3]["content"][0]["annotations"][0]
    text = response["output"][3]["content"][0]["text"]
    assert (annotation["type"], annotation["url"], annotation["title"]) == ("url_citation", "https://quokka.example.org/", "Quokka")
    assert text[annotation["start_index"] : annotation["end_index"]] == "[Quokka](https://quokka.example.org/)"


@APIS
async def test_the_stream_is_one_stream(tmp_path: Path, api: str) -> None:
    async with wired(tmp_path, api, SEARCHES, ANSWERS) as (url, _, _):
        reply = await ask(url, stream=True)
    assert complaints(reply) == []
    assert [event["sequence_number"] for event in reply.events] == list(range(len(reply.events)))
    assert reply.types.count("response.created") == reply.types.count("response.completed") == 1
    searched = [name for name in reply.types if "web_search_call" in name]
    assert searched == [f"response.web_search_call.{word}" for word in ("in_progress", "searching", "completed")]
    added = [(event["output_index"], event["item"]["type"]) for event in reply.events if event["type"] == "response.output_item.added"]
    assert added == [(0, "message"), (1, "reasoning"), (2, "web_search_call"), (3, "message")]
    done = [event["item"] for event in reply.events if event["type"] == "response.output_item.done"]
    assert done == reply.events[-1]["response"]["output"]
    assert "response.output_text.annotation.added" in reply.types
    assert "function_call" not in reply.body.decode()


@APIS
async def test_the_next_turn_sees_the_very_call_and_result(tmp_path: Path, api: str) -> None:
    """A second gateway process with the same key, too: nothing is kept but what the client carries."""
    async with wired(tmp_path, api, SEARCHES, ANSWERS, Round("Yes.")) as (url, model, _):
        first = (await ask(url, stream=True)).events[-1]["response"]
        more = {"type": "message", "role": "user", "content": "Sure?"}
        await ask(url, input=[ASKED, *first["output"], more])
    before, after = model.prompts()[1], model.prompts()[2]
    assert after[: len(before)] == before
    async with wired(tmp_path, api, Round("Yes.")) as (url, again, web):
        await ask(url, input=[ASKED, *first["output"], more])
    assert again.prompts()[0] == after
    assert web.searches == []


async def test_what_another_gateway_sealed_is_told_in_words(tmp_path: Path) -> None:
    foreign = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "antiphon-1.0123456789ab.AAAA"}
    call = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "quokka"}}
    async with wired(tmp_path, "chat", Round("Yes.")) as (url, model, _):
        reply = await ask(url, input=[{"role": "user", "content": "Q"}, foreign, call, {"role": "user", "content": "And?"}])
    assert "I searched the web: quokka." in str(model.prompts()[0])
    assert "input[1] (what the model saw of a call cannot be read" in reply.headers["x-antiphon-dropped"]
    assert "input[2] (what the model saw of this call is not kept here" in reply.headers["x-antiphon-dropped"]


@APIS
@pytest.mark.parametrize("stream", [True, False])
async def test_a_mixed_round_runs_the_gateways_calls_and_hands_over_the_clients(tmp_path: Path, api: str, stream: bool) -> None:
    mixed = Round("Both.", [("lights", {}), ("web_search", {"query": "quokka"}), ("lights", {"on": 1})])
    async with wired(tmp_path, api, mixed, Round("Done.")) as (url, model, web):
        reply = await ask(url, tools=[*TOOLS, LIGHTS], stream=stream)
        response = reply.events[-1]["response"] if stream else reply.json
        assert kinds(response["output"]) == ["message", "function_call", "function_call", "reasoning", "web_search_call"]
        assert len(web.searches) == len(model.asked) == 1
        outputs = [
            {"type": "function_call_output", "call_id": item["call_id"], "output": f"lit {number}"}
            for number, item in enumerate(response["output"][1:3])
        ]
        await ask(url, tools=[*TOOLS, LIGHTS], input=[{"role": "user", "content": "Q"}, *response["output"], *outputs])
    seen = json.dumps(model.prompts()[1])
    assert seen.count("lit 0") == seen.count("lit 1") == seen.count("It weighs 3 kg.") == 1
    assert "aborted" not in seen


@APIS
async def test_parallel_searches_run_at_once_and_their_results_are_in_order(tmp_path: Path, api: str) -> None:
    both = Round("", [("web_search", {"query": "one"}), ("web_search", {"query": "two"})])
    web = Web({"one": [hit("First", "https://a.example.org/")], "two": [hit("Second", "https://b.example.org/")]}, held=asyncio.Event())

    async def release() -> None:
        while len(web.searches) < 2:
            await web.arrived.wait()
            web.arrived.clear()
        assert web.held is not None
        web.held.set()

    async with wired(tmp_path, api, both, ANSWERS, web=web) as (url, model, _):
        reply, _ = await asyncio.gather(ask(url, stream=True), release())
    queries = [item["action"]["query"] for item in reply.events[-1]["response"]["output"] if item["type"] == "web_search_call"]
    assert queries == ["one", "two"]
    seen = json.dumps(model.prompts()[1])
    assert seen.index("First") < seen.index("Second")


async def test_a_model_that_calls_for_ever_is_stopped(tmp_path: Path) -> None:
    async with wired(tmp_path, "chat", SEARCHES, tool_rounds=3) as (url, model, _):
        response = (await ask(url)).json
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_tool_calls"})
    assert len(model.asked) == 3
    assert "tools" not in model.asked[2] or model.asked[2].get("tool_choice") == "none"


async def test_max_tool_calls_is_the_clients_limit(tmp_path: Path) -> None:
    async with wired(tmp_path, "chat", SEARCHES, ANSWERS) as (url, model, _):
        response = (await ask(url, max_tool_calls=1)).json
    assert response["status"] == "completed"
    assert model.asked[1].get("tool_choice") == "none" or "tools" not in model.asked[1]


@pytest.mark.parametrize("choice", [{"type": "web_search_preview"}, "required", {"type": "function", "name": "web_search"}])
async def test_a_forced_search_is_forced_once(tmp_path: Path, choice: Any) -> None:
    async with wired(tmp_path, "chat", SEARCHES, ANSWERS) as (url, model, _):
        response = (await ask(url, tools=[{"type": "web_search_preview"}], tool_choice=choice)).json
    assert response["status"] == "completed"
    assert response["tool_choice"] == choice
    assert model.asked[0]["tool_choice"] != "auto"
    assert model.asked[1]["tool_choice"] == "auto"


@pytest.mark.parametrize(
    ("web", "words"),
    [
        (Web(status=403, body=b"<h1>Forbidden</h1>"), "forbids the format json"),
        (Web(status=503, body=b"<h1>Down</h1>"), "answered 503"),
        (Web(status=429, body=b""), "limits how often"),
        (Web(body=b"<html>not a list</html>"), "not a list of results"),
        (Web(), "No results for"),
    ],
    ids=["format", "html", "limit", "garbage", "nothing"],
)
async def test_a_search_that_fails_is_told_to_the_model(tmp_path: Path, web: Web, words: str) -> None:
    async with wired(tmp_path, "chat", SEARCHES, Round("I could not look."), web=web) as (url, model, _):
        response = (await ask(url)).json
    assert response["status"] == "completed"
    assert words in json.dumps(model.prompts()[1])


async def test_a_search_that_hangs_is_ended(tmp_path: Path) -> None:
    web = Web(held=asyncio.Event())
    async with wired(tmp_path, "chat", SEARCHES, Round("I could not look."), web=web, tool_seconds=0.3) as (url, model, _):
        response = (await ask(url)).json
    assert response["status"] == "completed"
    assert response["output"][2]["status"] == "failed"
    assert "did not answer within 0.3 seconds" in json.dumps(model.prompts()[1])


async def test_a_client_that_goes_ends_the_search(tmp_path: Path) -> None:
    web = Web(held=asyncio.Event())
    async with wired(tmp_path, "chat", SEARCHES, ANSWERS, web=web) as (url, model, _):
        async with connect(url) as connection:
            await connection.send(request(url, {"model": "m", "input": "Q", "tools": TOOLS, "stream": True, "store": False}))
            await asyncio.wait_for(web.arrived.wait(), 10)
        await asyncio.wait_for(web.gone.wait(), 5)
    assert len(model.asked) == 1


async def test_a_result_is_cut_where_it_is_too_long_and_says_so(tmp_path: Path) -> None:
    page = b"<html><title>Long</title>" + b"<p>word word word</p>" * 500 + b"</html>"
    web = Web(pages={"/long": ("text/html", page)})
    opens = Round("", [("open_page", {"url": "PLACE"})])
    async with wired(tmp_path, "chat", opens, Round("Read."), web=web, tool_result_kb=1) as (url, model, web):
        model.rounds[0] = Round("", [("open_page", {"url": f"{web.url}/long"})])
        response = (await ask(url)).json
    assert response["output"][1]["action"] == {"type": "open_page", "url": f"{web.url}/long"}
    assert "more bytes left out" in json.dumps(model.prompts()[1])
    assert len(json.dumps(model.prompts()[1])) < 4000


@APIS
@pytest.mark.parametrize("stream", [True, False])
async def test_an_upstream_that_fails_in_the_second_round_fails_the_response(tmp_path: Path, api: str, stream: bool) -> None:
    async with wired(tmp_path, api, SEARCHES, Round(status=500)) as (url, _, _):
        reply = await ask(url, stream=stream)
    if stream:
        assert reply.types[-1] == "response.failed"
        assert reply.events[-1]["response"]["error"]["code"] == "broken"
    else:
        assert reply.status >= 500
        assert reply.error["code"] == "broken"


@APIS
async def test_a_stream_that_breaks_off_in_the_second_round_is_a_failure(tmp_path: Path, api: str) -> None:
    async with wired(tmp_path, api, SEARCHES, Round("It wei", breaks=True)) as (url, _, _):
        reply = await ask(url, stream=True)
    assert reply.types[-1] == "response.failed"


async def test_an_upstream_that_fails_at_once_is_a_status(tmp_path: Path) -> None:
    async with wired(tmp_path, "chat", Round(status=429)) as (url, _, _):
        assert (await ask(url, stream=True)).status == 429


async def test_a_function_of_the_clients_own_keeps_its_name(tmp_path: Path) -> None:
    own = {"type": "function", "name": "web_search", "parameters": {"type": "object"}}
    async with wired(tmp_path, "chat", SEARCHES) as (url, _, web):
        response = (await ask(url, tools=[own, *TOOLS])).json
    assert kinds(response["output"]) == ["message", "function_call"]
    assert web.searches == []


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        ({"type": "web_search", "search_context_size": "huge"}, "tools[0].search_context_size"),
        ({"type": "web_search", "filters": {"allowed_domains": [1]}}, "tools[0].filters.allowed_domains"),
        ({"type": "web_search", "filters": {"allowed_domains": ["a.org"] * 101}}, "tools[0].filters.allowed_domains"),
    ],
)
async def test_a_declaration_that_cannot_be_is_refused_by_name(tmp_path: Path, tool: Json, param: str) -> None:
    async with wired(tmp_path, "chat", ANSWERS) as (url, model, _):
        reply = await ask(url, tools=[tool])
    assert (reply.status, reply.error["param"]) == (400, param)
    assert model.asked == []


async def test_filters_hold_for_results_and_pages(tmp_path: Path) -> None:
    web = Web({"(site:a.org) ": []})
    web.found["quokka (site:a.org)"] = [hit("In", "https://www.a.org/x"), hit("Out", "https://b.org/y")]
    rounds = (SEARCHES, Round("", [("open_page", {"url": "https://b.org/y"})]), Round("Done."))
    async with wired(tmp_path, "chat", *rounds, web=web) as (url, model, _):
        await ask(url, tools=[{"type": "web_search", "filters": {"allowed_domains": ["a.org"]}}])
    assert "www.a.org" in str(model.prompts()[1])
    assert "b.org/y" not in str(model.prompts()[1])
    assert "not of the domains that may be searched" in str(model.prompts()[2])


async def test_without_external_access_no_page_is_offered(tmp_path: Path) -> None:
    async with wired(tmp_path, "chat", SEARCHES, ANSWERS) as (url, model, _):
        await ask(url, tools=[{"type": "web_search", "external_web_access": False}])
    assert [tool["function"]["name"] for tool in model.asked[0]["tools"]] == ["web_search"]


async def test_sources_are_listed_where_they_are_asked_for(tmp_path: Path) -> None:
    async with wired(tmp_path, "chat", SEARCHES, ANSWERS) as (url, _, _):
        response = (await ask(url, include=["web_search_call.action.sources"])).json
    assert response["output"][2]["action"]["sources"] == [{"type": "url", "url": "https://quokka.example.org/"}]


@pytest.mark.requirement("loop.standalone-search")
async def test_codexs_own_search_is_answered(tmp_path: Path) -> None:
    page = b"<html><title>Burrows</title><p>They dig.</p><a href='/deep'>deeper</a></html>"
    web = Web({"quokka": [QUOKKA]}, {"/burrows": ("text/html", page), "/deep": ("text/plain", b"very deep")})
    async with wired(tmp_path, "chat", ANSWERS, web=web) as (url, _, web):
        commands = {
            "search_query": [{"q": "quokka"}],
            "open": [{"ref_id": f"{web.url}/burrows"}, {"ref_id": "http://127.0.0.1:1/secret"}],
            "click": [{"ref_id": f"{web.url}/burrows", "id": 0}],
            "find": [{"ref_id": f"{web.url}/burrows", "pattern": "DIG"}],
            "weather": [{"location": "Ulm"}],
        }
        reply = await fetch(url, {"id": "x", "model": "m", "commands": commands, "max_output_tokens": 5000}, path="/v1/alpha/search")
        short = await fetch(url, {"id": "x", "model": "m", "commands": commands, "max_output_tokens": 10}, path="/v1/alpha/search")
        bad = await fetch(url, {"id": "x", "model": "m"}, path="/v1/alpha/search")
    output = reply.json["output"]
    for words in (
        "https://quokka.example.org/",
        "They dig.",
        "L1: very deep",
        "1 lines match 'DIG'",
        "weather: this cannot",
        "not allowed",
    ):
        assert words in output
    assert "more characters left out" in short.json["output"]
    assert (bad.status, bad.error["param"]) == (400, "commands")


async def test_without_a_service_there_is_no_search() -> None:
    async with gateway("http://127.0.0.1:9/v1", api="chat", dialect="chat") as url:
        reply = await fetch(url, {"commands": {}}, path="/v1/alpha/search")
    assert (reply.status, "web_search" in reply.error["message"]) == (404, True)
