"""The chat template of the embedded model, as llama.cpp itself lays prompts out with it, and what comes of it."""

import json
import urllib.request
from itertools import pairwise
from typing import Any

import pytest

from antiphon.local_model import LocalModel

pytestmark = pytest.mark.real

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def tool(name: str, about: str, **parameters: str) -> dict[str, Any]:
    shape = {"type": "object", "properties": {each: {"type": kind} for each, kind in parameters.items()}, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": shape}}


WEATHER = tool("get_weather", "Get the current weather of a city", city="string")
ADD = tool("add", "Add two numbers", a="number", b="number")
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "What is the weather in Paris?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"},
    {"role": "assistant", "content": "It has 21 degrees."},
    {"role": "developer", "content": "The folder has changed."},
    {"role": "user", "content": "Thanks."},
]


def asked(model: LocalModel, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    with DIRECT.open(urllib.request.Request(f"{model.url}{path}", data, {"content-type": "application/json"}), timeout=60) as answer:
        return json.load(answer)


def laid_out(model: LocalModel, messages: list[dict[str, Any]], *tools: dict[str, Any]) -> str:
    """What the model reads, without what asks it to begin its answer."""
    return asked(model, "/apply-template", {"messages": messages, "tools": list(tools)})["prompt"].removesuffix("<|im_start|>assistant\n")


def answered(model: LocalModel, text: str, *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": text}], **more} | ({"tools": list(tools)} if tools else {})
    return asked(model, "/v1/chat/completions", body)


def test_it_says_what_it_is_and_what_fits_into_it(embedded_model: LocalModel) -> None:
    listed, props = asked(embedded_model, "/v1/models"), asked(embedded_model, "/props")
    assert [entry["id"] for entry in listed["data"]] == ["smollm2-135m-instruct"]
    assert props["default_generation_settings"]["n_ctx"] == 8192
    assert props["chat_template_caps"]["supports_tools"]
    assert props["chat_template_caps"]["supports_tool_calls"]


def test_tools_and_messages_all_reach_the_model(embedded_model: LocalModel) -> None:
    prompt = laid_out(embedded_model, CONVERSATION, WEATHER, ADD)
    wanted = [
        "Be kind.\n\nBe brief.",
        '"get_weather"',
        '"add"',
        '{"name": "get_weather", "arguments": {"city": "Paris"}}',
        "21 degrees",
        "has changed",
    ]
    assert [text for text in wanted if text not in prompt] == []
    assert prompt.count("<tool_call>\n{") == 4, "the form, two worked calls, one of the conversation"


@pytest.mark.parametrize("tools", [(), (WEATHER, ADD)], ids=["plain", "tools"])
def test_a_longer_conversation_begins_with_the_shorter_one(embedded_model: LocalModel, tools: tuple[dict[str, Any], ...]) -> None:
    prompts = [laid_out(embedded_model, CONVERSATION[:end], *tools) for end in (3, 5, 8)]
    assert [longer.startswith(shorter) for shorter, longer in pairwise(prompts)] == [True, True]


def test_it_answers_and_repeats_itself_exactly(embedded_model: LocalModel) -> None:
    first, second = (answered(embedded_model, "What is the capital of France?")["choices"][0] for _ in range(2))
    assert first == second
    assert (first["finish_reason"], "Paris" in first["message"]["content"]) == ("stop", True)


def test_it_calls_a_fitting_tool(embedded_model: LocalModel) -> None:
    choice = answered(embedded_model, "What is the weather in Paris?", WEATHER)["choices"][0]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]) == ("tool_calls", {"name": "get_weather", "arguments": '{"city": "Paris"}'})


def test_a_model_that_loops_is_cut(embedded_model: LocalModel) -> None:
    answer = answered(embedded_model, "Tell me a story.", ignore_eos=True)
    assert (answer["choices"][0]["finish_reason"], answer["usage"]["completion_tokens"]) == ("length", 256)


def test_no_web_page_may_read_from_it(embedded_model: LocalModel) -> None:
    request = urllib.request.Request(f"{embedded_model.url}/v1/models", headers={"Origin": "http://evil.example"})
    with DIRECT.open(request, timeout=10) as answer:
        assert not answer.headers["access-control-allow-origin"]
