"""A call that a limit cut is kept back; one whose arguments the model got wrong is not."""

import json
from typing import Any

import pytest

from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event
from antiphon.stages.cut_calls import CutCalls
from antiphon.stages.length_cut import LengthCut
from antiphon.stages.pipeline import Pipeline
from tests.stages.wire import event, read

CUT = {"type": "function_call", "id": "cut", "arguments": '{"cmd":"rm -r'}
NONE_YET = {"type": "function_call", "id": "none", "arguments": ""}
WHOLE = {"type": "function_call", "id": "whole", "arguments": '{"cmd":"ls"}'}
SAID = {"type": "message", "id": "said", "content": []}
ADDED, DONE = "response.output_item.added", "response.output_item.done"


def items(*given: dict[str, Any]) -> list[Event]:
    return [event(type, item=item) for item in given for type in (ADDED, DONE)]


def end(status: str, *output: dict[str, Any], **more: Any) -> Event:
    return event(f"response.{status}", response={"status": status, "output": list(output), **more})


ROWS: dict[str, tuple[list[Event], list[str], list[str]]] = {
    "cut in its arguments": ([*items(SAID, WHOLE, CUT), end("incomplete", SAID, WHOLE, CUT)], ["said", "whole"], ["said", "whole"]),
    "cut before them": ([*items(NONE_YET), end("incomplete", NONE_YET)], [], []),
    "wrong in the middle": ([*items(CUT, WHOLE), end("completed", CUT, WHOLE)], ["cut", "whole"], ["cut", "whole"]),
    "wrong and the last": ([*items(CUT), end("completed", CUT)], ["cut"], ["cut"]),
    "two wrong ones, then a cut one": ([*items(CUT, CUT, CUT), end("incomplete", CUT)], ["cut", "cut"], []),
    "a failure behind it": ([*items(CUT), end("failed")], ["cut"], []),
}


@pytest.mark.requirement("stream.cut-call")
@pytest.mark.parametrize(("given", "done", "output"), ROWS.values(), ids=ROWS)
def test_which_calls_are_delivered(given: list[Event], done: list[str], output: list[str]) -> None:
    made = [read(one) for one in Pipeline([CutCalls()]).feed(given) if isinstance(one, Event)]
    assert [one["item"]["id"] for one in made if one["type"] == DONE] == done
    assert [item["id"] for item in made[-1]["response"]["output"]] == output
    assert [one["type"] for one in made if one["type"] != DONE] == [one.type for one in given if one.type != DONE]


@pytest.mark.requirement("stream.cut-call")
@pytest.mark.parametrize("shown", ["incomplete", "completed"])
def test_a_cut_call_stays_away_where_the_cut_is_hidden_or_called_completed(shown: str) -> None:
    stages = [LengthCut(hidden_limit=10, shown="incomplete"), CutCalls(), LengthCut(hidden_limit=None, shown=shown)]
    made = Pipeline(stages).feed([*items(CUT), end("completed", CUT, usage={"output_tokens": 10})])
    last = made[-1]
    assert [one.type for one in made] == [ADDED, f"response.{shown}"]
    assert isinstance(last, Event)
    assert read(last)["response"]["output"] == []


def test_a_response_that_was_not_streamed() -> None:
    whole = Document(json.dumps({"status": "completed", "output": [CUT]}).encode())
    assert CutCalls().response(whole) is whole
    assert CutCalls().response(whole.but(status="incomplete")).elements("output") == []
