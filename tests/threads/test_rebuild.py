"""The rows were measured with Codex 0.169.0: what it sends when it resumes such a thread."""

from pathlib import Path

import pytest

from antiphon.protocol.document import Document
from antiphon.threads.rebuild import rebuild
from antiphon.threads.truncation import UNKNOWN_MODEL
from tests.threads.samples import Json, assistant, compacted, event, item, line, message, meta, rolled_back, said, spelled, turn, user
from tests.threads.test_file import put
from tests.threads.test_truncation import runs

ONE = turn("1", *user("one"), *assistant("a"))
TWO = turn("2", *user("two"), *assistant("b"))
THREE = turn("3", *user("three"), *assistant("c"))
LEFT = (said("user", "left"),)
CONTEXT = (message("developer", "<permissions instructions>x"), message("user", "<environment_context>x</environment_context>"))


def rebuilt(folder: Path, *lines: Json) -> list[str]:
    return [told(each) for each in rebuild(put(folder, spelled(meta(), *lines)).backwards()).items]


def told(item: Document) -> str:
    """The words of an item, or its type."""
    return " ".join(part["text"] for part in item.get("content") or [] if "text" in part) or str(item.get("type"))


@pytest.mark.requirement("threads.history", "threads.rollback")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([*ONE, *TWO], "one a two b", id="plain"),
        pytest.param([*ONE, compacted("S", *LEFT), *TWO], "left two b", id="compaction"),
        pytest.param([*ONE, compacted("S"), *TWO], "one S two b", id="compaction of old"),
        pytest.param([*ONE, compacted(""), *TWO], "one (no summary available) two b", id="no summary"),
        pytest.param([*ONE, compacted("S", *LEFT), *TWO, compacted("T"), *THREE], "left two T three c", id="old after new"),
        pytest.param([*ONE, *TWO, rolled_back(1), *THREE], "one a three c", id="rollback"),
        pytest.param([*ONE, *TWO, rolled_back(9), *THREE], "three c", id="rollback of all"),
        pytest.param([*ONE, rolled_back(0)], "one a", id="rollback of none"),
        pytest.param([message("developer", "first"), *ONE, rolled_back(2)], "first", id="what stands before all turns stays"),
        pytest.param([*ONE, *CONTEXT, *TWO, rolled_back(1)], "one a", id="context goes with its turn"),
        pytest.param([*ONE, message("developer", "stay"), *TWO, rolled_back(1)], "one a stay", id="words do not"),
        pytest.param([*ONE, *turn("2", *user("two"), compacted("S", *LEFT), *assistant("b")), rolled_back(1)], "one a", id="its compaction too"),
        pytest.param([*ONE, *turn("c", compacted("S", *LEFT)), *TWO, rolled_back(1)], "left", id="not that of another turn"),
        pytest.param([*ONE, *turn("c", compacted("S", *LEFT)), *TWO, rolled_back(2)], "", id="across a compaction"),
        pytest.param([*ONE, *turn("2", *user("two"), compacted("S"), *assistant("b")), rolled_back(1)], "one two", id="old compaction in a turn"),
        pytest.param([*user("one"), *user("two"), compacted("S"), *user("three"), rolled_back(2), *user("four")], "one two four", id="no turns"),
        pytest.param([*ONE, *TWO, rolled_back(1), compacted("S", *LEFT), *assistant("x")], "one a x", id="compaction outside turns"),
        pytest.param([*ONE, *turn("2", *user("two"), compacted("S", *LEFT), *assistant("b")), rolled_back(1), *THREE], "one a three c", id="and on"),
        pytest.param(
            [*turn("1", *user("one"), compacted("S", *LEFT), *assistant("a")), *turn("2", *user("two"), compacted("T", said("user", "more"))),
             *THREE, rolled_back(2), *turn("4", *user("four"))],
            "left a four", id="back to the compaction before",
        ),
        pytest.param([*user("one"), event("thread_rolled_back", num_turns="many")], "one", id="nonsense"),
    ],
)  # fmt: skip
def test_histories(tmp_path: Path, lines: list[Json], expected: str) -> None:
    assert " ".join(rebuilt(tmp_path, *lines)) == expected


@pytest.mark.requirement("threads.history")
def test_what_agents_tell_each_other_becomes_items(tmp_path: Path) -> None:
    told = {"author": "/lead/a", "recipient": "/lead", "other_recipients": [], "content": "hello", "trigger_turn": True}
    sealed = {**told, "content": "", "encrypted_content": "E", "id": "am_1"}
    rollout = put(tmp_path, spelled(meta(), line("inter_agent_communication", told), line("inter_agent_communication", sealed)))
    plain, secret = rebuild(rollout.backwards()).items
    assert plain.get("content") == [{"type": "input_text", "text": "hello"}]
    assert secret.get("content")[1] == {"type": "encrypted_content", "encrypted_content": "E"}
    assert secret.get("content")[0]["text"].startswith("Message Type: NEW_TASK\n")
    assert secret.text("id") == "am_1"


@pytest.mark.requirement("threads.js-repl")
def test_pictures_that_were_injected_stay_where_they_were(tmp_path: Path) -> None:
    call = {"type": "custom_tool_call", "status": "completed", "call_id": "c", "name": "js_repl", "input": "x"}
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
    former = [
        item(call),
        item({"type": "custom_tool_call_output", "call_id": "c", "output": "js text"}),
        item({"type": "message", "role": "user", "content": [picture]}),
    ]
    later = [
        item(call),
        item({"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "js text"}, picture]}),
    ]
    for lines in (former, later):
        given = [each["payload"] for each in lines]
        rollout = put(tmp_path, spelled(meta(), *lines))
        assert [each.get("output") or each.get("content") or each.get("input") for each in rebuild(rollout.backwards()).items] == [
            each.get("output") or each.get("content") or each.get("input") for each in given
        ]
    assert rebuilt(tmp_path, *user("draw"), *former, rolled_back(1)) == ["draw", "custom_tool_call", "custom_tool_call_output"], (
        "it counts as a turn"
    )


@pytest.mark.requirement("threads.truncation")
def test_outputs_are_cut_by_the_line_s_limit_or_the_model_s(tmp_path: Path) -> None:
    output = {"type": "function_call_output", "call_id": "c", "output": "a" * 50_000}
    rollout = put(tmp_path, spelled(meta(), item(output), item(output, metadata={"fallback_token_limit_override": 50})))
    assert [runs(each.text("output") or "") for each in rebuild(rollout.backwards(), UNKNOWN_MODEL).items] == [
        "a*6000…38000 chars truncated…a*6000",
        "a*100…12450 tokens truncated…a*100",
    ]
    assert runs(rebuild(rollout.backwards()).items[0].text("output") or "") == "a*50000"


@pytest.mark.requirement("threads.history")
def test_unknown_items_and_snapshots_stay_in_the_history(tmp_path: Path) -> None:
    snapshot = {"type": "ghost_snapshot", "ghost_commit": {"id": "x"}}
    assert rebuilt(tmp_path, *user("one"), item(snapshot), item({"type": "brand_new", "x": 1})) == ["one", "ghost_snapshot", "brand_new"]


@pytest.mark.requirement("threads.skipped")
def test_notes_come_with_the_history(tmp_path: Path) -> None:
    rollout = put(tmp_path, spelled(meta(), *user("one")) + b'{"broken\n' + spelled(*assistant("a")))
    history = rebuild(rollout.backwards())
    assert [note.why for note in history.notes] == ["not JSON: Input data was truncated"]
    assert [told(each) for each in history.items] == ["one", "a"]
