"""What a person has set for a model's requests, where the client says nothing. Pure.

A setting of the Responses API is added to the request itself, so that it is translated, and shown in the response, as if the client had said it. Any other
is a field of the server's own and is added to what is sent. `null` is nothing said; an object gets the members that it lacks. Nothing of this is told
as a loss: the client never asked for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from msgspec import Raw

from antiphon.protocol import json, response
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Note

NEVER = frozenset(
    {
        "model", "input", "messages", "prompt", "stream", "tools", "tool_choice", "functions", "background", "store", "conversation",
        "previous_response_id",
    }
)  # fmt: skip
"""What a request is, rather than how it is answered: no default may stand for it."""
SETTINGS = response.ECHOED - NEVER


def asked(request: Document, defaults: Mapping[str, Any]) -> Document:
    """A client's request, with the settings that it leaves to the gateway."""
    return _completed(request, {name: value for name, value in defaults.items() if name in SETTINGS})


def sent(body: Document, defaults: Mapping[str, Any]) -> Document:
    """A body for the server, with the fields of its own."""
    return _completed(body, {name: value for name, value in defaults.items() if name not in SETTINGS})


def told(notes: Iterable[Note], request: Document, defaults: Mapping[str, Any]) -> list[Note]:
    """The notes that are about what the client said."""
    ours = tuple(_added(request, defaults)) if defaults else ()
    return [note for note in notes if not f"{note.where}.".startswith(ours)]


def _added(request: Document, defaults: Mapping[str, Any]) -> Iterator[str]:
    """The paths of what is not the client's, each with a dot behind it."""
    for name, default in defaults.items():
        said = _said(request, name)
        if said is None:
            yield f"{name}."
        else:
            yield from (f"{name}.{member}." for member in _lacking(said, default))


def _completed(document: Document, defaults: Mapping[str, Any]) -> Document:
    changes: dict[str, Any] = {}
    for name, default in defaults.items():
        said = _said(document, name)
        if said is None:
            changes[name] = default
        elif lacking := _lacking(said, default):
            changes[name] = Document(said).but(**lacking)
    return document.but(**changes) if changes else document


def _lacking(said: Raw, default: Any) -> dict[str, Any]:
    """The members of a default that an object lacks."""
    if not isinstance(default, dict) or not json.is_object(said):
        return {}
    given = Document(said)
    return {name: value for name, value in cast("dict[str, Any]", default).items() if _said(given, name) is None}


def _said(document: Document, name: str) -> Raw | None:
    """A member that says something."""
    said = document.members.get(name)
    return None if said is None or json.is_null(said) else said
