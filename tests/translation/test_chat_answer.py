"""Transcripts: what a chat server streams, and the events that come of it; each must satisfy the stream's grammar."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.translation import chat_answer
from tests.translation.dialogue import Json, call, calls, complaints, delta, final, machine, output, said, sse, streamed

HEAD = ["created", "in_progress"]
STOP = delta("stop")


def message(*pieces: str) -> list[str]:
    text = "".join(pieces)
    deltas = [f"output_text.delta {piece}" for piece in pieces]
    done = [f"output_text.done {text}", "content_part.done", f"output_item.done message {text}"]
    return ["output_item.added message ", "content_part.added", *deltas, *done]


def tool(name: str, call_id: str, *pieces: str) -> list[str]:
    arguments = "".join(pieces)
    deltas = [f"function_call_arguments.delta {piece}" for piece in pieces]
    whole = [f"function_call_arguments.done {arguments}", f"output_item.done call {name} {call_id} {arguments}"]
    return [f"output_item.added call {name} {call_id} ", *deltas, *whole]


def thoughts(*pieces: str) -> list[str]:
    text = "".join(pieces)
    deltas = [f"reasoning_text.delta {piece}" for piece in pieces]
    return ["output_item.added reasoning ", "content_part.added", *deltas, f"reasoning_text.done {text}", "content_part.done", f"output_item.done reasoning {text}"]  # fmt: skip


DIALOGUES: dict[str, tuple[list[Json], list[str]]] = {
    "text": ([delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"), STOP], message("Hel", "lo")),
    "nothing at all": ([STOP], []),
    "the last words with the finish": ([delta("stop", content="Hi")], message("Hi")),
    "llama.cpp: null content first": ([delta(role="assistant", content=None), delta(content="Hi"), STOP], message("Hi")),
    "content as parts": ([delta(content=[{"type": "text", "text": "H"}, {"type": "text", "text": None}, "x", {"type": "text", "text": "i"}]), STOP], message("Hi")),
    "thoughts as a part of the content": (
        [delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]), delta(content=[{"type": "text", "text": "Hi"}]), STOP],
        [*thoughts("Hm"), *message("Hi")],
    ),
    "both in one": (
        [delta(content=[{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hi"}, {"type": "reference", "reference_ids": [1]}]), STOP],
        [*thoughts("Hm"), *message("Hi")],
    ),
    "a refusal": (
        [delta(refusal="No."), STOP],
        ["output_item.added message ", "content_part.added", "refusal.delta No.", "refusal.done No.", "content_part.done", "output_item.done message No."],
    ),
    "reasoning_content, then text": ([delta(reasoning_content="Hm"), delta(reasoning_content="m"), delta(content="Hi"), STOP], [*thoughts("Hm", "m"), *message("Hi")]),
    "reasoning, then a call": (
        [delta(reasoning="Hm"), calls(call(0, "a", "f", "{}"), finish="tool_calls")],
        [*thoughts("Hm"), *tool("f", "a", "{}")],
    ),
    "one thought under two names": ([delta(reasoning_content="Hm", reasoning="Hm"), STOP], thoughts("Hm")),
    "one name empty": ([delta(reasoning_content="", reasoning="Hm"), STOP], thoughts("Hm")),
    "a call in pieces": (
        [calls(call(0, "a", "f", "")), calls(call(0, arguments='{"x"')), calls(call(0, arguments=":1}")), delta("tool_calls")],
        tool("f", "a", '{"x"', ":1}"),
    ),
    "a name in pieces": ([calls(call(0, "a", "get_")), calls(call(0, name="weather")), calls(call(0, arguments="{}")), delta("tool_calls")], tool("get_weather", "a", "{}")),
    "no arguments": ([calls(call(0, "a", "f", "")), delta("tool_calls")], ["output_item.added call f a ", "function_call_arguments.done {}", "output_item.done call f a {}"]),
    "arguments as an object": ([calls(call(0, "a", "f", {"x": 1.0})), delta("tool_calls")], tool("f", "a", '{"x": 1.0}')),
    "llama-cpp-python: repeated heads": (
        [
            calls(call(0, "a", "f", "")),
            calls(call(0, "a", "f", '{"x":')),
            calls(call(0, "a", "f", "1}")),
            calls(call(1, "b", "g", "{")),
            calls(call(0, "a", "f", "")),
            calls(call(1, "b", "g", "}")),
            delta("tool_calls"),
        ],
        [*tool("f", "a", '{"x":', "1}"), *tool("g", "b", "{", "}")],
    ),
    "Ollama: index 0 for all": ([calls(call(0, "a", "f", "{}")), calls(call(0, "b", "f", '{"x":1}')), STOP], [*tool("f", "a", "{}"), *tool("f", "b", '{"x":1}')]),
    "index 0 for all, in pieces": (
        [calls(call(0, "a", "f", "{")), calls(call(0, arguments="}")), calls(call(0, "b", "g", "{")), calls(call(0, arguments="}")), delta("tool_calls")],
        [*tool("f", "a", "{", "}"), *tool("g", "b", "{", "}")],
    ),
    "no index": ([calls(call(None, "a", "f", "{}")), calls(call(None, "b", "g", "{}")), STOP], [*tool("f", "a", "{}"), *tool("g", "b", "{}")]),
    "no index, both in one": ([calls(call(None, "a", "f", "{}"), call(None, "b", "g", "{}")), STOP], [*tool("f", "a", "{}"), *tool("g", "b", "{}")]),
    "no ids": ([calls(call(0, None, "f", "{}")), calls(call(0, None, "f", "{}")), STOP], [*tool("f", "call_1", "{}"), *tool("f", "call_2", "{}")]),
    "no ids, in pieces": (
        [calls(call(0, None, "f")), calls(call(0, arguments="{}")), calls(call(0, None, "g")), calls(call(0, arguments="{}")), STOP],
        [*tool("f", "call_1", "{}"), *tool("g", "call_2", "{}")],
    ),
    "an id in every piece": ([calls(call(0, "a", "f", "{")), calls(call(0, "z", None, "}")), delta("tool_calls")], tool("f", "a", "{", "}")),
    "white space behind a call that is done": (
        [calls(call(0, "a", "f", "{}")), calls(call(1, "b", "g", "{}")), calls(call(0, arguments="\n")), delta("tool_calls")],
        [*tool("f", "a", "{}"), *tool("g", "b", "{}")],
    ),
    "pieces of two calls mixed": (
        [calls(call(0, "a", "f", "{"), call(1, "b", "g", "{")), calls(call(1, arguments="}")), calls(call(0, arguments="}")), delta("tool_calls")],
        [*tool("f", "a", "{", "}"), *tool("g", "b", "{", "}")],
    ),
    "text, then a call": ([delta(content="Well"), calls(call(0, "a", "f", "{}")), delta("tool_calls")], [*message("Well"), *tool("f", "a", "{}")]),
    "text behind a call": ([calls(call(0, "a", "f", "{}")), delta(content="Well"), delta("tool_calls")], [*tool("f", "a", "{}"), *message("Well")]),
    "text inside a call waits": (
        [calls(call(0, "a", "f", "{")), delta(content="Well"), calls(call(0, arguments="}")), delta("tool_calls")],
        [*tool("f", "a", "{", "}"), *message("Well")],
    ),
    "vLLM: stop although there is a call": ([calls(call(0, "a", "f", "{}")), STOP], tool("f", "a", "{}")),
    "malformed arguments of a whole answer": ([calls(call(0, "a", "f", '{"x":')), delta("tool_calls")], tool("f", "a", '{"x":')),
    "a name behind the arguments": ([calls(call(0, "a", None, "{")), calls(call(0, None, "f", "}")), delta("tool_calls")], tool("f", "a", "{", "}")),
    "a name behind all arguments": ([calls(call(0, "a", None, "{}")), calls(call(0, None, "f")), delta("tool_calls")], tool("f", "a", "{}")),
    "a call without a name": ([delta(content="Well"), calls(call(0, "a", None, "{}")), calls(call(1, "b", "f", "{}")), delta("tool_calls")], [*message("Well"), *tool("f", "b", "{}")]),
    "ids and indices of other types": ([{"choices": [{"delta": {"tool_calls": [{"index": "0", "id": 7, "function": {"name": "f", "arguments": "{}"}}]}}]}, STOP], tool("f", "7", "{}")),
    "a second choice": (
        [delta(content="H"), {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}, {"choices": [STOP["choices"][0] | {"index": 1}, *delta(content="i")["choices"]]}, STOP],
        message("H", "i"),
    ),
    "an error that is none": ([delta(content="Hi") | {"error": {}}, STOP | {"error": ""}], message("Hi")),
    "chunks that say nothing": ([{"id": "x"}, {"choices": []}, {"choices": [{"delta": None}]}, delta(content="Hi"), STOP], message("Hi")),
}  # fmt: skip


@pytest.mark.requirement("stream.order", "chat.reasoning", "chat.repeated-heads")
@pytest.mark.parametrize("done", [True, False], ids=["[DONE]", "no [DONE]"])
@pytest.mark.parametrize(("chunks", "events"), DIALOGUES.values(), ids=DIALOGUES)
def test_what_becomes_of_a_stream(chunks: list[Json], events: list[str], done: bool) -> None:
    answer = machine()
    made = streamed(answer, sse(*chunks, done=done))
    assert said(made) == [*HEAD, *events, "completed"]
    assert complaints(made) == []
    assert output(final(made)) == [line.removeprefix("output_item.done ") for line in events if line.startswith("output_item.done")]


@pytest.mark.requirement("stream.other-shape")
def test_a_completion_in_place_of_a_stream_and_a_stream_in_place_of_a_completion() -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}, indent=1).encode()
    assert said(streamed(machine(), [body[:9], body[9:]])) == [*HEAD, *message("Hi"), "completed"]
    answer = machine()
    assert said([*answer.begin(), *answer.whole(b": hello\n\n" + sse(delta(content="Hi"), STOP))]) == [*HEAD, *message("Hi"), "completed"]


def test_events_without_data_are_passed_over() -> None:
    data = b"data:\n\n" + sse(delta(content="Hi"), done=False) + b"data: \n\n" + sse(STOP, done=False) + b"data:  [DONE] \n\n"
    assert said(streamed(machine(), data)) == [*HEAD, *message("Hi"), "completed"]


@settings(deadline=None)
@given(st.sampled_from(list(DIALOGUES.values())), st.lists(st.integers(1, 2000), max_size=30))
def test_bytes_split_anywhere_give_the_same_events(dialogue: tuple[list[Json], list[str]], places: list[int]) -> None:
    data = sse(*dialogue[0])
    ends = sorted({place % len(data) for place in places})
    pieces = [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]
    assert streamed(machine(), pieces) == streamed(machine(), data)


SUMMARIES = {
    "auto": ("auto", ["reasoning_summary_part.added", "reasoning_summary_text.delta Hm"]),
    "none": ("none", ["content_part.added", "reasoning_text.delta Hm"]),
    "not asked for": (None, ["content_part.added", "reasoning_text.delta Hm"]),
}


@pytest.mark.requirement("chat.reasoning")
@pytest.mark.parametrize(("summary", "events"), SUMMARIES.values(), ids=SUMMARIES)
def test_thoughts_are_shown_as_the_client_asked(summary: str | None, events: list[str]) -> None:
    made = streamed(machine(reasoning={"summary": summary}), sse(delta(reasoning="Hm"), STOP))
    assert said(made)[3:5] == events
    assert complaints(made) == []


# How an answer ends.

FINISHES = {
    **{reason: (reason, "completed", None) for reason in ("stop", "tool_calls", "function_call", "eos", "end_turn")},
    "a reason of its own": ("tired", "completed", None),
    "length": ("length", "incomplete", "max_output_tokens"),
    "model_length": ("model_length", "incomplete", "max_output_tokens"),
    "content_filter": ("content_filter", "incomplete", "content_filter"),
    "STOP": ("STOP", "completed", None),
    "MAX_TOKENS": ("MAX_TOKENS", "incomplete", "max_output_tokens"),
    "SAFETY": ("SAFETY", "incomplete", "content_filter"),
    "error": ("error", "failed", None),
    "abort": ("abort", "failed", None),
}


@pytest.mark.requirement("stream.length-cut")
@pytest.mark.parametrize(("reason", "status", "details"), FINISHES.values(), ids=FINISHES)
def test_the_finish_reason_says_how_the_response_ends(reason: str, status: str, details: str | None) -> None:
    made = streamed(machine(), sse(delta(content="Hi"), delta(reason)))
    told = final(made)
    assert (told["status"], (told["incomplete_details"] or {}).get("reason")) == (status, details)
    assert said(made)[-1] == status
    assert complaints(made) == []


def test_every_row_of_the_finish_table_is_an_end() -> None:
    assert set(chat_answer.FINISH.values()) == {"completed", "max_output_tokens", "content_filter", "failed"}


@pytest.mark.requirement("stream.length-cut")
def test_a_length_cut_may_be_called_completed() -> None:
    told = final(streamed(machine(length_cut="completed"), sse(delta(content="Hi"), delta("length"))))
    assert (told["status"], told["incomplete_details"], output(told)) == ("completed", None, ["message Hi"])


ARGUMENTS = '{"patch":"*** Begin","n":[1,{"x":"}"}]}'


CUTS = {
    "length": ("length", "incomplete", "incomplete"),
    "length, called completed": ("length", "completed", "completed"),
    "content filter": ("content_filter", "incomplete", "incomplete"),
    "never said": (None, "incomplete", "failed"),
}


@pytest.mark.requirement("stream.cut-call")
@pytest.mark.parametrize("end", [1, 9, len(ARGUMENTS) - 1], ids=str)
@pytest.mark.parametrize(("finish", "length_cut", "status"), CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("whole", [False, True], ids=["streamed", "JSON"])
def test_a_call_cut_in_its_arguments_is_never_delivered(end: int, finish: str | None, length_cut: str, status: str, whole: bool) -> None:
    answer = machine(length_cut=length_cut)
    good, cut = call(0, "a", "f", "{}"), call(1, "b", "g", ARGUMENTS[:end])
    if whole:
        body = {"choices": [{"message": {"content": "Hi", "tool_calls": [good, cut]}, "finish_reason": finish}]}
        events = [*answer.begin(), *answer.whole(json.dumps(body).encode())]
    else:
        events = streamed(answer, sse(delta(content="Hi"), calls(good), calls(cut), delta(finish)))
    assert not [line for line in said(events) if line.startswith(("output_item.done call g", 'function_call_arguments.done {"p'))]
    assert (said(events)[-1], final(events)["status"], output(final(events))) == (status, status, ["message Hi", "call f a {}"])
    assert ("dropped" in str(answer.notes)) is (status != "failed")


@pytest.mark.requirement("stream.cut-call")
def test_a_call_cut_before_its_arguments_is_never_delivered() -> None:
    events = streamed(machine(), sse(calls(call(0, "a", "f", "")), delta("length")))
    assert (said(events)[-1], output(final(events))) == ("incomplete", [])


ENDS_BADLY = {
    "nothing": b"",
    "no finish": sse(delta(content="Hi"), done=False),
    "inside an event": sse(delta(content="Hi"), done=False) + b'data: {"choices":[{"finish_reason":"stop"}]}',
    "garbage": sse(delta(content="Hi"), done=False) + b"data: <html>\n\n" + sse(STOP),
    "a chunk of another shape": sse({"choices": {"delta": 7}}),
    "an array": b"data: []\n\n",
    "a web page": b"<html>Bad Gateway</html>",
    "an object that is none of ours": b'{"model":"m","message":{"content":"Hi"},"done":true}',
    "the finish of a call that never came": sse(delta("tool_calls")),
    "the finish of a call without a name": sse(calls(call(0, "a", None, "{}")), delta("tool_calls")),
    "[DONE] inside a call": sse(calls(call(0, "a", "f", '{"x"'))),
}


@pytest.mark.requirement("stream.truncation-is-failure")
@pytest.mark.parametrize("data", ENDS_BADLY.values(), ids=ENDS_BADLY)
def test_an_answer_that_breaks_off_is_a_failure(data: bytes) -> None:
    answer = machine()
    events = streamed(answer, data)
    assert said(events)[-1] == "failed"
    assert final(events)["error"]["code"] == "server_error"
    assert answer.failure is not None
    assert answer.failure.status == 502
    assert complaints(events) == []
    assert answer.feed(sse(delta(content="more"), STOP)) == answer.close() == []


ERRORS: dict[str, tuple[Json, str, str]] = {
    "an object": ({"error": {"message": "boom", "type": "server_error", "code": None}}, "server_error", "boom"),
    "a string": ({"error": "boom"}, "server_error", "boom"),
    "with a status": ({"error": {"message": "slow down", "code": 429}}, "rate_limit_exceeded", "slow down"),
    "context too long": ({"error": {"message": "This model's maximum context length is 8 tokens"}}, "context_length_exceeded", "This model's maximum context length is 8 tokens"),
    "bare": ({"object": "error", "message": "boom", "code": 500}, "server_error", "boom"),
}  # fmt: skip


@pytest.mark.requirement("failures.in-stream")
@pytest.mark.parametrize(("chunk", "code", "words"), ERRORS.values(), ids=ERRORS)
def test_an_error_in_a_stream_ends_it(chunk: Json, code: str, words: str) -> None:
    events = streamed(machine(), sse(delta(content="Hi"), chunk, delta(content="more"), STOP))
    assert said(events)[-1] == "failed"
    error = final(events)["error"]
    assert error["code"] == code
    assert words in error["message"]
    assert "more" not in str(said(events))


# Usage.

USAGES: dict[str, tuple[Json, tuple[int, int, int, int, int]]] = {
    "OpenAI": (
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}},
        (10, 4, 5, 2, 15),
    ),
    "bare": ({"prompt_tokens": 10, "completion_tokens": 5}, (10, 0, 5, 0, 15)),
    "DeepSeek": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_cache_hit_tokens": 4}, (10, 4, 5, 0, 15)),
    "null details": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": None}, (10, 0, 5, 0, 15)),
    "vLLM": ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "output_tokens_per_turn": []}, (10, 0, 5, 0, 15)),
    "floats": ({"prompt_tokens": 10.0, "completion_tokens": 5.0, "total_tokens": 15.0}, (10, 0, 5, 0, 15)),
}  # fmt: skip
PLACES = {
    "with the last choice": lambda used: [delta(content="Hi"), {**STOP, "usage": used}],
    "behind it": lambda used: [delta(content="Hi"), STOP, {"choices": [], "usage": used}],
    "before it": lambda used: [{"choices": [], "usage": used}, delta(content="Hi"), STOP],
    "without choices": lambda used: [delta(content="Hi"), STOP, {"usage": used}],
    "at the choice": lambda used: [delta(content="Hi"), {"choices": [{**STOP["choices"][0], "usage": used}]}],
    "where Groq has it": lambda used: [delta(content="Hi"), {**STOP, "x_groq": {"id": "req_1", "usage": used}}],
    "null until the end": lambda used: [{**delta(content="Hi"), "usage": None}, STOP, {"choices": [], "usage": used}],
}


@pytest.mark.requirement("chat.usage")
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("used", "counts"), USAGES.values(), ids=USAGES)
def test_usage_is_mapped_wherever_it_comes(used: Json, counts: tuple[int, ...], place: Any) -> None:
    told = final(streamed(machine(), sse(*place(used))))["usage"]
    details = (told["input_tokens_details"]["cached_tokens"], told["output_tokens_details"]["reasoning_tokens"])
    assert (told["input_tokens"], details[0], told["output_tokens"], details[1], told["total_tokens"]) == counts


@pytest.mark.requirement("chat.usage")
def test_no_usage_is_null() -> None:
    assert final(streamed(machine(), sse(delta(content="Hi"), STOP)))["usage"] is None


@pytest.mark.requirement("responses.settings-echo")
def test_the_response_holds_the_clients_settings() -> None:
    told = final(
        streamed(machine(temperature=0.5, tools=[{"type": "web_search"}], metadata={"a": "b"}, reasoning={"effort": "low"}), sse(STOP))
    )
    assert (told["temperature"], told["tools"], told["metadata"]) == (0.5, [{"type": "web_search"}], {"a": "b"})
    assert (told["reasoning"], told["text"], told["truncation"]) == (
        {"effort": "low", "summary": None},
        {"format": {"type": "text"}},
        "disabled",
    )
