"""A length cut told rightly: by the usage where the server hides it, as completed where the client prefers that."""

from typing import Any

import pytest

from antiphon.protocol.document import Document
from antiphon.stages.length_cut import LengthCut
from tests.stages.wire import event, read

COMPLETED = {"status": "completed", "incomplete_details": None, "usage": {"output_tokens": 10}}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "usage": {"output_tokens": 10}}
FILTERED = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
FAILED = {"status": "failed", "usage": {"output_tokens": 10}}

ROWS: dict[str, tuple[int | None, str, dict[str, Any], str, str | None]] = {
    "the limit was reached": (10, "incomplete", COMPLETED, "incomplete", "max_output_tokens"),
    "the limit was not reached": (11, "incomplete", COMPLETED, "completed", None),
    "no limit": (None, "incomplete", COMPLETED, "completed", None),
    "no usage": (10, "incomplete", {"status": "completed"}, "completed", None),
    "told by the server": (None, "incomplete", CUT, "incomplete", "max_output_tokens"),
    "told, completed preferred": (None, "completed", CUT, "completed", None),
    "hidden, completed preferred": (10, "completed", COMPLETED, "completed", None),
    "another reason stays": (None, "completed", FILTERED, "incomplete", "content_filter"),
    "a failure stays": (10, "completed", FAILED, "failed", None),
}


@pytest.mark.requirement("stream.length-cut")
@pytest.mark.parametrize(("limit", "shown", "response", "status", "reason"), ROWS.values(), ids=ROWS)
def test_how_a_response_ends(limit: int | None, shown: str, response: dict[str, Any], status: str, reason: str | None) -> None:
    stage = LengthCut(hidden_limit=limit, shown=shown)
    (told,) = [read(each) for each in stage.feed(event(f"response.{response['status']}", response=response))]
    assert (told["type"], told["response"]["status"]) == (f"response.{status}", status)
    assert (told["response"].get("incomplete_details") or {}).get("reason") == reason


def test_an_end_that_is_right_keeps_its_bytes() -> None:
    document = Document(b'{"status": "completed",  "usage":{"output_tokens":3}}')
    assert LengthCut(hidden_limit=10, shown="incomplete").response(document) is document
