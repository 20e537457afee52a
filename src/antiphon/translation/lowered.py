"""The client's items and tools in base form: messages, reasoning, function calls and their outputs, and function tools.

Both APIs start from here: a Responses upstream gets the lowered items, a chat upstream the messages made of them. An item without a base form
is left out and told. Not here: order and pairing (`history.pairing`), what a request body looks like (`chat`, `responses`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from antiphon.history.pairing import Lowered
from antiphon.protocol import item_ids, item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.item_views import CallOutput, CustomCall, FunctionCall, Message
from antiphon.protocol.notes import Kind, Note
from antiphon.tools import declaration, discovery, lowering
from antiphon.tools.declaration import Declaration
from antiphon.tools.registry import Registry
from antiphon.translation.schemas import SchemaRules, fitted

View = TypeVar("View", bound=item_views.Item)


def lower(items: Iterable[Raw], registry: Registry, notes: list[Note], *, also: frozenset[str] = frozenset()) -> list[Lowered]:
    """The items in base form, in their order; those of the types in `also` as they are."""
    lowered: list[Lowered] = []
    late = _LateTools(registry)
    for number, raw in enumerate(items):
        where = f"input[{number}]"
        view = item_views.read(raw, where)
        type = item_views.kind(raw, where) if view is None else view.type
        one = None if view is None else _base(view, Document(raw), where, registry)
        late.feed(type, where, one)
        if one is not None:
            lowered.append(one)
        elif type in also:
            lowered.append(Lowered(type, Document(raw), where))
        elif type not in SILENT:
            notes.append(
                Note(Kind.DROPPED, where, _WHY.get(type, f"{type} has no form there") if view is not None else f"{type} is not known")
            )
        if type in _TOLD:
            notes.append(Note(Kind.CHANGED, where, "shown in words"))
    if late.where:
        notes.append(Note(Kind.MOVED, late.where, "these tools are declared from here on: the prompt's beginning moves"))
    return lowered


class _LateTools:
    """Finds the item that tools came with which the request before did not declare: none where the model has spoken since."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._declared = registry.size
        self._has_spoken = False
        self.where = ""

    def feed(self, type: str, where: str, item: Lowered | None) -> None:
        """The items in their order."""
        declared = self._registry.size
        if item is not None and item.is_models:
            self._has_spoken, self.where = True, ""
        elif declared > self._declared or (type == "additional_tools" and self._has_spoken):
            self.where = where
        self._declared = declared


SILENT = frozenset({"additional_tools", "configuration_update", "ghost_snapshot"})
"""Items that a model is never shown: their tools and settings are read elsewhere, and a snapshot is for the client alone."""
_WHY: dict[str, str] = dict.fromkeys(("compaction", "compaction_summary", "context_compaction"), "sealed: only its maker can read it")
"""Why an item is left out, where that is not for its type alone."""


def additional_tools(spelled: Raw) -> list[Declaration]:
    """The tools that a request declares inside its input."""
    views = _of_kind(spelled, "additional_tools", item_views.AdditionalTools)
    return [one for where, view in views for one in declaration.read(view.tools, f"{where}.tools")]


def effort(spelled: Raw) -> str | None:
    """The reasoning effort as the input sets it last; None where it does not."""
    views = _of_kind(spelled, "configuration_update", item_views.ConfigurationUpdate)
    told = [Document(view.reasoning).text("effort") for _, view in views if json.is_object(view.reasoning)]
    return next(filter(None, reversed(told)), None)


def _of_kind(spelled: Raw, kind: str, view: type[View]) -> Iterator[tuple[str, View]]:
    """The items of one type, each with its path. Most requests have none, which one search tells."""
    if f'"{kind}"'.encode() in memoryview(spelled).tobytes() and json.is_array(spelled):
        for number, raw in enumerate(json.elements(spelled)):
            if isinstance(found := item_views.read(raw, f"input[{number}]"), view):
                yield f"input[{number}]", found


def _base(view: item_views.Item, document: Document, where: str, registry: Registry) -> Lowered | None:
    form = _FORMS.get(type(view))
    return None if form is None else form(view, document, where, registry)


def _said(view: Message, document: Document, where: str, registry: Registry) -> Lowered:
    if view.role == "assistant" and (envelope := _envelope(view, where)) is not None:
        return _delivered(envelope.author, envelope.recipient, envelope.content, where)
    return Lowered("message", document, where, role=view.role, answer=item_ids.answer(view.id))


def _thought(view: item_views.Reasoning, document: Document, where: str, registry: Registry) -> Lowered:
    return Lowered("reasoning", document, where, answer=item_ids.answer(view.id))


def _call(view: FunctionCall | CustomCall, document: Document, where: str, registry: Registry) -> Lowered:
    call = registry.lowered_call(document, lowering.BY_CALL[view.type], (view.namespace or None, view.name))
    return Lowered("function_call", call, where, call_id=view.call_id, answer=item_ids.answer(view.id))


def _only_one(view: item_views.Item, document: Document, where: str, registry: Registry) -> Lowered | None:
    """A call of a kind of which there is only one tool."""
    row = lowering.BY_CALL.get(view.type)
    if row is None:
        return None
    call = registry.lowered_call(document, row, (None, row.named))
    return Lowered("function_call", call, where, call_id=call.text("call_id"), answer=item_ids.answer(view.id))


def _output(view: CallOutput, document: Document, where: str, registry: Registry) -> Lowered | None:
    row = lowering.BY_OUTPUT.get(view.type)
    if row is None:
        return None
    output = row.lower_output(document, where)
    return Lowered("function_call_output", output, where, call_id=view.call_id or output.text("call_id"))


def _search_output(view: item_views.ToolSearchOutput, document: Document, where: str, registry: Registry) -> Lowered:
    found = registry.find(declaration.read(view.tools, f"{where}.tools"))
    body = Raw(discovery.found_text((entry.function for entry in found), registry.dispatcher))
    output = Document.of({"type": "function_call_output", "call_id": view.call_id, "output": body})
    return Lowered("function_call_output", output, where, call_id=view.call_id)


def _from_agent(view: item_views.AgentMessage, document: Document, where: str, registry: Registry) -> Lowered:
    return _delivered(view.author, view.recipient, _plain(view.content), where)


def _delivered(author: str, recipient: str, words: str, where: str) -> Lowered:
    """What another agent says: it comes from outside, whatever item it came in."""
    return _message("user", f"Message from {author or 'an agent'} to {recipient or 'you'}:\n{words}", where)


class _Envelope(msgspec.Struct):
    """A message between agents as it was before there were `agent_message` items: JSON that the assistant seems to have said."""

    author: str
    recipient: str
    content: str
    trigger_turn: bool


_ENVELOPE = json.reader(_Envelope)


def _envelope(view: Message, where: str) -> _Envelope | None:
    if b"trigger_turn" not in memoryview(view.content).tobytes():
        return None
    parts = item_views.parts(view.content, f"{where}.content")
    try:
        return json.view((parts[0].text or "").encode(), _ENVELOPE) if len(parts) == 1 else None
    except ValueError:
        return None


def _hosted(view: item_views.HostedCall, document: Document, where: str, registry: Registry) -> Lowered | None:
    if view.type not in _TOLD:
        return None
    asked = document.text("revised_prompt")
    return _message("assistant", f"[{_TOLD[view.type]}{f': {asked}' if asked else '.'}]", where)


def _compacted(view: item_views.Compaction, document: Document, where: str, registry: Registry) -> Lowered | None:
    """What came before, in short. Words have blanks between them, and what is sealed has none."""
    told = [*item_views.parts(view.summary, f"{where}.summary"), *item_views.parts(view.content, f"{where}.content")]
    words = "\n".join(part.text for part in told if part.text) or view.encrypted_content or ""
    return _message("user", f"Summary of the conversation so far:\n{words}", where) if _BLANK.search(words) else None


_BLANK = re.compile(r"\s")
_SEALED = re.compile(r"[A-Za-z0-9+/_=-]{100,}")
"""So long a text without a blank in it is none that an agent writes to another."""


_FORMS: dict[type[item_views.Item], Callable[[Any, Document, str, Registry], Lowered | None]] = {
    Message: _said,
    item_views.Reasoning: _thought,
    FunctionCall: _call,
    CustomCall: _call,
    CallOutput: _output,
    item_views.ToolSearchCall: _only_one,
    item_views.ToolSearchOutput: _search_output,
    item_views.LocalShellCall: _only_one,
    item_views.PatchCall: _only_one,
    item_views.AgentMessage: _from_agent,
    item_views.HostedCall: _hosted,
    item_views.Compaction: _compacted,
}
"""View → its base form. Other items have none."""

_TOLD = {"image_generation_call": "I generated an image here"}
"""Calls of a server's own that another server knows nothing of, in words."""


def _plain(parts: Iterable[item_views.Part]) -> str:
    """The words of parts; what another server calls encrypted is plain text where nobody encrypts."""
    return "".join(part.text or _unsealed(part.encrypted_content or "") for part in parts)


def _unsealed(text: str) -> str:
    return "[sealed: only its maker can read it]" if _SEALED.fullmatch(text) else text


def _message(role: str, text: str, where: str) -> Lowered:
    kind = "output_text" if role == "assistant" else "input_text"
    document = Document.of({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
    return Lowered("message", document, where, role=role)


def functions(registry: Registry, rules: SchemaRules, notes: list[Note]) -> list[tuple[Document, str]]:
    """The function tools for an upstream, with schemas that it takes, each with the path it was declared at."""
    made = [(fitted(entry.function, entry.declared.where, rules, notes), entry.declared.where) for entry in registry.callable_entries]
    if registry.dispatcher is not None:
        made.append((discovery.dispatcher(registry.dispatcher), "tools"))
    return made
