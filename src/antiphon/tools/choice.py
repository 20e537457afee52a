"""What a client wants called, in every form that `tool_choice` has: a word, a tool by its name, the tools that are allowed.

Read once for both APIs, into upstream names. Not here: how an API spells it (`translation`), whether the model server kept to it
(`stages.choice_kept`).
"""

from dataclasses import dataclass

from msgspec import Raw

from antiphon.protocol import json, request
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.tools import lowering
from antiphon.tools.registry import Entry, Registry

AUTO, NONE, REQUIRED = "auto", "none", "required"
NAMED, ALLOWED = "named", "allowed"


@dataclass(frozen=True, slots=True)
class Choice:
    """`mode` is the word for it. `names`: the only tools that may be called, where not all may."""

    mode: str
    names: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What it takes to be told it: a word, a name or a list of names."""
        if not self.names:
            return self.mode if self.mode in (NONE, REQUIRED) else AUTO
        return NAMED if self.one is not None else ALLOWED

    @property
    def one(self) -> str | None:
        """The one tool that must be called."""
        return self.names[0] if self.mode == REQUIRED and len(self.names) == 1 else None

    @property
    def binds(self) -> bool:
        """Whether there is anything to keep to."""
        return bool(self.names) or self.mode in (NONE, REQUIRED)


def read(spelled: Raw, tools: Registry, notes: list[Note]) -> Choice | None:
    """The choice among the tools that are there; None where there is none to make."""
    given = request.choice(spelled)
    word = json.text(spelled) if len(memoryview(spelled)) and json.is_text(spelled) else None
    if not tools.callable_entries:
        if given is not None or word not in (None, AUTO, NONE):
            notes.append(Note(Kind.DROPPED, "tool_choice", "there are no tools upstream"))
        return None
    if given is None:
        return None if word is None else Choice(word)
    return _allowed(given, tools, notes) if given.text("type") == "allowed_tools" else _named(given, tools, notes)


def _named(given: Document, tools: Registry, notes: list[Note]) -> Choice | None:
    names = _names(given, tools)
    if not names:
        notes.append(Note(Kind.DROPPED, "tool_choice", "no such tool upstream"))
    return Choice(REQUIRED, tuple(names)) if names else None


def _allowed(given: Document, tools: Registry, notes: list[Note]) -> Choice:
    told = given.document("allowed_tools") or given  # as Chat Completions nests it
    names: dict[str, None] = {}
    for number, tool in enumerate(told.objects("tools")):
        found = _names(tool, tools)
        names |= found
        if not found:
            notes.append(Note(Kind.DROPPED, f"tool_choice.tools[{number}]", "no such tool upstream"))
    return Choice(told.text("mode") or AUTO, tuple(names)) if names else Choice(NONE)


def _names(tool: Document, tools: Registry) -> dict[str, None]:
    """The upstream names of what one entry names: a tool, the only one of its kind, or all of a namespace."""
    kind = tool.text("type") or ""
    told = tool.document(kind) or tool  # as Chat Completions nests it
    name = told.text("name") or (lowering.BY_KIND[kind].named if kind in lowering.BY_KIND else "")
    found = tools.members(name) if kind == "namespace" else _only(tools.meant(name, told.text("namespace")))
    return dict.fromkeys(tools.called_as(entry) for entry in found)


def _only(entry: Entry | None) -> list[Entry]:
    return [] if entry is None else [entry]
