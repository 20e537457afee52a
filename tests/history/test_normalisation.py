"""The rows were measured with Codex 0.169.0: what it sends of such a history."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.history.normalisation import NO_AUDIO, NO_IMAGES, Senses, normalised, output_id
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind

Json = dict[str, Any]
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "original"}
SOUND = {"type": "input_audio", "audio_url": "data:audio/wav;base64,AAAA"}


def call(call_id: str | None, type: str = "function_call", **more: Any) -> Json:
    named: Json = {"custom_tool_call": {"name": "n", "input": "x"}, "tool_search_call": {"execution": "client", "arguments": {}}}.get(
        type, {"name": "n", "arguments": "{}"}
    )
    return {"type": type, "call_id": call_id, **named, **more}


def output(call_id: str | None, said: Any = "ok", type: str = "function_call_output", **more: Any) -> Json:
    return {"type": type, "call_id": call_id, "output": said, **more}


def sent(*items: Json, senses: Senses = Senses()) -> list[Json]:  # noqa: B008 (a frozen value)
    return [json.loads(bytes(item)) for item in normalised(map(Document.of, items), senses).items]


@pytest.mark.requirement("history.answered")
@pytest.mark.parametrize(
    ("given_call", "answer"),
    [
        (call("c"), output("c", "aborted")),
        (call("c", id="fc_1"), {"type": "function_call_output", "id": output_id("fco", "fc_1"), "call_id": "c", "output": "aborted"}),
        (call("c", "custom_tool_call"), output("c", "aborted", "custom_tool_call_output")),
        (call("c", "local_shell_call", action={"type": "exec", "command": ["ls"]}, status="completed"), output("c", "aborted")),
        (
            call("c", "tool_search_call"),
            {"type": "tool_search_output", "call_id": "c", "status": "completed", "execution": "client", "tools": []},
        ),
    ],
    ids=["function", "with an id", "custom", "shell", "search"],
)
def test_a_call_that_nothing_answers_is_answered_behind_it(given_call: Json, answer: Json) -> None:
    items = sent(given_call, {"type": "message", "role": "user", "content": []})
    assert [items[0]["type"], items[1], items[2]["type"]] == [given_call["type"], answer, "message"]


@pytest.mark.requirement("history.answered")
def test_the_id_of_an_answer_is_always_the_same() -> None:
    assert output_id("fco", "fc_15") == "fco_88c59c24-8a22-5f96-8911-bc4d52eb0709", "as Codex makes it"
    assert output_id("fco", None) is None
    assert output_id("fco", "") is None


@pytest.mark.requirement("history.orphans")
def test_outputs_without_their_call_are_left_out() -> None:
    search = {"type": "tool_search_output", "call_id": "x", "status": "completed", "execution": "server", "tools": []}
    kept = sent(
        output("none"),
        output("c", type="custom_tool_call_output"),
        call("c"),
        output("c"),
        search,
        search | {"execution": "client"},
        output(None, name="external"),
    )
    assert [(item["type"], item["call_id"]) for item in kept] == [
        ("function_call", "c"),
        ("function_call_output", "c"),
        ("tool_search_output", "x"),
        ("function_call_output", None),
    ]


@pytest.mark.requirement("history.not-sent")
@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"type": "ghost_snapshot", "ghost_commit": {"id": "x"}}, None),
        ({"type": "compaction_trigger"}, None),
        ({"type": "brand_new", "a": 1}, Kind.UNKNOWN),
        ({"type": "message", "role": "system", "content": []}, Kind.DROPPED),
        ({"type": "function_call", "name": "n", "arguments": "{}"}, Kind.DROPPED),
        ({"type": "function_call_output", "call_id": "c", "output": 5}, Kind.DROPPED),
    ],
    ids=["snapshot", "trigger", "unknown", "system", "no call_id", "no output"],
)
def test_what_no_model_is_sent(item: Json, kind: Kind | None) -> None:
    told = normalised([Document.of(item)])
    assert (told.items, [note.kind for note in told.notes]) == ([], [kind] if kind else [])


@pytest.mark.requirement("history.not-sent")
def test_members_of_codex_s_own_are_not_sent() -> None:
    [item] = sent({"type": "message", "role": "user", "content": [], "internal_chat_message_metadata_passthrough": {}, "end_turn": True})
    assert item == {"type": "message", "role": "user", "content": []}
    told = normalised([Document.of({"type": "message", "role": "user", "content": [], "zz": 1})])
    assert [(note.kind, note.why) for note in told.notes] == [(Kind.CHANGED, "members that no model takes: zz")]


@pytest.mark.requirement("history.not-sent")
def test_the_former_name_of_a_compaction() -> None:
    assert sent({"type": "compaction_summary", "encrypted_content": "E"}) == [{"type": "compaction", "encrypted_content": "E"}]


@pytest.mark.requirement("history.outputs")
@pytest.mark.parametrize("said", ["text", [{"type": "input_text", "text": "a"}]], ids=["string", "array"])
def test_outputs_of_every_form_become_string_or_array(said: Any) -> None:
    for form in (said, {"body": said}, {"body": said, "success": True}, {"content": said}, {"content": said, "success": False}):
        assert sent(call("c"), output("c", form))[1]["output"] == said


@pytest.mark.requirement("history.senses")
def test_what_a_model_cannot_see_or_hear_is_replaced_by_words() -> None:
    items = ({"type": "message", "role": "user", "content": [PICTURE, SOUND]}, call("c"), output("c", [PICTURE]))
    made = {"type": "image_generation_call", "status": "completed", "result": "AAAA"}
    blind = sent(*items, made, senses=Senses(images=False, audio=False))
    assert [part["text"] for part in blind[0]["content"]] == [NO_IMAGES, NO_AUDIO]
    assert (blind[2]["output"][0]["text"], blind[3]["result"]) == (NO_IMAGES, "")
    assert sent(*items, senses=Senses(original=False))[2]["output"][0]["detail"] == "high"
    assert sent(*items, made) == [*items, made]


ANY = st.lists(
    st.one_of(
        st.builds(call, st.sampled_from(["a", "b", None]), st.sampled_from(["function_call", "custom_tool_call", "tool_search_call"])),
        st.builds(output, st.sampled_from(["a", "b"]), st.just("o"), st.sampled_from(["function_call_output", "custom_tool_call_output"])),
        st.just({"type": "message", "role": "user", "content": []}),
    )
)


@given(ANY)
@pytest.mark.requirement("history.answered", "history.orphans")
def test_normalising_twice_is_normalising_once(items: list[Json]) -> None:
    once = sent(*items)
    assert sent(*once) == once
    calls = [item["call_id"] for item in once if item["type"] == "function_call"]
    outputs = {item["call_id"] for item in once if item["type"] == "function_call_output"}
    assert set(calls) <= outputs | {None}
