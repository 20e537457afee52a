"""Items as a model is sent them, by Codex's own rules: every call answered, no answer without its call, nothing that only Codex reads.

What a request's items must obey before they go anywhere. Codex does this itself, so the gateway's requests from it are so already; threads that are
read from files (`threads`) or from a store are not. A server that wants outputs in another place still has them moved (`pairing`).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import Raw

from antiphon.history.pairing import ABORTED
from antiphon.protocol import item_views, json
from antiphon.protocol.document import ABSENT, Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.notes import Kind, Note

NO_IMAGES: Final = "image content omitted because you do not support image input"
NO_AUDIO: Final = "audio content omitted because you do not support audio input"
_UUID_SPACE: Final = bytes.fromhex("90d38d3e6a5b4d52bfe22f1e634bfac4")

SENT: Final[Mapping[str, frozenset[str]]] = {
    "message": frozenset({"id", "status", "role", "content", "phase"}),
    "agent_message": frozenset({"id", "author", "recipient", "content"}),
    "reasoning": frozenset({"id", "summary", "content", "encrypted_content"}),
    "local_shell_call": frozenset({"id", "call_id", "status", "action"}),
    "function_call": frozenset({"id", "status", "name", "namespace", "arguments", "call_id"}),
    "function_call_output": frozenset({"id", "call_id", "name", "namespace", "output"}),
    "custom_tool_call": frozenset({"id", "status", "call_id", "name", "namespace", "input"}),
    "custom_tool_call_output": frozenset({"id", "call_id", "name", "output"}),
    "tool_search_call": frozenset({"id", "call_id", "status", "execution", "arguments"}),
    "tool_search_output": frozenset({"id", "call_id", "status", "execution", "tools"}),
    "web_search_call": frozenset({"id", "status", "action"}),
    "image_generation_call": frozenset({"id", "status", "revised_prompt", "result"}),
    "compaction": frozenset({"id", "encrypted_content"}),
    "context_compaction": frozenset({"id", "encrypted_content"}),
    "additional_tools": frozenset({"id", "role", "tools"}),
}
"""Item type → the members of it that a model is sent. Other types are Codex's own business, or unknown, and are sent to nobody."""

OWN: Final = frozenset({"internal_chat_message_metadata_passthrough", "end_turn"})
"""Members that Codex writes for itself; that they are not sent is no loss."""
OWN_TYPES: Final = frozenset({"ghost_snapshot", "compaction_trigger", "configuration_update"})


class Answer(NamedTuple):
    """What answers a kind of call: the output's type, the beginning of an id made for it, and its other members where nothing else answered."""

    output: str
    prefix: str
    members: Mapping[str, object]


_SAID_ABORTED: Final = {"output": ABORTED}
ANSWERS: Final[Mapping[str, Answer]] = {
    "function_call": Answer("function_call_output", "fco", _SAID_ABORTED),
    "local_shell_call": Answer("function_call_output", "fco", _SAID_ABORTED),
    "custom_tool_call": Answer("custom_tool_call_output", "ctco", _SAID_ABORTED),
    "tool_search_call": Answer("tool_search_output", "tso", {"status": "completed", "execution": "client", "tools": ()}),
}
PartChange = Callable[[Document], Document]
OUTPUTS: Final = frozenset(answer.output for answer in ANSWERS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Senses:
    """What besides text a model takes. `original`: pictures in their own size, which others are shown in `high` detail."""

    images: bool = True
    audio: bool = True
    original: bool = True


ALL_SENSES: Final = Senses()


@dataclass(frozen=True, slots=True)
class Normalised:
    """The items that are sent, and what of the given ones is not."""

    items: list[Document]
    notes: list[Note]


def normalised(given: Iterable[Document], senses: Senses = ALL_SENSES) -> Normalised:
    """Items in the order given, for a model of those senses."""
    notes: list[Note] = []
    items = [item for at, one in enumerate(given) if (item := _sent(one, f"input[{at}]", notes)) is not None]
    items = list(_without_orphans(list(_answered(items, notes)), notes))
    if not senses.images:
        items = [item.but(result="") if item.text("type") == "image_generation_call" else item for item in items]
    changes = tuple(_changes(senses))
    return Normalised([_with_parts(item, changes) for item in items] if changes else items, notes)


def output_id(prefix: str, call_item_id: str | None) -> str | None:
    """The id that Codex gives to the output it makes for a call: the same one every time, so that a prompt's beginning stays."""
    if not call_item_id:
        return None
    digest = bytearray(hashlib.sha1(_UUID_SPACE + f"{prefix}:{call_item_id}".encode(), usedforsecurity=False).digest()[:16])
    digest[6], digest[8] = digest[6] & 0x0F | 0x50, digest[8] & 0x3F | 0x80
    hex = digest.hex()
    return f"{prefix}_{hex[:8]}-{hex[8:12]}-{hex[12:16]}-{hex[16:20]}-{hex[20:]}"


def _sent(item: Document, where: str, notes: list[Note]) -> Document | None:
    """An item as it is sent; None where it is not."""
    type = item.text("type") or "message"
    if type == "compaction_summary":
        item, type = item.but(type="compaction"), "compaction"
    known = SENT.get(type)
    if known is None:
        if type not in OWN_TYPES:
            notes.append(Note(Kind.UNKNOWN, where, f"an item of type {type[:40]!r}, kept and not sent"))
        return None
    if type == "message" and item.text("role") == "system":
        notes.append(Note(Kind.DROPPED, where, "a system message: Codex sends none"))
        return None
    try:
        item_views.read(item, where)
        item = _plain_output(item, where) if type in OUTPUTS and "output" in item else item
    except InvalidRequest as wrong:
        notes.append(Note(Kind.DROPPED, where, f"an item that cannot be sent: {wrong}"))
        return None
    return _members(item, known, where, notes)


def _members(item: Document, known: frozenset[str], where: str, notes: list[Note]) -> Document:
    others = [name for name in item.members if name not in known and name != "type"]
    if lost := [name for name in others if name not in OWN]:
        notes.append(Note(Kind.CHANGED, where, f"members that no model takes: {', '.join(sorted(lost))[:80]}"))
    return item.but(**dict.fromkeys(others, ABSENT)) if others else item


def _plain_output(item: Document, where: str) -> Document:
    """An output in the form that is sent, out of the object form of schemas and older clients."""
    output = item.members["output"]
    return item.but(output=item_views.output_body(output, where)) if json.is_object(output) else item


def _answered(items: list[Document], notes: list[Note]) -> Iterator[Document]:
    """A call that nothing answers is answered right behind it."""
    ids = {(item.text("type"), item.text("call_id")) for item in items if item.text("type") in OUTPUTS}
    for at, item in enumerate(items):
        yield item
        answer, call_id = ANSWERS.get(item.text("type") or ""), item.text("call_id")
        if answer is None or call_id is None or (answer.output, call_id) in ids:
            continue
        notes.append(Note(Kind.REPAIRED, f"input[{at}]", "a call without an output, answered as aborted"))
        id = output_id(answer.prefix, item.text("id"))
        named = {"id": id} if id else {}
        yield Document.of({"type": answer.output, **named, "call_id": call_id, **answer.members})


def _without_orphans(items: list[Document], notes: list[Note]) -> Iterator[Document]:
    calls = {(ANSWERS[type].output, item.text("call_id")) for item in items if (type := item.text("type") or "") in ANSWERS}
    for at, item in enumerate(items):
        type, call_id = item.text("type") or "", item.text("call_id")
        is_orphan = type in OUTPUTS and call_id is not None and (type, call_id) not in calls
        if is_orphan and not (type == "tool_search_output" and item.text("execution") == "server"):
            notes.append(Note(Kind.DROPPED, f"input[{at}]", "an output without its call"))
            continue
        yield item


def _changes(senses: Senses) -> Iterator[tuple[str, PartChange]]:
    """Which parts a model cannot take as they are, and what they become."""
    if not senses.images:
        yield "input_image", _no_image
    elif not senses.original:
        yield "input_image", _high_detail
    if not senses.audio:
        yield "input_audio", _no_audio


def _no_image(_: Document) -> Document:
    return Document.of({"type": "input_text", "text": NO_IMAGES})


def _no_audio(_: Document) -> Document:
    return Document.of({"type": "input_text", "text": NO_AUDIO})


def _high_detail(part: Document) -> Document:
    return part.but(detail="high") if part.text("detail") == "original" else part


def _with_parts(item: Document, changes: Sequence[tuple[str, PartChange]]) -> Document:
    """The item with the parts changed that a model cannot take."""
    for type, change in changes:
        for name in ("content", "output"):
            parts = item.elements(name)
            changed = [change(Document(one)).raw if _is_part(one, type) else one for one in parts]
            if any(bytes(a) != bytes(b) for a, b in zip(parts, changed, strict=True)):
                item = item.but(**{name: changed})
    return item


def _is_part(spelled: Raw, type: str) -> bool:
    return json.is_object(spelled) and Document(spelled).text("type") == type
