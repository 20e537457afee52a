"""What the scripted servers answer: whole streams that OpenAI's own SDK types accept, usage, endings, keys, the record."""

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.scripted.chat_server import STYLES, ChatWire
from tests.scripted.responses_server import ResponsesWire
from tests.scripted.scenarios import BUSY_WAIT, SCRIPTS, failing, text
from tests.scripted.script import Answer, Call, Ending, Json, Reasoning, Reply, Script, Text, Usage, View
from tests.scripted.server import ScriptedServer, Wire

ROOT = Path(__file__).parents[2]
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
PATCH: Json = {"type": "object", "properties": {"patch": {"type": "string"}, "note": {"type": "string"}}, "required": ["patch"]}
EDIT: Json = {"type": "function", "name": "edit", "strict": False, "parameters": PATCH}
BODIES: dict[str, Json] = {
    "/chat/completions": {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [{"type": "function", "function": {"name": "ns__edit", "parameters": PATCH}}],
    },
    "/responses": {
        "model": "m",
        "input": [{"role": "user", "content": "hello"}],
        "tools": [{"type": "namespace", "name": "ns", "description": "", "tools": [EDIT]}],
    },
}
CHAT, RESPONSES = ChatWire(), ResponsesWire()
USAGE = Usage(input=40, cached=30, output=20, reasoning=10)


def everything(ending: Ending) -> Script:
    """One part of each kind, then two calls."""

    def script(view: View) -> Reply:
        tool = view.tool("edit")
        calls = (Call(tool, "*** Begin Patch: ünïcode"), Call(tool, {"patch": "x", "note": view.prompt}))
        return Answer(parts=(Reasoning("hm, hello"), Text("I will edit."), *calls), usage=USAGE, ending=ending)

    return script


async def _got(wire: Wire, script: Script, **fields: object) -> tuple[int, bytes]:
    body = BODIES[wire.path] | fields
    async with (
        ScriptedServer(wire, script) as server,
        aiohttp.ClientSession() as client,
        client.post(server.url + wire.path, json=body) as response,
    ):
        return response.status, await response.read()


def streamed(wire: Wire, script: Script, **fields: object) -> list[Json]:
    status, body = asyncio.run(_got(wire, script, stream=True, **fields))
    assert status == 200
    return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ") and line != "data: [DONE]"]


def document(wire: Wire, script: Script) -> Json:
    return json.loads(asyncio.run(_got(wire, script))[1])


def arguments(call: Json) -> Json:
    return json.loads(call["arguments"])


def test_responses_stream_is_openais() -> None:
    events = streamed(RESPONSES, everything("complete"))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    for event in events:
        EVENT.validate_python(event)
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == events[-1]["response"]["output"]
    assert [item["type"] for item in done] == ["reasoning", "message", "function_call", "function_call"]
    assert [(item["namespace"], arguments(item)) for item in done[2:]] == [
        ("ns", {"patch": "*** Begin Patch: ünïcode"}),
        ("ns", {"patch": "x", "note": "hello"}),
    ]
    Response.model_validate(events[-1]["response"])


def test_responses_deltas_make_the_items() -> None:
    events = streamed(RESPONSES, everything("complete"))
    kinds = ("output_text", "reasoning_summary_text", "function_call_arguments")
    joined = {kind: "".join(event["delta"] for event in events if event["type"] == f"response.{kind}.delta") for kind in kinds}
    first, second = ({"patch": "*** Begin Patch: ünïcode"}, {"patch": "x", "note": "hello"})
    assert joined == {
        "output_text": "I will edit.",
        "reasoning_summary_text": "hm, hello",
        "function_call_arguments": json.dumps(first) + json.dumps(second),
    }


def test_responses_custom_call_is_raw() -> None:
    def script(view: View) -> Reply:
        return Answer(parts=(Call(view.tool("apply_patch"), "*** Begin Patch"),))

    events = streamed(RESPONSES, script, tools=[{"type": "custom", "name": "apply_patch"}])
    for event in events:
        EVENT.validate_python(event)
    assert events[-1]["response"]["output"][0]["input"] == "*** Begin Patch"


def test_chat_stream_is_openais() -> None:
    chunks = streamed(CHAT, everything("complete"), stream_options={"include_usage": True})
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk)
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-1]["choices"] == []
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    assert "".join(delta.get("content", "") for delta in deltas) == "I will edit."
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "hm, hello"
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert [(call["index"], call["function"]["name"]) for call in calls if "id" in call] == [(0, "ns__edit"), (1, "ns__edit")]
    joined = ["".join(call["function"]["arguments"] for call in calls if call["index"] == index) for index in (0, 1)]
    assert [json.loads(each) for each in joined] == [{"patch": "*** Begin Patch: ünïcode"}, {"patch": "x", "note": "hello"}]


def test_chat_sends_usage_only_if_asked() -> None:
    assert not any("usage" in chunk for chunk in streamed(CHAT, everything("complete")))
    asked = streamed(CHAT, everything("complete"), stream_options={"include_usage": True})
    assert [chunk["usage"] for chunk in asked[:-1]] == [None] * (len(asked) - 1)
    assert asked[-1]["usage"] == {
        "prompt_tokens": 40,
        "completion_tokens": 20,
        "total_tokens": 60,
        "prompt_tokens_details": {"cached_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 10},
    }


def test_documents_are_openais() -> None:
    chat, response = document(CHAT, everything("complete")), document(RESPONSES, everything("complete"))
    ChatCompletion.model_validate(chat)
    Response.model_validate(response)
    assert chat["choices"][0]["finish_reason"] == "tool_calls"
    assert [arguments(call["function"]) for call in chat["choices"][0]["message"]["tool_calls"]] == [
        arguments(item) for item in response["output"] if item["type"] == "function_call"
    ]
    assert response["usage"]["input_tokens_details"] == {"cached_tokens": 30, "cache_write_tokens": 0}


@pytest.mark.parametrize("wire", [CHAT, RESPONSES], ids=["chat", "responses"])
@pytest.mark.parametrize("ending", ["eof", "garbage"])
def test_a_broken_stream_has_no_end(wire: Wire, ending: Ending) -> None:
    status, body = asyncio.run(_got(wire, everything(ending), stream=True))
    assert status == 200
    assert (b"no JSON" in body) == (ending == "garbage")
    assert b'finish_reason": "' not in body
    assert b"response.completed" not in body
    assert b"[DONE]" not in body


@pytest.mark.parametrize("wire", [CHAT, RESPONSES], ids=["chat", "responses"])
def test_an_aborted_stream_drops_the_connection(wire: Wire) -> None:
    with pytest.raises(aiohttp.ClientPayloadError):
        asyncio.run(_got(wire, everything("abort"), stream=True))


def test_a_length_cut_ends_inside_the_call() -> None:
    chunks = streamed(CHAT, everything("length"))
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"
    last = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", []) if call["index"] == 1]
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads("".join(call["function"]["arguments"] for call in last))
    event = streamed(RESPONSES, everything("length"))[-1]
    assert (event["type"], event["response"]["incomplete_details"]) == ("response.incomplete", {"reason": "max_output_tokens"})


async def _kept() -> tuple[list[int], list[str], list[Json]]:
    script = failing(BUSY_WAIT, times=1)
    async with ScriptedServer(CHAT, script, key="right") as server, aiohttp.ClientSession() as client:
        statuses, waits = [], []
        for key in ("wrong", "right", "right"):
            headers = {"authorization": f"Bearer {key}"}
            async with client.post(server.url + CHAT.path, json=BODIES[CHAT.path], headers=headers) as response:
                statuses.append(response.status)
                waits.append(response.headers.get("retry-after", ""))
        async with client.get(server.url.removesuffix("v1") + "_requests") as response:
            return statuses, waits, await response.json()


def test_keys_failures_and_the_record() -> None:
    statuses, waits, exchanges = asyncio.run(_kept())
    assert statuses == [401, 200, 200]
    assert waits == ["", "", ""]
    assert [(exchange["number"], exchange["status"]) for exchange in exchanges] == [(1, 401), (2, 200), (3, 200)]
    assert exchanges[1]["body"] == BODIES[CHAT.path]
    assert exchanges[0]["headers"]["Authorization"] == "Bearer wrong"


def test_a_failure_carries_its_headers_and_ends() -> None:
    async def statuses() -> list[tuple[int, str]]:
        async with ScriptedServer(CHAT, failing(BUSY_WAIT, times=1)) as server, aiohttp.ClientSession() as client:
            seen: list[tuple[int, str]] = []
            for _ in range(2):
                async with client.post(server.url + CHAT.path, json=BODIES[CHAT.path]) as response:
                    seen.append((response.status, response.headers.get("retry-after", "")))
            return seen

    assert asyncio.run(statuses()) == [(429, "1"), (200, "")]


def test_a_script_that_misses_something_is_a_refusal() -> None:
    status, body = asyncio.run(_got(CHAT, SCRIPTS["exec"]))
    assert status == 400
    assert b"no shell tool is declared, only ns__edit" in body


@pytest.mark.parametrize(("name", "wire"), [("chat_server", CHAT), ("responses_server", RESPONSES)])
def test_runs_as_a_program(name: str, wire: Wire) -> None:
    async def answered() -> tuple[Json, int | None]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"tests.scripted.{name}", "--port", "0"), stdout=asyncio.subprocess.PIPE, cwd=ROOT
        )
        assert process.stdout is not None
        try:
            port = int(await asyncio.wait_for(process.stdout.readline(), 10))
            async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client, client.get("/v1/models") as response:
                models = await response.json()
            process.send_signal(signal.SIGINT)
            return models, await asyncio.wait_for(process.wait(), 10)
        finally:
            if process.returncode is None:
                process.kill()

    models, exit_status = asyncio.run(answered())
    assert ([model["id"] for model in models["data"]], exit_status) == (["scripted-model"], 0)
    assert text is SCRIPTS["text"]
    assert wire.models({})["data"] == models["data"]


def test_styles_stream_in_their_own_way() -> None:
    asked = {"stream_options": {"include_usage": True}}
    repeating, whole, vllm = (
        streamed(ChatWire(STYLES[name]), everything("complete"), **asked) for name in ("llama-cpp-python", "ollama", "vllm")
    )
    calls = [call for chunk in repeating[:-1] for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert {(call["index"], call["id"], call["function"]["name"]) for call in calls} == {
        (0, "call_0001_0", "ns__edit"),
        (1, "call_0001_1", "ns__edit"),
    }
    assert [chunk["choices"][0]["delta"] for chunk in whole[1:3]] == [{"reasoning": "hm, hello"}, {"content": "I will edit."}]
    assert (whole[-1]["choices"][0]["finish_reason"], whole[-1]["usage"]["prompt_tokens"]) == ("tool_calls", 40)
    assert vllm[-2]["choices"][0]["finish_reason"] == "stop"
