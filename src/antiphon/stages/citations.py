"""The places that an answer cites, as annotations: links in its text to what the gateway's own tools have found.

OpenAI's models say where they cite; any other model is asked to link what it cites, as one does in Markdown. A link to a place that no tool has
found is the model's own and is left alone. Pure.
"""

import re
from collections.abc import Mapping
from typing import Any

from antiphon.protocol import stream_rules
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Event

_LINK = re.compile(r"\[([^\[\]]{1,400})\]\((https?://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)\)")
_BARE = re.compile(r"https?://[^\s<>\"')\]]+")


def found(text: str, cited: Mapping[str, str]) -> list[dict[str, Any]]:
    """The annotations of a text: where each link to a known place stands, and what it leads to."""
    links = ((link, _known(link[2], cited)) for link in _LINK.finditer(text))
    annotations = [_annotation(*link.span(), place, cited) for link, place in links if place is not None]
    linked = [range(one["start_index"], one["end_index"]) for one in annotations]
    for bare in _BARE.finditer(text):
        place = _known(bare[0].rstrip(".,;:!?"), cited)
        if place is not None and not any(bare.start() in span for span in linked):
            annotations.append(_annotation(bare.start(), bare.start() + len(bare[0].rstrip(".,;:!?")), place, cited))
    return sorted(annotations, key=lambda one: one["start_index"])


def _known(url: str, cited: Mapping[str, str]) -> str | None:
    plain = url.rstrip("/")
    return next((place for place in cited if place.rstrip("/") == plain), None)


def _annotation(start: int, end: int, place: str, cited: Mapping[str, str]) -> dict[str, Any]:
    return {"type": "url_citation", "start_index": start, "end_index": end, "url": place, "title": cited[place]}


def part_done(event: Event, cited: Mapping[str, str]) -> list[Event]:
    """The end of a part, behind the annotations that its text has."""
    part = event.document("part")
    annotations = found(part.text("text") or "", cited) if part is not None and part.text("type") == "output_text" else []
    if part is None or not annotations:
        return [event]
    at = {name: event.members[name] for name in ("item_id", "output_index", "content_index") if name in event}
    added = [
        Event.made(stream_rules.ANNOTATION, {**at, "annotation_index": number, "annotation": one}) for number, one in enumerate(annotations)
    ]
    return [*added, event.but(part=part.but(annotations=annotations))]


def item_done(event: Event, cited: Mapping[str, str]) -> Event:
    """The end of a message, with the annotations of its parts."""
    item = event.document("item")
    if not cited or item is None or item.text("type") != "message":
        return event
    parts = [_annotated(Document(raw), cited) for raw in item.elements("content")]
    return event.but(item=item.but(content=parts))


def _annotated(part: Document, cited: Mapping[str, str]) -> Document:
    annotations = found(part.text("text") or "", cited) if part.text("type") == "output_text" else []
    return part.but(annotations=annotations) if annotations else part
