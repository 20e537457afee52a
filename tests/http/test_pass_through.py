"""What a client may send reaches an upstream that takes everything as the very bytes it was; elsewhere what is lost is told."""

import gzip
import json
import sys
import zlib

import pytest

from tests.http.conftest import Wired
from tests.wires.client import fetch
from tests.wires.upstream import named, responses_events, streaming

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.anyio

FIELDS: dict[str, str] = {
    "model": '"m"',
    "stream": "true",
    "background": "false",
    "conversation": '{"id": "conv_1"}',
    "context_management": '[{"type": "compaction", "compact_threshold": 1e5}]',
    "include": '["reasoning.encrypted_content", "something.new"]',
    "instructions": r'"say \"h\u00e9llo\" \ud83d\ude00 \/ ok"',
    "max_output_tokens": "1000",
    "max_tool_calls": "3",
    "metadata": '{"a": "1", "b": "", "ünï": "🌍"}',
    "moderation": '{"model": "omni"}',
    "multi_agent": '{"enabled": true}',
    "parallel_tool_calls": "null",
    "previous_response_id": '"resp_0"',
    "prompt": '{"id": "pmpt_1", "version": "2", "variables": {"x": {"type": "input_text", "text": "y"}}}',
    "prompt_cache_key": '"key"',
    "prompt_cache_retention": '"24h"',
    "prompt_cache_options": '{"mode": "explicit"}',
    "reasoning": '{"effort": "minimal", "summary": "auto", "generate_summary": null, "mode": "pro", "unknown": [1.0]}',
    "safety_identifier": '"user-1"',
    "service_tier": '"flex"',
    "store": "false",
    "stream_options": '{"include_obfuscation": false}',
    "temperature": "1.0",
    "text": '{"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}, "verbosity": "low"}',
    "tool_choice": '{"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}',
    "top_logprobs": "0",
    "top_p": "9.9e-1",
    "truncation": '"disabled"',
    "user": '"someone"',
    "client_metadata": '{"x-codex-window-id": "1"}',
    "access_policy": '{"kind": "new"}',
    "frequency_penalty": "-0.0",
    "presence_penalty": "0.5E+0",
    "seed": "123456789012345678901234567890",
    "stop": '["a", "b"]',
    "logit_bias": '{"50256": -100}',
    "generate": "true",
    "verbosity": '"high"',
    "extra_body": '{"deep": [[[[{"er": null}]]]]}',
    "nothing": "null",
    "empty": '""',
    "emptier": "[]",
    "emptiest": "{}",
    "huge": "1e400",
    "spaced": '{ "a" :\t1 ,\n "b" : [ ] }',
    "__proto__": '{"polluted": true}',
    "constructor": '"here"',
}
ITEMS = [
    '{"type": "message", "role": "user", "content": "plain"}',
    '{"role": "developer", "content": [{"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}]}',
    '{"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "original"}]}',
    '{"type": "message", "role": "user", "content": [{"type": "input_file", "file_id": "file_1"}, {"type": "input_hologram", "depth": 3}]}',
    '{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA", "content": null}',
    '{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{ \\"a\\" : 1 }", "namespace": "ns", "caller": {"type": "direct"}}',
    '{"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "ok"}]}',
    '{"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin Patch"}',
    '{"type": "custom_tool_call_output", "call_id": "c2", "output": {"content": "done", "success": true}}',
    '{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}',
    '{"type": "local_shell_call", "call_id": "c3", "status": "completed", "action": {"type": "exec", "command": ["ls"]}}',
    '{"type": "tool_search_call", "call_id": "c4", "execution": "client", "arguments": {"query": "x"}}',
    '{"type": "compaction", "encrypted_content": "xyz"}',
    '{"type": "item_reference", "id": "msg_1"}',
    '{"type": "teleport", "id": "tp_1", "where": {"lat": 1.50, "lon": -0}}',
]
TOOLS = [
    '{"type": "function", "name": "f", "parameters": null, "strict": null, "defer_loading": true}',
    '{"type": "function", "name": "__proto__", "parameters": {"type": "object", "properties": {"__proto__": {"type": "string"}}}}',
    '{"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: \\"x\\""}}',
    '{"type": "namespace", "name": "ns", "description": "d", "tools": [{"type": "function", "name": "f"}]}',
    '{"type": "web_search", "external_web_access": true, "search_context_size": "high"}',
    '{"type": "image_generation", "output_format": "png"}',
    '{"type": "mcp", "server_label": "s", "server_url": "https://example.org/mcp"}',
    '{"type": "tool_search", "execution": "client"}',
    '{"type": "divination", "instrument": "tea leaves"}',
]
EVERYTHING = ("{" + ", ".join(f'"{name}": {value}' for name, value in FIELDS.items())).encode()
EVERYTHING += f', "input": [{", ".join(ITEMS)}],\n "tools": [{", ".join(TOOLS)}] }}'.encode()

ENCODINGS = {
    "plain": ("", lambda body: body),
    "identity": ("identity", lambda body: body),
    "zstd": ("zstd", zstd.compress),
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "in capitals": (" GZIP ", gzip.compress),
}


@pytest.mark.requirement("responses.pass-through", "document.unedited", "http.compressed")
@pytest.mark.parametrize(("encoding", "packed"), ENCODINGS.values(), ids=ENCODINGS)
async def test_every_byte_arrives(openai: Wired, encoding: str, packed) -> None:
    assert len(FIELDS) >= 40
    openai.upstream.answers(streaming(named(*responses_events())))
    headers = {"content-encoding": encoding} if encoding else {}
    reply = await fetch(openai.url, packed(EVERYTHING), headers=headers)
    assert reply.status == 200
    assert openai.upstream.posts[0].body == EVERYTHING
    assert "content-encoding" not in openai.upstream.posts[0].headers
    assert "x-antiphon-dropped" not in reply.headers
    assert reply.body == named(*responses_events())


@pytest.mark.requirement("responses.pass-through")
@pytest.mark.parametrize("name", [name for name in FIELDS if name not in ("model", "stream")])
async def test_each_field_alone_arrives(openai: Wired, name: str) -> None:
    body = f'{{"input":"hi","model":"m","stream":true,"{name}":{FIELDS[name]}}}'.encode()
    openai.upstream.answers(streaming(named(*responses_events())))
    assert (await fetch(openai.url, body)).status == 200
    assert openai.upstream.posts[0].body == body


@pytest.mark.requirement("responses.pass-through")
async def test_the_upstreams_answer_comes_back_as_it_was(openai: Wired) -> None:
    events = responses_events("a b", surprise={"deep": [1, None]})
    events[4]["obfuscation"] = "xxx"
    stream = b": hello\n\n" + named(*events)
    openai.upstream.answers(streaming(stream))
    reply = await fetch(openai.url, {"model": "m", "input": "hi", "stream": True})
    assert reply.events == events


FORWARDED = {
    "openai-beta": "responses=v1",
    "x-codex-turn-metadata": '{"turn":1}',
    "x-client-request-id": "r1",
    "session-id": "s1",
    "thread-id": "t1",
    "originator": "codex_exec",
}
KEPT = {"authorization": "Bearer mine", "cookie": "a=b", "x-api-key": "mine", "accept-language": "de", "x-forwarded-for": "192.0.2.1"}


@pytest.mark.requirement("responses.pass-through", "security.keys")
async def test_which_headers_travel(openai: Wired) -> None:
    openai.upstream.answers(streaming(named(*responses_events())))
    await fetch(openai.url, {"model": "m", "input": "hi", "stream": True}, headers=FORWARDED | KEPT)
    got = openai.upstream.posts[0].headers
    assert {name: got.get(name) for name in FORWARDED} == FORWARDED
    assert [name for name in KEPT if name in got] == []


@pytest.mark.requirement("responses.table-edits", "document.edited")
async def test_with_other_dialects_only_the_tables_fields_change_and_are_told(responses: Wired) -> None:
    given = {name: value for name, value in FIELDS.items() if name not in ("tool_choice", "parallel_tool_calls", "input", "tools")}
    body = ("{" + ",".join(f'"{name}":{value}' for name, value in given.items()) + ',"input":"hi"}').encode()
    responses.upstream.answers(streaming(named(*responses_events())))
    reply = await fetch(responses.url, body)
    sent = responses.upstream.posts[0].body
    assert reply.headers["x-antiphon-dropped"] == "client_metadata; count=1"
    for name, value in given.items():
        assert (f'"{name}":{value}'.encode() in sent) == (name != "client_metadata"), name


@pytest.mark.requirement("responses.table-edits", "tools.unrunnable", "document.unknown-items")
async def test_what_is_left_out_is_told(chat: Wired, responses: Wired) -> None:
    tools = [json.loads(tool) for tool in TOOLS[1:]]
    for one in (chat, responses):
        reply = await one.ask(streaming(b"data: [DONE]\n\n"), tools=tools, input=[json.loads(item) for item in (ITEMS[0], ITEMS[-1])])
        told = reply.headers["x-antiphon-dropped"]
        for lost in ("web_search", "image_generation", "mcp", "divination", "teleport"):
            assert lost in told
        assert "count=" in told


HOSTILE = ["a\r\nset-cookie: x=1", "naïve 🌍", "x" * 5000, "a,b;c", "\x00\x7f", "\u2028", "", " "]


@pytest.mark.requirement("responses.table-edits", "tools.odd-names")
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
async def test_odd_names_never_break_a_header(chat: Wired, responses: Wired, name: str) -> None:
    tools = [
        {"type": name or "nameless", "name": name},
        {"type": "function", "name": name, "parameters": {"type": "object"}},
        {"type": "function", "name": name, "parameters": {"type": "object"}},
        {"type": "namespace", "name": name, "tools": [{"type": name, "name": name}]},
    ]
    for one in (chat, responses):
        reply = await one.ask(streaming(b"data: [DONE]\n\n"), tools=tools)
        assert reply.status == 200, reply.body
        assert "set-cookie" not in reply.headers
        told = reply.headers["x-antiphon-dropped"]
        assert told.isascii()
        assert told.isprintable()
        assert len(told) < 8000


@pytest.mark.requirement("responses.table-edits")
async def test_the_header_is_capped_and_counts(responses: Wired) -> None:
    tools = [{"type": f"unknown_{number}"} for number in range(500)]
    reply = await responses.ask(streaming(named(*responses_events())), tools=tools)
    told = reply.headers["x-antiphon-dropped"]
    assert told.endswith("more; count=500")
    assert len(told) < 8000
