import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from antiphon.protocol.notes import Kind
from antiphon.threads.errors import Refused
from antiphon.threads.resume_params import ByHistory, ById, ByPath, Generation, ResumeParams
from antiphon.threads.schema import schema
from tests.threads.samples import THREAD, said
from tests.threads.schema_values import valid

Json = dict[str, Any]
TEXT = [{"type": "input_text", "text": "a"}]
PICTURE = [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]
ITEM = said("user", "hello")
REJECT = {"sandbox_approval": True, "rules": False, "mcp_elicitations": True}
ALL = pytest.mark.parametrize("generation", list(Generation))


def read(params: Json, generation: Generation | None = None) -> ResumeParams:
    return ResumeParams.read(json.dumps(params).encode(), generation)


def with_history(generation: Generation, *items: Any) -> Json:
    return {"history": list(items)} if generation is Generation.V1 else {"threadId": "ignored", "history": list(items)}


def history(params: ResumeParams) -> list[Json]:
    way = params.way()
    assert isinstance(way, ByHistory)
    return [json.loads(bytes(item)) for item in way.items]


@ALL
@pytest.mark.parametrize("type", ["function_call_output", "custom_tool_call_output"])
@pytest.mark.parametrize("output", ["text", [], TEXT, TEXT + PICTURE], ids=["string", "nothing", "array", "multimodal"])
@pytest.mark.requirement("resume.outputs")
def test_outputs_are_taken_in_every_form(generation: Generation, type: str, output: Any) -> None:
    for form in (output, {"body": output}, {"body": output, "success": True}, {"content": output}, {"content": output, "success": False}):
        item = {"type": type, "call_id": "c", "output": form}
        params = read(with_history(generation, item), generation)
        assert history(params) == [{**item, "output": output}]
        assert [json.loads(bytes(one)) for one in params.history or ()] == [item], "what was sent is kept"


@ALL
@pytest.mark.parametrize(
    "item",
    [
        {"type": "reasoning", "summary": []},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}], "content": [{"type": "text", "text": "b"}]},
        {"type": "ghost_snapshot", "ghost_commit": {"id": "a", "preexisting_untracked_dirs": [], "preexisting_untracked_files": []}},
        {"type": "ghost_snapshot"},
        {"type": "tool_search_call", "execution": "client", "arguments": {"query": "q"}, "call_id": "c"},
        {"type": "tool_search_output", "execution": "client", "status": "completed", "tools": [{"type": "function"}], "call_id": "c"},
        {"type": "brand_new", "anything": [1]},
        {"type": "compaction_summary", "encrypted_content": "E"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a"}],
            "phase": "commentary",
            "end_turn": True,
            "x": 1,
        },
        {"type": "function_call", "call_id": "c", "name": "n", "namespace": "ns", "arguments": "{}"},
        {"type": "other"},
    ],
    ids=lambda item: str(item["type"]),
)
@pytest.mark.requirement("resume.items")
def test_items_of_every_generation_are_taken_by_each(generation: Generation, item: Json) -> None:
    assert history(read(with_history(generation, item), generation)) == [item]


@ALL
@pytest.mark.parametrize(
    ("item", "path"),
    [
        ({"type": "message", "role": "user", "content": "a plain string"}, "history[0].content"),
        ({"type": "message", "role": "user"}, "history[0]"),
        ({"type": "message", "role": "user", "content": [{"type": "refusal", "refusal": "x"}]}, "history[0].content[0].type"),
        ({"role": "user", "content": []}, "history[0]"),
        ({"type": "function_call", "call_id": "c", "name": "n", "arguments": {}}, "history[0].arguments"),
        ({"type": "function_call_output", "call_id": "c", "output": 5}, "history[0].output"),
        ("text", "history[0]"),
    ],
    ids=["string content", "no content", "unknown part", "no type", "arguments", "output", "no object"],
)
@pytest.mark.requirement("resume.errors")
def test_what_cannot_be_is_refused_by_path(generation: Generation, item: Any, path: str) -> None:
    with pytest.raises(Refused) as refused:
        read(with_history(generation, item), generation)
    assert refused.value.param == path
    assert path in str(refused.value)


@pytest.mark.requirement("resume.precedence")
@pytest.mark.parametrize(
    ("params", "way"),
    [
        ({"threadId": THREAD, "path": "/p", "history": [ITEM]}, ByHistory),
        ({"threadId": "garbage", "history": [ITEM]}, ByHistory),
        ({"threadId": "garbage", "path": "/p"}, ByPath),
        ({"threadId": THREAD, "path": ""}, ById),
        ({"threadId": THREAD, "path": None, "history": None}, ById),
        ({"path": "/p", "conversationId": THREAD, "history": [ITEM]}, ByPath),
        ({"conversationId": THREAD, "history": [ITEM]}, ById),
        ({"history": [ITEM]}, ByHistory),
        ({"conversationId": THREAD}, ById),
    ],
)
def test_the_way_is_chosen_in_the_order_of_the_generation(params: Json, way: type) -> None:
    assert isinstance(read(params).way(), way)


@pytest.mark.requirement("resume.precedence")
@pytest.mark.parametrize(
    ("params", "message", "param"),
    [
        ({}, "either path, conversation id or non empty history must be provided", "conversationId"),
        ({"history": []}, "either path, conversation id or non empty history must be provided", "conversationId"),
        ({"conversationId": "nonsense"}, "'nonsense' is no UUID", "conversationId"),
        ({"threadId": "nonsense"}, "invalid session id: 'nonsense' is no UUID", "threadId"),
        ({"threadId": THREAD, "history": []}, "history must not be empty", "history"),
    ],
)
def test_what_leads_nowhere_is_refused(params: Json, message: str, param: str) -> None:
    with pytest.raises(Refused, match=message) as refused:
        read(params).way()
    assert refused.value.param == param


@pytest.mark.requirement("resume.precedence")
@pytest.mark.parametrize("spelling", [THREAD.upper(), THREAD.replace("-", ""), f"{{{THREAD}}}", f"urn:uuid:{THREAD}"])
def test_ids_in_every_spelling(spelling: str) -> None:
    assert read({"threadId": spelling}).way() == ById(THREAD)


@pytest.mark.requirement("resume.approval")
@pytest.mark.parametrize(
    ("policy", "today", "is_changed"),
    [
        ("never", "never", False),
        ("on-failure", "on-request", True),
        (
            {"reject": REJECT},
            {
                "granular": {
                    "sandbox_approval": False,
                    "rules": True,
                    "mcp_elicitations": False,
                    "request_permissions": True,
                    "skill_approval": True,
                }
            },
            True,
        ),
        ({"granular": REJECT}, {"granular": {**REJECT, "request_permissions": False, "skill_approval": False}}, False),
    ],
    ids=["word", "on-failure", "reject", "granular"],
)
def test_old_policies_are_put_in_today_s_words(policy: Any, today: Any, is_changed: bool) -> None:
    params = read({"threadId": THREAD, "approvalPolicy": policy})
    assert params.overrides["approvalPolicy"] == today
    assert [note.kind for note in params.notes] == ([Kind.CHANGED] if is_changed else [])
    old = read({"conversationId": THREAD, "overrides": {"approvalPolicy": policy}})
    assert old.overrides["approvalPolicy"] == today


@pytest.mark.requirement("resume.errors")
@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"threadId": THREAD, "approvalPolicy": "sometimes"}, "approvalPolicy"),
        ({"threadId": THREAD, "approvalPolicy": {}}, "approvalPolicy"),
        ({"threadId": THREAD, "approvalPolicy": {"reject": {"rules": True}}}, "approvalPolicy.reject"),
        ({"threadId": THREAD, "sandbox": "workspaceWrite"}, "sandbox"),
        ({"threadId": THREAD, "personality": "grumpy"}, "personality"),
        ({"threadId": 5}, "threadId"),
        ({"threadId": THREAD, "sandbox": "read-only", "permissions": ":workspace"}, "permissions"),
        ({"conversationId": THREAD, "overrides": {"config": []}}, "overrides.config"),
    ],
)
def test_overrides_that_cannot_be(params: Json, param: str) -> None:
    with pytest.raises(Refused) as refused:
        read(params)
    assert refused.value.param == param


@pytest.mark.requirement("resume.overrides")
def test_overrides_by_their_names_on_the_wire() -> None:
    given = {"model": "m", "modelProvider": "p", "cwd": "/x", "sandbox": "read-only", "config": {"a.b": 1}, "baseInstructions": "b"}
    params = read({"threadId": THREAD, **given, "personality": "none", "serviceTier": None})
    assert params.overrides == {**given, "personality": "none", "serviceTier": None}
    assert "serviceTier" not in read({"threadId": THREAD}).overrides
    assert read({"threadId": THREAD, "serviceTier": "flex"}).overrides == {"serviceTier": "flex"}
    v1 = {"profile": "x", "compactPrompt": "c", "includeApplyPatchTool": True}
    assert read({"conversationId": THREAD, "overrides": v1}).overrides == v1


OURS = {generation: valid(schema(generation)) for generation in Generation}


@ALL
@given(data=st.data())
@settings(
    max_examples=30, suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much), deadline=None
)
@pytest.mark.requirement("resume.schemas")
def test_what_our_schemas_allow_is_taken(generation: Generation, data: st.DataObject) -> None:
    survives(generation, data.draw(OURS[generation]))


def survives(generation: Generation, params: Json) -> None:
    """Taken, but for what no schema can say, and with every item as it was."""
    try:
        taken = read(params, generation)
    except Refused as refused:
        assume(refused.param not in ("permissions", "approvalPolicy"))  # of two that exclude each other a schema cannot say so
        raise
    assert json.loads(bytes(taken.document)) == params
    assert [json.loads(bytes(item)) for item in taken.history or ()] == (params.get("history") or [])


SHARED = Path(os.environ.get("ANTIPHON_SHARED") or Path(__file__).parents[3] / "shared")
SEEDS = {
    Generation.V1: "ResumeConversationParams.v1.json",
    Generation.V2_FEBRUARY: "ThreadResumeParams.v2-multimodal.json",
    Generation.V2_MARCH: "ThreadResumeParams.v2-tool-search.json",
}


@cache
def published(generation: Generation) -> st.SearchStrategy[tuple[Json, list[Json]]]:
    """Parameters, and items of a history, as a published schema has them."""
    told = json.loads((SHARED / "reference" / "seed-schemas" / SEEDS[generation]).read_text())
    item = valid({**told["definitions"]["ResponseItem"], "definitions": told["definitions"]})
    return st.tuples(valid(told), st.lists(item, min_size=1, max_size=3))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published schemas are not on this machine: ANTIPHON_SHARED names their folder")
@pytest.mark.parametrize("generation", SEEDS)
@given(data=st.data())
@settings(
    max_examples=60, suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much), deadline=None
)
@pytest.mark.requirement("resume.schemas")
def test_what_the_published_schemas_allow_is_taken(generation: Generation, data: st.DataObject) -> None:
    params, items = data.draw(published(generation))
    survives(generation, params)
    survives(generation, {**params, "history": items})


@pytest.mark.requirement("resume.schemas")
def test_each_generation_has_a_schema_of_its_own() -> None:
    names = {generation: set(schema(generation)["properties"]) for generation in Generation}
    assert names[Generation.V1] == {"conversationId", "path", "history", "overrides"}
    assert names[Generation.V2_MARCH] - names[Generation.V2_FEBRUARY] == {"serviceTier"}
    assert names[Generation.CURRENT] > names[Generation.V2_MARCH]
    assert schema(Generation.CURRENT)["required"] == ["threadId"]
