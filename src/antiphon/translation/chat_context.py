"""What every part of a chat request's translation works with."""

from dataclasses import dataclass
from typing import Any

from antiphon.protocol.notes import Kind, Note
from antiphon.tools.registry import Registry
from antiphon.translation.dialect import ChatRules


@dataclass(frozen=True, slots=True)
class Context:
    """The dialect's rules, the request's tools, and the notes so far."""

    rules: ChatRules
    tools: Registry
    notes: list[Note]

    def drop(self, where: str, why: str = "") -> dict[str, Any]:
        """No field at all, and a note of it."""
        self.notes.append(Note(Kind.DROPPED, where, why))
        return {}

    def change(self, where: str, why: str) -> None:
        """A note that something goes on in another form."""
        self.notes.append(Note(Kind.CHANGED, where, why))
