"""Views of items: every type that Codex and OpenAI's clients are known to send or take is read, and nothing else is guessed at."""

import json
from typing import Any

import pytest
from msgspec import Raw

from antiphon.protocol import item_views
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.item_views import Item, Part

# One item of each type, as it is seen on the wire. The first block is Codex's, of every generation; the second OpenAI's API reference.

TEXT = {"type": "input_text", "text": "hi"}
PATCH = {"type": "update_file", "path": "a.txt", "diff": "@@"}
SEEN: dict[str, dict[str, Any]] = {
    "message": {"role": "user", "content": [TEXT], "phase": "commentary", "end_turn": True},
    "reasoning": {"id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}], "content": [{"type": "text", "text": "b"}], "encrypted_content": None},
    "function_call": {"id": "fc_1", "call_id": "c", "name": "run", "namespace": "mcp__a", "arguments": "{}", "status": "completed"},
    "function_call_output": {"call_id": "c", "output": "done"},
    "custom_tool_call": {"call_id": "c", "name": "apply_patch", "input": "*** Begin Patch", "status": "completed"},
    "custom_tool_call_output": {"call_id": "c", "name": "apply_patch", "output": [TEXT]},
    "tool_search_call": {"call_id": "c", "status": "completed", "execution": "client", "arguments": {"query": "x", "limit": 3}},
    "tool_search_output": {"call_id": None, "status": "completed", "execution": "server", "tools": [{"type": "namespace", "name": "n", "tools": []}]},
    "local_shell_call": {"call_id": "c", "status": "completed", "action": {"type": "exec", "command": ["ls"], "timeout_ms": 1000}},
    "web_search_call": {"id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x", "queries": ["x", "y"]}},
    "image_generation_call": {"id": "ig_1", "status": "completed", "revised_prompt": "a cat", "result": "iVBORw0KGgo="},
    "ghost_snapshot": {"ghost_commit": {"id": "abc", "parent": None, "preexisting_untracked_files": [], "preexisting_untracked_dirs": []}},
    "agent_message": {"author": "/main", "recipient": "/main/a", "content": [TEXT, {"type": "encrypted_content", "encrypted_content": "x"}]},
    "additional_tools": {"role": "developer", "tools": [{"type": "function", "name": "f"}]},
    "compaction": {"id": "cmp_1", "encrypted_content": "x"},
    "compaction_summary": {"encrypted_content": "x"},
    "context_compaction": {"encrypted_content": None},
    "compaction_trigger": {},
    "configuration_update": {"reasoning": {"effort": "high"}},
    "local_shell_call_output": {"id": "o", "output": "done", "status": "completed"},
    "shell_call": {"call_id": "c", "action": {"commands": ["ls"], "timeout_ms": None}, "status": "completed"},
    "shell_call_output": {"call_id": "c", "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]},
    "apply_patch_call": {"call_id": "c", "operation": PATCH, "status": "completed"},
    "apply_patch_call_output": {"call_id": "c", "status": "completed", "output": None},
    "file_search_call": {"id": "fs_1", "queries": ["x"], "results": None, "status": "completed"},
    "code_interpreter_call": {"id": "ci_1", "code": "1", "container_id": "cntr_1", "outputs": None, "status": "completed"},
    "computer_call": {"id": "cu_1", "call_id": "c", "action": {"type": "screenshot"}, "pending_safety_checks": [], "status": "completed"},
    "computer_call_output": {"call_id": "c", "output": {"type": "computer_screenshot", "image_url": "data:,"}},
    "mcp_list_tools": {"id": "mcpl_1", "server_label": "a", "tools": []},
    "mcp_call": {"id": "mcp_1", "server_label": "a", "name": "f", "arguments": "{}", "output": "x", "error": None},
    "mcp_approval_request": {"id": "mcpr_1", "server_label": "a", "name": "f", "arguments": "{}"},
    "mcp_approval_response": {"approval_request_id": "mcpr_1", "approve": True},
    "item_reference": {"id": "msg_1"},
}  # fmt: skip


def test_every_known_type_has_a_view() -> None:
    assert sorted(item_views.ITEMS) == sorted(SEEN)


@pytest.mark.parametrize(("type", "members"), SEEN.items(), ids=SEEN)
def test_every_item_is_read_through_its_view(type: str, members: dict[str, Any]) -> None:
    spelled = json.dumps({"type": type, **members, "new_field": {"a": 1.0}}).encode()
    for item in (Raw(spelled), Document(spelled)):
        view = item_views.read(item, "input[0]")
        assert view.__class__ is item_views.ITEMS[type]
        assert isinstance(view, Item)
        assert (view.type, view.id) == (type, members.get("id"))


def test_an_item_without_a_type_is_a_message() -> None:
    item = Raw(b'{"role":"user","content":"hi"}')
    assert item_views.kind(item, "input[0]") == "message"
    assert isinstance(item_views.read(item, "input[0]"), item_views.Message)


@pytest.mark.parametrize("type", ["other", "new_call", "", "__proto__", "Message"])
def test_an_unknown_type_has_no_view(type: str) -> None:
    item = Document.of({"type": type, "summary": 1, "role": None})
    assert item_views.kind(item, "input[0]") == type
    assert item_views.read(item, "input[0]") is None


BAD: dict[str, tuple[bytes, str, str]] = {
    "text": (b'"hi"', "input[0]", "Expected `object`, got `str`"),
    "null": (b"null", "input[0]", "Expected `object`, got `null`"),
    "a list": (b"[]", "input[0]", "Expected `object`, got `array`"),
    "a type that is no text": (b'{"type":1}', "input[0].type", "Expected `str`, got `int`"),
    "a call without an id": (b'{"type":"function_call","name":"f","arguments":""}', "input[0]", "missing required field `call_id`"),
    "a call without a name": (b'{"type":"function_call","call_id":"c","arguments":""}', "input[0]", "missing required field `name`"),
    "a call without arguments": (b'{"type":"function_call","call_id":"c","name":"f"}', "input[0]", "missing required field `arguments`"),
    "an input that is no text": (b'{"type":"custom_tool_call","call_id":"c","name":"f","input":{}}', "input[0].input", "Expected `str`, got `object`"),
    "a message without a role": (b'{"type":"message","content":"hi"}', "input[0]", "missing required field `role`"),
    "a summary that is no list": (b'{"type":"reasoning","summary":"x"}', "input[0].summary", "Expected `array`, got `str`"),
    "a part that is no object": (b'{"type":"reasoning","summary":["x"]}', "input[0].summary[0]", "Expected `object`, got `str`"),
}  # fmt: skip


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize(("spelled", "path", "why"), BAD.values(), ids=BAD)
def test_a_wrong_item_is_refused_by_path(spelled: bytes, path: str, why: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        item_views.read(Raw(spelled), "input[0]")
    failure = refused.value.failure
    assert (failure.status, failure.code, failure.param) == (400, "invalid_type", path)
    assert why in failure.message
    assert path in failure.message


PARTS: dict[str, tuple[bytes, list[Part]]] = {
    "nothing": (b"", []),
    "null": (b"null", []),
    "text": (b'"h\\u00e9"', [Part(text="hé")]),
    "empty": (b"[]", []),
    "parts": (b'[{"type":"output_text","text":"a","annotations":[]},{"type":"refusal","refusal":"b"}]', [Part(type="output_text", text="a"), Part(type="refusal", refusal="b")]),
    "an image": (b'[{"type":"input_image","image_url":"data:,","detail":"original"}]', [Part(type="input_image", image_url=Raw(b'"data:,"'), detail="original")]),
    "a chat client's image": (b'[{"type":"image_url","image_url":{"url":"data:,"}}]', [Part(type="image_url", image_url=Raw(b'{"url":"data:,"}'))]),
    "an unknown part": (b'[{"type":"new","x":1}]', [Part(type="new")]),
}  # fmt: skip


@pytest.mark.parametrize(("spelled", "expected"), PARTS.values(), ids=PARTS)
def test_parts(spelled: bytes, expected: list[Part]) -> None:
    found = item_views.parts(Raw(spelled), "content")
    assert [(part.type, part.text, part.refusal, bytes(part.image_url), part.detail) for part in found] == [
        (part.type, part.text, part.refusal, bytes(part.image_url), part.detail) for part in expected
    ]


OUTPUTS: dict[str, tuple[bytes, bytes]] = {
    "text": (b'"d\\u00f6ne"', b'"d\\u00f6ne"'),
    "parts": (b'[ {"type":"input_text"} ]', b'[ {"type":"input_text"} ]'),
    "the object form": (b'{"content":"done","success":true}', b'"done"'),
    "the object form with a body": (b'{"body":"done","success":null}', b'"done"'),
    "the object form with parts": (b'{"content":[{"text":"a"}]}', b'[{"text":"a"}]'),
    "content before body": (b'{"content":"a","body":"b"}', b'"a"'),
    "an object without either": (b'{"type":"computer_screenshot"}', b'""'),
    "an object with null": (b'{"content":null}', b'""'),
    "nothing": (b"", b'""'),
    "null": (b"null", b'""'),
}


@pytest.mark.requirement("chat.outputs")
@pytest.mark.parametrize(("spelled", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_output_of_a_call_in_every_form(spelled: bytes, expected: bytes) -> None:
    assert bytes(item_views.output_body(Raw(spelled), "output")) == expected


@pytest.mark.parametrize(
    "spelled", [b"1", b"true", b'["a"]', b"[null]", b'{"content":1}', b'{"content":[1]}', b'{"content":{"content":"a"}}', b'{"success":"yes"}', b'{"content":' * 900 + b"1" + b"}" * 900], ids=len
)  # fmt: skip
def test_any_other_output_is_refused(spelled: bytes) -> None:
    with pytest.raises(InvalidRequest) as refused:
        item_views.output_body(Raw(spelled), "input[3].output")
    assert refused.value.failure.status == 400
    assert "input[3].output" in refused.value.failure.message
