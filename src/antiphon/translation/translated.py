"""What a translation gives: the upstream's request, and what its answer must be restored by."""

from dataclasses import dataclass

from antiphon.protocol.document import Document
from antiphon.protocol.notes import Note
from antiphon.tools.choice import Choice
from antiphon.tools.registry import Registry


@dataclass(frozen=True, slots=True)
class Translated:
    """`edited`: whether the upstream gets anything else than what the client sent."""

    path: str
    body: Document
    registry: Registry
    notes: list[Note]
    edited: bool = True
    choice: Choice | None = None
    """Which tools the client wants called."""
    logprobs: bool = False
    """Whether the client wants to know how sure a chat model was."""
