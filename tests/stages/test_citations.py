"""Links to what was found are annotations; other links are the model's own."""

import json

import pytest

from antiphon.protocol.event_views import Event
from antiphon.stages import citations

pytestmark = pytest.mark.requirement("loop.citations")

CITED = {"https://a.org/x": "A", "https://b.org/": "B", "https://c.org/w_(x)": "C"}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("no link", []),
        ("see [A](https://a.org/x).", ["[A](https://a.org/x)"]),
        ("see https://a.org/x, and [b](https://b.org)", ["https://a.org/x", "[b](https://b.org)"]),
        ("[c](https://c.org/w_(x))", ["[c](https://c.org/w_(x))"]),
        ("[other](https://other.org/) and [](https://a.org/y)", []),
        ("[https://a.org/x](https://a.org/x)", ["[https://a.org/x](https://a.org/x)"]),
        ("schön 🦦 [A](https://a.org/x)", ["[A](https://a.org/x)"]),
    ],
)
def test_found(text: str, places: list[str]) -> None:
    assert [text[one["start_index"] : one["end_index"]] for one in citations.found(text, CITED)] == places


def test_a_part_ends_behind_its_annotations() -> None:
    part = {"type": "output_text", "text": "[A](https://a.org/x)", "annotations": []}
    event = Event.made("response.content_part.done", {"item_id": "m", "output_index": 0, "content_index": 0, "part": part})
    added, done = citations.part_done(event, CITED)
    assert added.type == "response.output_text.annotation.added"
    annotation = json.loads(bytes(added))["annotation"]
    assert json.loads(bytes(done))["part"]["annotations"] == [annotation]
    assert annotation == {"type": "url_citation", "start_index": 0, "end_index": 20, "url": "https://a.org/x", "title": "A"}


def test_a_message_without_citations_keeps_its_bytes() -> None:
    event = Event.made("response.output_item.done", {"item": {"type": "message", "content": [{"type": "output_text", "text": "x"}]}})
    assert bytes(citations.item_done(event, {})) == bytes(event)
