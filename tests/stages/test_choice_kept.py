"""A choice of tools that the model server passes over is noticed, on both APIs; a stream is not changed for it."""

import json
from typing import Any

import pytest

from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.stages.choice_kept import ChoiceKept
from antiphon.tools.choice import Choice
from tests.stages.wire import event

ONE, SOME = Choice("required", ("f",)), Choice("auto", ("f", "g"))
ROWS: dict[str, tuple[Choice, list[str], str, str]] = {
    "the named one": (ONE, ["f"], "completed", ""),
    "not the named one": (ONE, ["g"], "completed", "none of the tools that it had to"),
    "no call, one named": (ONE, [], "completed", "none of the tools that it had to"),
    "the named one and another": (ONE, ["f", "g"], "completed", "that it was not to"),
    "cut before it could": (ONE, [], "incomplete", ""),
    "an allowed one": (SOME, ["g"], "completed", ""),
    "one that is not allowed": (SOME, ["h"], "completed", "that it was not to"),
    "no call, some allowed": (SOME, [], "completed", ""),
    "any call": (Choice("required"), ["h"], "completed", ""),
    "no call": (Choice("required"), [], "completed", "none of the tools that it had to"),
    "a call in spite of none": (Choice("none"), ["f"], "completed", "that it was not to"),
    "none": (Choice("none"), [], "completed", ""),
}


def items(called: list[str]) -> list[dict[str, Any]]:
    return [{"type": "message"}, *({"type": "function_call", "name": name} for name in called)]


@pytest.mark.requirement("tools.choice-kept")
@pytest.mark.parametrize(("choice", "called", "status", "told"), ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_a_choice_that_is_not_kept_is_told(choice: Choice, called: list[str], status: str, told: str, *, streamed: bool) -> None:
    notes: list[Note] = []
    stage = ChoiceKept(choice, notes)
    if streamed:
        events = [event("response.output_item.done", item=item) for item in items(called)] + [event(f"response.{status}")]
        assert [one for each in events if each.type in stage.types for one in stage.feed(each)] == [
            e for e in events if e.type in stage.types
        ]
    else:
        document = Document(json.dumps({"status": status, "output": items(called)}).encode())
        assert stage.response(document) is document
    assert [note.kind for note in notes] == ([Kind.CHANGED] if told else [])
    assert all(told in note.why for note in notes)
