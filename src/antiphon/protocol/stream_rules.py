"""The grammar of a Responses stream, as tables.

`RESPONSE` says which event may come in which state of the response. `STEPS` says it for an item's inside: keyed by item type, event and part
type, from which state of the part to which. `stream_validator` walks both, `stream_builder` is tested against them, the docs list them.

An item whose type has no rows here may have any events: what is unknown is passed on and not judged.
"""

from enum import StrEnum
from typing import NamedTuple


class Phase(StrEnum):
    """Where a response is."""

    START = "start"
    OPEN = "open"
    ENDED = "ended"


class State(StrEnum):
    """Where a part of an item is; a call's arguments count as its one part."""

    ABSENT = "absent"
    OPEN = "open"
    WHOLE = "whole"
    CLOSED = "closed"


class Step(NamedTuple):
    """A part goes from one of `before` to `after`, or stays where it is."""

    before: tuple[State, ...]
    after: State | None


CREATED = "response.created"
QUEUED = "response.queued"
IN_PROGRESS = "response.in_progress"
COMPLETED = "response.completed"
INCOMPLETE = "response.incomplete"
FAILED = "response.failed"
ERROR = "error"
ITEM_ADDED = "response.output_item.added"
ITEM_DONE = "response.output_item.done"
PART_ADDED = "response.content_part.added"
PART_DONE = "response.content_part.done"
TEXT_DELTA = "response.output_text.delta"
TEXT_DONE = "response.output_text.done"
ANNOTATION = "response.output_text.annotation.added"
REFUSAL_DELTA = "response.refusal.delta"
REFUSAL_DONE = "response.refusal.done"
SUMMARY_ADDED = "response.reasoning_summary_part.added"
SUMMARY_PART_DONE = "response.reasoning_summary_part.done"
SUMMARY_DELTA = "response.reasoning_summary_text.delta"
SUMMARY_DONE = "response.reasoning_summary_text.done"
REASONING_ADDED = "response.reasoning_part.added"  # vLLM's; OpenAI has the content_part events for it
REASONING_PART_DONE = "response.reasoning_part.done"
REASONING_DELTA = "response.reasoning_text.delta"
REASONING_DONE = "response.reasoning_text.done"
ARGUMENTS_DELTA = "response.function_call_arguments.delta"
ARGUMENTS_DONE = "response.function_call_arguments.done"
INPUT_DELTA = "response.custom_tool_call_input.delta"
INPUT_DONE = "response.custom_tool_call_input.done"

TERMINAL = frozenset({COMPLETED, INCOMPLETE, FAILED})
"""The events that end a response. `error` ends the stream too, but carries no response."""

WITH_RESPONSE = frozenset({CREATED, QUEUED, IN_PROGRESS, *TERMINAL})
"""The events that hold a whole response object."""

RESPONSE: dict[Phase, dict[str, Phase]] = {
    Phase.START: {CREATED: Phase.OPEN, FAILED: Phase.ENDED, ERROR: Phase.ENDED},
    Phase.OPEN: {
        QUEUED: Phase.OPEN,
        IN_PROGRESS: Phase.OPEN,
        ITEM_ADDED: Phase.OPEN,
        ITEM_DONE: Phase.OPEN,
        COMPLETED: Phase.ENDED,
        INCOMPLETE: Phase.ENDED,
        FAILED: Phase.ENDED,
        ERROR: Phase.ENDED,
    },
    Phase.ENDED: {},
}

_A, _O, _W, _C = State.ABSENT, State.OPEN, State.WHOLE, State.CLOSED

STEPS: dict[tuple[str, str, str], Step] = {
    ("message", PART_ADDED, "output_text"): Step((_A,), _O),
    ("message", TEXT_DELTA, "output_text"): Step((_O,), _O),
    ("message", ANNOTATION, "output_text"): Step((_O, _W), None),
    ("message", TEXT_DONE, "output_text"): Step((_O,), _W),
    ("message", PART_DONE, "output_text"): Step((_W,), _C),
    ("message", PART_ADDED, "refusal"): Step((_A,), _O),
    ("message", REFUSAL_DELTA, "refusal"): Step((_O,), _O),
    ("message", REFUSAL_DONE, "refusal"): Step((_O,), _W),
    ("message", PART_DONE, "refusal"): Step((_W,), _C),
    ("reasoning", SUMMARY_ADDED, "summary_text"): Step((_A,), _O),
    ("reasoning", SUMMARY_DELTA, "summary_text"): Step((_O,), _O),
    ("reasoning", SUMMARY_DONE, "summary_text"): Step((_O,), _W),
    ("reasoning", SUMMARY_PART_DONE, "summary_text"): Step((_W,), _C),
    ("reasoning", PART_ADDED, "reasoning_text"): Step((_A,), _O),
    ("reasoning", REASONING_ADDED, "reasoning_text"): Step((_A,), _O),
    ("reasoning", REASONING_DELTA, "reasoning_text"): Step((_A, _O), _O),
    ("reasoning", REASONING_DONE, "reasoning_text"): Step((_A, _O), _W),
    ("reasoning", PART_DONE, "reasoning_text"): Step((_W,), _C),
    ("reasoning", REASONING_PART_DONE, "reasoning_text"): Step((_W,), _C),
    ("function_call", ARGUMENTS_DELTA, "arguments"): Step((_A, _O), _O),
    ("function_call", ARGUMENTS_DONE, "arguments"): Step((_A, _O), _C),
    ("custom_tool_call", INPUT_DELTA, "input"): Step((_A, _O), _O),
    ("custom_tool_call", INPUT_DONE, "input"): Step((_A, _O), _C),
}

ITEMS = frozenset(item for item, _, _ in STEPS)
"""The item types whose inside is judged."""

PART_OF: dict[tuple[str, str], str] = {(item, event): part for item, event, part in STEPS if event not in {PART_ADDED, PART_DONE}}
"""The part an event speaks of, where the event says it by its name alone; the `content_part` events say it in `part.type`."""

INSIDE = frozenset(event for _, event, _ in STEPS)
"""The events of an item's inside."""

DELTAS = frozenset(event for event in INSIDE if event.endswith(".delta"))

SETTLED: dict[str, tuple[State, ...]] = {"message": (_C,), "reasoning": (_C, _W), "function_call": (_C, _O), "custom_tool_call": (_C, _O)}
"""The states in which an item's parts may be when the item is done."""

OUTSIDE = frozenset({*WITH_RESPONSE, ERROR, ITEM_ADDED, ITEM_DONE})
"""The events of the response itself."""

EVENTS = OUTSIDE | INSIDE
