"""A choice among tools as the server can be told it. Pure tables do not do: what cannot be said is brought about by what is declared.

No tools are declared for `none`, one tool for a choice by name; that moves the prompt's beginning for this one request. Where nothing can force
a call, the model is left to choose, and that is told. Not here: how an API spells a choice, what the client asked for (`tools.choice`).
"""

from collections.abc import Callable

from antiphon.protocol.notes import Kind, Note
from antiphon.tools.choice import ALLOWED, AUTO, NAMED, NONE, REQUIRED, Choice
from antiphon.tools.registry import Registry


def as_known(asked: Choice | None, known: frozenset[str], tools: Registry, notes: list[Note]) -> Choice | None:
    """The choice by the kinds that the server knows; None where it cannot be told at all."""
    if asked is None or asked.kind == AUTO or asked.kind in known:
        return asked
    if asked.kind == ALLOWED:
        notes.append(Note(Kind.CHANGED, "tool_choice.tools", "the server is told no list: all tools stay allowed"))
        return as_known(Choice(asked.mode), known, tools, notes)
    if asked.kind in (NONE, NAMED):
        notes.append(Note(Kind.MOVED, "tool_choice", "other tools are not declared: the prompt's beginning moves"))
    if asked.kind == NAMED and REQUIRED in known:
        return Choice(REQUIRED)
    if asked.kind == REQUIRED and NAMED in known and tools.size == 1:
        return Choice(REQUIRED, tuple(tools.entries))
    if asked.mode == REQUIRED:
        notes.append(Note(Kind.CHANGED, "tool_choice", "it is left to the model whether it calls"))
    return None


def declares(asked: Choice | None, told: Choice | None) -> Callable[[str], bool]:
    """Whether a tool of that name is declared: where the choice itself cannot be told, what is there to call tells it."""
    kind = "" if asked is None or asked.kind == (told.kind if told is not None else "") else asked.kind
    wanted = None if asked is None else asked.one
    return lambda name: kind != NONE and (kind != NAMED or name == wanted)
