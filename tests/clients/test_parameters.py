"""Every parameter that the newest openai-python knows of `responses.create`, on both kinds of upstream: sent, answered here, told, or refused.

The list is the SDK's own, so that a new release fails here until somebody has decided what becomes of its new parameters.
"""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest
import typing_extensions
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from openai.types.responses.response_includable import ResponseIncludable
from openai.types.responses.tool_param import ToolParam

from tests.clients.strict import complaints
from tests.http.conftest import wired
from tests.wires.client import fetch
from tests.wires.upstream import Call, Upstream, completion, data, response, streaming, whole

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("clients.parameters")]

OPENED = {"reasoning", "text", "stream_options"}
"""Objects whose members are decided one by one."""


class Sent(NamedTuple):
    """The upstream gets it, under these names."""

    fields: dict[str, Any]


class Told(NamedTuple):
    """It is named in `x-antiphon-dropped`."""

    where: str = ""


class Refused(NamedTuple):
    """A 400 that names it."""


class Here(NamedTuple):
    """The gateway itself does what it asks for; the upstream need not know."""


Becomes = Sent | Told | Refused | Here

FUNCTION = {"type": "function", "name": "f", "description": "", "parameters": {"type": "object", "properties": {}}, "strict": None}
JSON = {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}
CHAT: dict[str, tuple[Any, Becomes]] = {
    "access_programs": ({"cyber": "standard"}, Told()),
    "background": (True, Refused()),
    "context_management": ([{"type": "compaction", "compact_threshold": 1000}], Told()),
    "conversation": ("conv_1", Refused()),
    "image": ({"context_compression": "enabled"}, Told()),
    "include": (["message.output_text.logprobs"], Sent({"logprobs": True})),
    "input": ("hi", Sent({"messages": [{"role": "user", "content": "hi"}]})),
    "instructions": ("Be brief.", Sent({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]})),
    "max_output_tokens": (100, Sent({"max_tokens": 100})),
    "max_tool_calls": (3, Here()),
    "metadata": ({"a": "b"}, Here()),
    "model": ("m", Sent({"model": "m"})),
    "moderation": ({"model": "omni-moderation-latest"}, Told()),
    "parallel_tool_calls": (False, Sent({"parallel_tool_calls": False})),
    "previous_response_id": ("resp_1", Refused()),
    "prompt": ({"id": "pmpt_1"}, Refused()),
    "prompt_cache_key": ("key", Told()),
    "prompt_cache_options": ({"mode": "explicit"}, Told()),
    "prompt_cache_retention": ("24h", Told()),
    "reasoning.effort": ("high", Sent({"reasoning_effort": "high"})),
    "reasoning.summary": ("auto", Here()),
    "reasoning.generate_summary": ("auto", Told()),
    "reasoning.context": ("all_turns", Told()),
    "reasoning.mode": ("pro", Told()),
    "safety_identifier": ("someone", Told()),
    "service_tier": ("flex", Told()),
    "store": (True, Told()),
    "stream": (True, Sent({"stream": True})),
    "stream_options.include_obfuscation": (True, Told()),
    "temperature": (0.5, Sent({"temperature": 0.5})),
    "text.format": (JSON["format"], Sent({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}})),
    "text.verbosity": ("low", Told()),
    "tool_choice": ("none", Sent({"tool_choice": "none"})),
    "tools": ([FUNCTION], Sent({"tools": [{"type": "function", "function": {"name": "f", "description": "", "parameters": FUNCTION["parameters"]}}]})),
    "top_logprobs": (2, Sent({"logprobs": True, "top_logprobs": 2})),
    "top_p": (0.5, Sent({"top_p": 0.5})),
    "truncation": ("auto", Told()),
    "user": ("someone", Told()),
}  # fmt: skip
"""Parameter → a value of it, and what becomes of it on a server that speaks Chat Completions as most do."""

NOT_ECHOED = {
    "store": "nothing is kept, and the answer says so",
    "input": "it is no part of a response",
    "access_programs": "it tells what was granted, and here nobody grants it",
    "image": "not on a chat server, which has no such thing",
    "moderation": "the same",
    "prompt_cache_options": "the same",
}
"""Parameters of which the response has a field that does not repeat them, and why."""


def documented() -> Iterator[str]:
    """The parameters, with the members of those that are opened."""
    for name, hint in get_type_hints(ResponseCreateParamsStreaming).items():
        if name not in OPENED:
            yield name
            continue
        shapes = [one for one in (hint, *get_args(hint)) if typing_extensions.is_typeddict(one)]
        assert shapes, f"{name} is no object any more"
        yield from (f"{name}.{member}" for member in get_type_hints(shapes[0]))


def test_every_documented_parameter_is_decided() -> None:
    assert sorted(documented()) == sorted(CHAT)


@pytest.fixture(scope="module")
async def chat() -> AsyncIterator[tuple[Upstream, str]]:
    async for one in wired("chat", "chat"):
        yield one.upstream, one.url


@pytest.fixture(scope="module")
async def responses() -> AsyncIterator[tuple[Upstream, str]]:
    async for one in wired("responses", "responses"):
        yield one.upstream, one.url


def asked(name: str) -> dict[str, Any]:
    """A request with that parameter."""
    value, _ = CHAT[name]
    outer, _, inner = name.partition(".")
    with_tools = {"tools": [FUNCTION]} if outer in ("tool_choice", "parallel_tool_calls") else {}
    with_stream = {"stream": True} if outer == "stream_options" else {}
    return {"model": "m", "input": "hi", **with_tools, **with_stream, outer: {inner: value} if inner else value}


TOKEN = {"token": "a", "logprob": -1.0, "bytes": [97], "top_logprobs": []}


def weighed() -> dict[str, Any]:
    """An answer that says how sure it is."""
    answer = completion("a")
    answer["choices"][0]["logprobs"] = {"content": [TOKEN]}
    return answer


@pytest.mark.parametrize("name", CHAT)
async def test_on_a_chat_server(chat: tuple[Upstream, str], name: str) -> None:
    upstream, url = chat
    body = asked(name)
    answer = data({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}, b"[DONE]")
    upstream.answers(streaming(answer) if body.get("stream") else whole(weighed()))
    reply = await fetch(url, body)
    _, becomes = CHAT[name]
    if isinstance(becomes, Refused):
        assert (reply.status, reply.error["param"], upstream.posts) == (400, name, [])
        assert name in reply.error["message"]
        return
    sent = json.loads(upstream.posts[0].body)
    told = reply.headers.get("x-antiphon-dropped", "").partition("; count=")[0]
    assert reply.status == 200
    if isinstance(becomes, Sent):
        assert {field: sent.get(field) for field in becomes.fields} == becomes.fields
    else:
        assert sent.keys() <= {"model", "messages", "stream", "stream_options"}
    assert told == (name if isinstance(becomes, Told) else "")


@pytest.mark.parametrize("name", CHAT)
async def test_on_a_responses_server(responses: tuple[Upstream, str], name: str) -> None:
    """It gets all of them, in the client's own spelling: what it cannot do it says itself."""
    upstream, url = responses
    body = asked(name)
    events = b"".join(
        b"data: " + json.dumps(event).encode() + b"\n\n" for event in [{"type": "response.completed", "response": response()}]
    )
    upstream.answers(streaming(events) if body.get("stream") else whole(response()))
    reply = await fetch(url, body)
    outer = name.partition(".")[0]
    assert reply.status == 200
    assert json.loads(upstream.posts[0].body)[outer] == body[outer]
    assert "x-antiphon-dropped" not in reply.headers


ECHOED = [name for name in CHAT if name.partition(".")[0] in Response.model_fields and name.partition(".")[0] not in NOT_ECHOED]


@pytest.mark.requirement("responses.settings-echo")
@pytest.mark.parametrize("name", [name for name in ECHOED if not isinstance(CHAT[name][1], Refused)])
async def test_the_response_repeats_every_setting(chat: tuple[Upstream, str], responses: tuple[Upstream, str], name: str) -> None:
    outer, _, inner = name.partition(".")
    body = asked(name)
    for (upstream, url), answer in ((chat, completion()), (responses, response())):
        upstream.answers(whole(answer))
        repeated = (await fetch(url, body)).json[outer]
        assert (repeated[inner] if inner else repeated) == CHAT[name][0]


INCLUDED = dict.fromkeys(get_args(ResponseIncludable), "include[0]") | {"message.output_text.logprobs": ""}
"""What a client may wish to see, and where it is told that it does not."""


@pytest.mark.parametrize("wish", INCLUDED)
async def test_every_wish_of_include_is_met_or_told(chat: tuple[Upstream, str], wish: str) -> None:
    upstream, url = chat
    upstream.answers(whole(weighed()))
    reply = await fetch(url, {"model": "m", "input": "hi", "include": [wish]})
    told = reply.headers.get("x-antiphon-dropped", "")
    assert told == (f"{INCLUDED[wish]} ({wish}); count=1" if INCLUDED[wish] else "")
    assert reply.json["output"][0]["content"][0]["logprobs"] == ([] if told else [TOKEN])


def kinds() -> Iterator[str]:
    """The kinds of tools that the SDK knows."""
    for shape in get_args(ToolParam):
        yield from get_args(get_args(get_type_hints(shape, include_extras=True)["type"])[0]) or [shape.__name__]


RUN_BY_THE_CLIENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "function": ({"name": "f", "parameters": {"type": "object"}, "strict": False}, {"a": 1}),
    "custom": ({"name": "f"}, {"input": "raw"}),
    "namespace": ({"name": "n", "description": "", "tools": [FUNCTION]}, {"a": 1}),
    "tool_search": ({"execution": "client"}, {"query": "q"}),
    "local_shell": ({}, {"command": ["ls"]}),
    "shell": ({"environment": {"type": "local"}}, {"commands": ["ls"]}),
    "apply_patch": ({}, {"type": "update_file", "path": "a.txt", "diff": "@@\n-a\n+b"}),
}
"""Kinds of which the client runs the calls itself: what else such a tool has, and arguments for it."""


@pytest.mark.parametrize("kind", sorted({*kinds()}))
async def test_every_kind_of_tool_reaches_the_model_or_is_told(chat: tuple[Upstream, str], kind: str) -> None:
    upstream, url = chat
    upstream.answers(whole(completion()))
    more, _ = RUN_BY_THE_CLIENT.get(kind, ({}, {}))
    reply = await fetch(url, {"model": "m", "input": "hi", "tools": [{"type": kind, **more}]})
    sent = json.loads(upstream.posts[0].body)
    assert reply.status == 200
    if kind in RUN_BY_THE_CLIENT:
        assert len(sent["tools"]) >= 1
        assert "x-antiphon-dropped" not in reply.headers
    else:
        assert "tools" not in sent
        assert reply.headers["x-antiphon-dropped"] == f"tools[0] (nobody here runs {kind}); count=1"


@pytest.mark.requirement("clients.strict")
@pytest.mark.parametrize("kind", RUN_BY_THE_CLIENT)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
async def test_a_call_of_each_kind_is_what_the_sdk_expects(chat: tuple[Upstream, str], kind: str, stream: bool) -> None:
    upstream, url = chat
    more, arguments = RUN_BY_THE_CLIENT[kind]

    async def calling(call: Call) -> None:
        """Calls the tool by the name that it was told."""
        name = json.loads(call.body)["tools"][0]["function"]["name"]
        called = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        said = {"role": "assistant", "content": None, "tool_calls": [called]}
        choice = {"index": 0, "finish_reason": "tool_calls", "delta" if stream else "message": said}
        await (streaming(data({"choices": [choice]}, b"[DONE]")) if stream else whole({"choices": [choice]}))(call)

    upstream.answers(calling)
    reply = await fetch(url, {"model": "m", "input": "hi", "tools": [{"type": kind, **more}], "stream": stream})
    assert complaints("/v1/responses", reply.headers["content-type"], reply.body) == []
    (item,) = (reply.events[-1]["response"] if stream else reply.json)["output"]
    assert item["call_id"] == "call_1"
