"""What a model saw of calls that the gateway ran, kept for its next turn by whoever carries the history.

The client sees `web_search_call` and no result; the model saw a call and its output. A stateless client carries that as a sealed envelope in a
`reasoning` item that stands right before the public item; where state is kept, it is kept by the public item's id. `recalled` puts calls and outputs
back where the public items stand, byte for byte, so that the prompt goes on as it was.

Pure. Not here: sealing (`sealed`), the store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Raw

from antiphon.history.sealed import NotOpened, Sealer
from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note

PURPOSE = "hosted calls"
HOSTED = frozenset({"web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools", "image_generation_call"})
"""Public items of calls that a server runs."""
_MARK = b'"antiphon-'

Open = Callable[[str], bytes]
"""Opens an envelope; raises NotOpened."""


def envelope(transcript: Sequence[Document], sealer: Sealer, *, owner: str, id: str) -> Document:
    """The item that carries what the model saw in a round."""
    content = sealer.close(json.encode([item.raw for item in transcript]), purpose=PURPOSE, owner=owner)
    return Document.of({"type": "reasoning", "id": id, "summary": [], "encrypted_content": content})


def opener(sealer: Sealer, owner: str) -> Open:
    """What opens envelopes of this owner's."""
    return lambda content: sealer.open(content, purpose=PURPOSE, owner=owner)


def has_memory(spelled: bytes | memoryview | Raw) -> bool:
    """Whether an input may hold anything to recall; a look that costs little."""
    data = memoryview(spelled).tobytes()
    return _MARK in data or any(b'"%b"' % kind.encode() in data for kind in HOSTED)


def ids(items: Iterable[Raw]) -> list[str]:
    """The public items whose transcripts may be kept."""
    found = (Document(raw) for raw in items if json.is_object(raw))
    return [one.text("id") or "" for one in found if one.text("type") in HOSTED and one.text("id")]


def recalled(items: Sequence[Raw], open: Open, kept: Mapping[str, Sequence[bytes]]) -> tuple[list[Raw], list[Note]]:
    """The items as the model saw them. What cannot be recalled is told in words where it stands, and noted."""
    out: list[Raw] = []
    notes: list[Note] = []
    covered = 0
    for number, raw in enumerate(items):
        item = Document(raw) if json.is_object(raw) else Document(b"{}")
        type, where = item.text("type"), f"input[{number}]"
        if type == "reasoning" and (item.text("encrypted_content") or "").startswith("antiphon-"):
            transcript = _opened(item, open, where, notes)
            covered = sum(Document(one).text("type") == "function_call" for one in transcript)
            out += transcript
        elif type in HOSTED:
            if covered:
                covered -= 1
            else:
                out += _kept(item, kept, where, notes)
        else:
            covered = 0 if type != "reasoning" else covered
            out.append(raw)
    return out, notes


def _opened(item: Document, open: Open, where: str, notes: list[Note]) -> list[Raw]:
    try:
        return json.elements(open(item.text("encrypted_content") or ""))
    except (NotOpened, ValueError) as shut:
        notes.append(Note(Kind.DROPPED, where, f"what the model saw of a call cannot be read: {shut}"))
        return []


def _kept(item: Document, kept: Mapping[str, Sequence[bytes]], where: str, notes: list[Note]) -> list[Raw]:
    transcript = kept.get(item.text("id") or "")
    if transcript is not None:
        return [Raw(one) for one in transcript]
    words = _words(item)
    if words is None:
        return []
    notes.append(Note(Kind.CHANGED, where, "what the model saw of this call is not kept here; it is told in words"))
    content: list[dict[str, Any]] = [{"type": "output_text", "text": words, "annotations": []}]
    return [Document.of({"type": "message", "role": "assistant", "content": content}).raw]


def _words(item: Document) -> str | None:
    """A call that nobody remembers, in words."""
    match item.text("type"):
        case "web_search_call":
            action = item.document("action") or Document(b"{}")
            asked = action.text("query") or action.text("url") or ", ".join(json.text(one) for one in action.elements("queries"))
            return f"[I searched the web{f': {asked}' if asked else ''}. The results are not here any more.]"
        case "file_search_call":
            asked = ", ".join(json.text(one) for one in item.elements("queries"))
            return f"[I searched files{f': {asked}' if asked else ''}. The results are not here any more.]"
        case "code_interpreter_call":
            return f"[I ran code:\n{item.text('code') or ''}\nIts output is not here any more.]"
        case "mcp_call":
            output = item.text("output") or item.text("error") or ""
            return f"[I called {item.text('server_label')}.{item.text('name')}({item.text('arguments') or ''}). It answered: {output}]"
        case _:
            return None
