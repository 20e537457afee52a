"""A response object as it is kept: a form that many share, what is filled into it, and its output items.

Settings, tools and instructions are most of a response object and the same from turn to turn; they are kept once. What differs is taken out of
the form, and put back to the very bytes that the client was sent. Pure: bytes in, bytes out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document

_NULL = b"null"
FILLED = {
    **dict.fromkeys(
        ("id", "created_at", "completed_at", "status", "error", "incomplete_details", "previous_response_id", "conversation"), _NULL
    ),
    "prompt_cache_key": _NULL,
    "metadata": b"{}",
    "output": b"[]",
}
"""Members of a response object that are its own and not its settings', and what stands in the form for them."""
_COUNT = re.compile(rb":(\d+)")
"""The numbers of a usage. Its names are the same in every response, and stay in the form."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A response object, taken apart. `fields` lacks what is known elsewhere, and what is null."""

    form: bytes
    fields: dict[str, Any]
    output: list[bytes]


def take_apart(response: bytes, known: Mapping[str, bytes]) -> Parts:
    """The parts of a response object; `known` are the spelled values that are kept elsewhere. Raises ValueError where it is no object."""
    document = Document(response)
    output = [bytes(item) for item in document.elements("output")]
    places = json.spans(response, document.members)
    if places is None:  # a key given twice: only the whole spells it
        return Parts(response, {}, output)
    elsewhere = {**FILLED, **known, "output": _array(output)}
    fields: dict[str, Any] = {}
    spelled: dict[tuple[int, int], bytes] = {}
    for name, value in document.members.items():
        if name in FILLED:
            spelled[places[name]] = FILLED[name]
            if bytes(value) != elsewhere[name]:
                fields[name] = value
        elif name == "usage":
            spelled[places[name]] = _COUNT.sub(b":0", bytes(value))
            fields[name] = [Raw(count) for count in _COUNT.findall(bytes(value))]
    return Parts(_with(response, spelled), fields, output)


def put_together(parts: Parts, known: Mapping[str, bytes]) -> bytes:
    """The response object that was taken apart."""
    members = json.fields(parts.form)
    places = json.spans(parts.form, members)
    if places is None:
        return parts.form
    values = {**FILLED, **known, "output": _array(parts.output), **{name: bytes(value) for name, value in parts.fields.items()}}
    spelled = {place: values[name] for name, place in places.items() if name in FILLED}
    if "usage" in parts.fields:
        counts = iter(json.elements(parts.fields["usage"]))
        spelled[places["usage"]] = _COUNT.sub(lambda _: b":" + bytes(next(counts)), bytes(members["usage"]))
    return _with(parts.form, spelled)


def _array(elements: list[bytes]) -> bytes:
    return b"[" + b",".join(elements) + b"]"


def _with(data: bytes, values: dict[tuple[int, int], bytes]) -> bytes:
    """An object's bytes with other values at some places."""
    pieces: list[bytes] = []
    at = 0
    for (start, end), value in sorted(values.items()):
        pieces += [data[at:start], value]
        at = end
    return b"".join([*pieces, data[at:]])
