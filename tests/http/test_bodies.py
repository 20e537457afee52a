"""Bodies that are too large, compressed, broken or strange: a clear error or a correct answer, and the process lives on."""

import asyncio
import gzip
import json
import sys
import tracemalloc
import zlib
from urllib.parse import urlsplit

import pytest

from tests.http.conftest import Wired
from tests.wires.client import connect, fetch
from tests.wires.upstream import chat as chat_stream
from tests.wires.upstream import named, responses_events, streaming

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.anyio
GOOD = b'{"model":"m","input":"hi","stream":true}'
LIMIT = 1 << 20


async def assert_lives(wired: Wired) -> None:
    wired.upstream.answers(chat_stream() if wired.api == "chat" else streaming(named(*responses_events())))
    assert (await fetch(wired.url, GOOD)).types[-1] == "response.completed"


def head_of(url: str, **headers: str) -> bytes:
    lines = {"host": urlsplit(url).netloc, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return b"POST /v1/responses HTTP/1.1\r\n" + b"".join(f"{name}: {value}\r\n".encode() for name, value in lines.items()) + b"\r\n"


@pytest.mark.requirement("http.limit")
@pytest.mark.parametrize("chunked", [False, True], ids=["content-length", "chunked"])
@pytest.mark.parametrize("size", [LIMIT + 1, 40 << 20])
async def test_a_client_that_is_still_sending_reads_the_413(each: Wired, size: int, chunked: bool) -> None:
    each.upstream.answers(chat_stream())
    piece = b"x" * 65536
    tracemalloc.start()
    async with connect(each.url) as client:
        await client.send(head_of(each.url, **({"transfer_encoding": "chunked"} if chunked else {"content_length": str(size)})))
        for at in range(0, size, len(piece)):
            part = piece[: size - at]
            await client.send(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
        if chunked:
            await client.send(b"0\r\n\r\n")
        answer = await client.until(b"}}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"request_too_large" in answer
    assert peak < 12 << 20
    assert each.upstream.posts == []
    await assert_lives(each)


@pytest.mark.requirement("http.limit")
async def test_the_limit_itself_is_taken(each: Wired) -> None:
    each.upstream.answers(chat_stream() if each.api == "chat" else streaming(named(*responses_events())))
    frame = len(json.dumps({"model": "m", "input": "", "stream": True}))
    assert (await fetch(each.url, {"model": "m", "input": "x" * (LIMIT - frame), "stream": True})).status == 200
    assert (await fetch(each.url, {"model": "m", "input": "x" * (LIMIT - frame + 1), "stream": True})).status == 413


@pytest.mark.requirement("http.limit", "http.compressed")
@pytest.mark.parametrize("pack", [zstd.compress, gzip.compress, zlib.compress], ids=["zstd", "gzip", "deflate"])
async def test_a_bomb_is_413_without_being_unpacked(each: Wired, pack) -> None:
    encoding = {zstd.compress: "zstd", gzip.compress: "gzip", zlib.compress: "deflate"}[pack]
    bomb = pack(b'{"model":"' + b"x" * (200 << 20))
    assert len(bomb) < LIMIT
    tracemalloc.start()
    reply = await fetch(each.url, bomb, headers={"content-encoding": encoding})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (reply.status, reply.error["code"]) == (413, "request_too_large")
    assert peak < 16 << 20
    await assert_lives(each)


PACKED = {
    "zstd cut": ("zstd", zstd.compress(GOOD)[:-5]),
    "gzip cut": ("gzip", gzip.compress(GOOD)[:-9]),
    "deflate cut": ("deflate", zlib.compress(GOOD)[:-5]),
    "gzip cut in its checksum": ("gzip", gzip.compress(GOOD)[:-1]),
    "zstd empty": ("zstd", b""),
    "gzip empty": ("gzip", b""),
    "zstd is none": ("zstd", GOOD),
    "gzip is none": ("gzip", GOOD),
    "gzip broken": ("gzip", gzip.compress(GOOD)[:-12] + b"\x00" * 12),
    "two gzip members": ("gzip", gzip.compress(GOOD[:20]) + gzip.compress(GOOD[20:])),
    "two zstd frames": ("zstd", zstd.compress(GOOD[:20]) + zstd.compress(GOOD[20:])),
    "unknown": ("br", GOOD),
    "two encodings": ("gzip, zstd", GOOD),
}


@pytest.mark.requirement("http.compressed")
@pytest.mark.parametrize(("encoding", "body"), PACKED.values(), ids=PACKED)
async def test_a_broken_encoding_is_400(each: Wired, encoding: str, body: bytes) -> None:
    reply = await fetch(each.url, body, headers={"content-encoding": encoding})
    assert (reply.status, reply.error["code"], reply.error["type"]) == (400, "invalid_encoding", "invalid_request_error")


BROKEN = {
    "empty": (b"", "invalid_json", None),
    "white": (b" \n", "invalid_json", None),
    "truncated": (GOOD[:-10], "invalid_json", None),
    "truncated inside": (b'{"model":"m","input":[{"type":"mess', "invalid_json", None),
    "two documents": (GOOD + GOOD, "invalid_json", None),
    "NaN": (b'{"model":"m","input":"x","temperature":NaN}', "invalid_json", None),
    "Infinity": (b'{"model":"m","input":"x","temperature":-Infinity}', "invalid_json", None),
    "invalid UTF-8": (b'{"model":"m","input":"\xff"}', "invalid_json", None),
    "UTF-16": ('{"model":"m","input":"x"}'.encode("utf-16"), "invalid_json", None),
    "single quotes": (b"{'model':'m'}", "invalid_json", None),
    "comment": (b'{"model":"m"/*x*/}', "invalid_json", None),
    "raw control character": (b'{"model":"m","input":"a\x01b"}', "invalid_json", None),
    "list": (b"[]", "invalid_type", None),
    "null": (b"null", "invalid_type", None),
    "number": (b"1", "invalid_type", None),
    "text": (b'"model"', "invalid_type", None),
    "no model": (b'{"input":"hi"}', "missing_required_parameter", "model"),
    "empty model": (b'{"model":"","input":"hi"}', "missing_required_parameter", "model"),
    "model null": (b'{"model":null,"input":"hi"}', "missing_required_parameter", "model"),
    "model number": (b'{"model":5,"input":"hi"}', "invalid_type", "model"),
    "model list": (b'{"model":["m"],"input":"hi"}', "invalid_type", "model"),
    "stream text": (b'{"model":"m","input":"hi","stream":"yes"}', "invalid_type", "stream"),
    "stream number": (b'{"model":"m","input":"hi","stream":1}', "invalid_type", "stream"),
    "input number": (b'{"model":"m","input":7}', "invalid_type", "input"),
    "input object": (b'{"model":"m","input":{}}', "invalid_type", "input"),
    "tools object": (b'{"model":"m","input":"hi","tools":{}}', "invalid_type", "tools"),
}


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize(("body", "code", "param"), BROKEN.values(), ids=BROKEN)
async def test_a_broken_body_is_400_everywhere(each: Wired, body: bytes, code: str, param: str | None) -> None:
    each.upstream.answers(chat_stream())
    reply = await fetch(each.url, body)
    assert (reply.status, reply.error["type"], reply.error["code"]) == (400, "invalid_request_error", code)
    assert (reply.error["param"] or None) == param
    assert len(reply.body) < 2000
    assert each.upstream.posts == []


BRACKETS = {
    "lists": b'{"model":"m","stream":true,"input":' + b"[" * 3000 + b"]" * 3000 + b"}",
    "objects": b'{"model":"m","stream":true,"input":"x","metadata":' + b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"}",
    "unclosed": b"[" * 3000,
    "in a tool": b'{"model":"m","stream":true,"input":"x","tools":[{"type":"function","name":"f","parameters":'
    + b"[" * 3000
    + b"]" * 3000
    + b"}]}",
    "100,000": b'{"model":"m","stream":true,"input":"x","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.requirement("json.depth")
@pytest.mark.parametrize("body", BRACKETS.values(), ids=BRACKETS)
async def test_deep_nesting_is_400_and_the_process_lives(each: Wired, body: bytes) -> None:
    reply = await fetch(each.url, body)
    assert (reply.status, reply.error["type"]) == (400, "invalid_request_error")
    assert reply.error["code"] in ("invalid_json", "invalid_type")  # whatever comes first
    await assert_lives(each)


WRONG = {
    "output part is text": (
        {
            "input": [
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": ["x"]},
            ]
        },
        "input[1].output[0]",
    ),
    "tool choice is a number": ({"tools": [{"type": "function", "name": "f"}], "tool_choice": 5}, "tool_choice"),
    "item is a number": ({"input": [7]}, "input[0]"),
    "item is null": ({"input": ["x", None]}, "input"),
    "item type is a number": ({"input": [{"type": 7}]}, "input[0].type"),
    "role": ({"input": [{"type": "message", "role": 5, "content": "x"}]}, "input[0].role"),
    "content": ({"input": [{"type": "message", "role": "user", "content": 5}]}, "input[0].content"),
    "part": ({"input": [{"role": "user", "content": [5]}]}, "input[0].content[0]"),
    "part text": ({"input": [{"role": "user", "content": [{"type": "input_text", "text": {"a": 1}}]}]}, "input[0].content[0].text"),
    "call_id": ({"input": [{"type": "function_call_output", "call_id": 1, "output": "x"}]}, "input[0].call_id"),
    "tool is a text": ({"tools": ["f"]}, "tools[0]"),
    "tool name": ({"tools": [{"type": "function", "name": 1}]}, "tools[0].name"),
    "temperature": ({"temperature": "hot"}, "temperature"),
    "effort": ({"reasoning": {"effort": 3}}, "reasoning.effort"),
    "reasoning": ({"reasoning": "high"}, "reasoning"),
    "format": ({"text": {"format": "json"}}, "text.format"),
    "include": ({"include": "all"}, "include"),
    "max_output_tokens": ({"max_output_tokens": "many"}, "max_output_tokens"),
    "instructions": ({"instructions": 5}, "instructions"),
    "previous_response_id": ({"previous_response_id": "resp_1"}, "previous_response_id"),
}


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize(("fields", "param"), WRONG.values(), ids=WRONG)
async def test_a_wrong_type_is_400_with_its_path(chat: Wired, fields: dict[str, object], param: str) -> None:
    chat.upstream.answers(chat_stream())
    reply = await fetch(chat.url, {"model": "m", "input": "hi", "stream": True, **fields})
    assert (reply.status, reply.error["type"]) == (400, "invalid_request_error")
    assert reply.error["param"].startswith(param)
    assert reply.error["param"] in reply.error["message"]
    assert chat.upstream.posts == []


STRANGE = [
    None,
    True,
    0,
    -1.5,
    "",
    "x",
    [],
    [[]],
    {},
    {"type": None},
    [None],
    [{"type": "message"}],
    {"type": "function", "name": "__proto__"},
]
PLACES = [
    "input",
    "tools",
    "tool_choice",
    "reasoning",
    "text",
    "include",
    "metadata",
    "stream_options",
    "max_output_tokens",
    "instructions",
]


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize("place", PLACES)
async def test_any_value_anywhere_is_an_answer_or_a_clear_error(each: Wired, place: str) -> None:
    each.upstream.answers(chat_stream() if each.api == "chat" else streaming(named(*responses_events())))
    items = [{place: value} for value in STRANGE]
    items += [
        {"input": [{"type": kind, place: value}]} for value in STRANGE for kind in ("message", "function_call", "reasoning", "compaction")
    ]
    items += [{"input": [{"role": "user", "content": [{"type": "input_text", "text": "x", place: value}]}]} for value in STRANGE]
    items += [{"tools": [{"type": kind, "name": "f", place: value}]} for value in STRANGE for kind in ("function", "custom", "namespace")]
    for fields in items:
        reply = await fetch(each.url, {"model": "m", "input": "hi", "stream": True, **fields})
        assert reply.status in (200, 400), (fields, reply)
        if reply.status == 400:
            assert reply.error["message"]
        else:
            assert reply.types[-1] == "response.completed"


@pytest.mark.requirement("json.surrogates", "json.duplicate-keys")
async def test_lone_surrogates_and_repeated_keys_are_mended(each: Wired) -> None:
    each.upstream.answers(chat_stream() if each.api == "chat" else streaming(named(*responses_events())))
    body = rb'{"model":"other","model":"m","input":"a\ud800b \ud83d\ude00","stream":false,"stream":true}'
    assert (await fetch(each.url, body)).types[-1] == "response.completed"
    sent = each.upstream.posts[0].body
    assert sent.count(b'"model"') == 1
    assert json.loads(sent)["model"] == "m"
    assert "a\ufffdb \U0001f600" in json.dumps(json.loads(sent), ensure_ascii=False)


@pytest.mark.requirement("tools.odd-names")
@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "__class__", "self", "ünï", "a b", "x" * 300, "🌍", "../../etc"])
async def test_a_tool_of_any_name_works(each: Wired, name: str) -> None:
    each.upstream.answers(chat_stream() if each.api == "chat" else streaming(named(*responses_events())))
    tools = [{"type": "function", "name": name, "parameters": {"type": "object", "properties": {name: {"type": "string"}}}}]
    history = [
        {"type": "function_call", "call_id": "c", "name": name, "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        {"role": "user", "content": "go on"},
    ]
    reply = await fetch(each.url, {"model": "m", "input": history, "tools": tools, "stream": True})
    assert reply.types[-1] == "response.completed"
    assert len(json.loads(each.upstream.posts[0].body)["tools"]) == 1


@pytest.mark.requirement("http.disconnect")
async def test_a_client_that_leaves_while_sending_is_forgotten(each: Wired) -> None:
    for _ in range(20):
        async with connect(each.url) as client:
            await client.send(head_of(each.url, content_length="1000") + b'{"model"')
            client.hang_up()
    await asyncio.sleep(0)
    await assert_lives(each)
