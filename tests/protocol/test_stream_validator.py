"""The grammar's tables, and the machine that walks them."""

import json
from typing import Any

import pytest

from antiphon.protocol import stream_rules as rules
from antiphon.protocol.event_views import Event
from antiphon.protocol.notes import Kind
from antiphon.protocol.stream_rules import Phase, State
from antiphon.protocol.stream_validator import StreamValidator

ADDED, DONE = rules.ITEM_ADDED, rules.ITEM_DONE


def event(type: str, **members: Any) -> Event:
    return Event(type, json.dumps({"type": type, **members}).encode())


def item(type: str, index: int = 0, *, event_type: str = ADDED, id: str | None = None) -> Event:
    return event(event_type, output_index=index, item={"type": type, "id": id or f"i_{index}"})


def inside(type: str, part: str = "", *, index: int = 0, item_id: str | None = None, place: int = 0) -> Event:
    members = {"output_index": index, "item_id": item_id or f"i_{index}", "content_index": place}
    return event(type, **members, **({"part": {"type": part}} if part else {}))


def judged(*events: Event) -> list[tuple[str, str]]:
    """What the stream broke: event type and reason."""
    validator = StreamValidator()
    notes = [note for each in events for note in validator.feed(each)]
    assert {note.kind for note in notes} <= {Kind.BROKEN}
    return [(note.where, note.why) for note in notes]


CREATED, IN_PROGRESS, COMPLETED = event(rules.CREATED), event(rules.IN_PROGRESS), event(rules.COMPLETED)
MESSAGE = [
    item("message"),
    inside(rules.PART_ADDED, "output_text"),
    inside(rules.TEXT_DELTA),
    inside(rules.TEXT_DONE),
    inside(rules.PART_DONE, "output_text"),
    item("message", event_type=DONE),
]
CALL = [item("function_call"), inside(rules.ARGUMENTS_DELTA), inside(rules.ARGUMENTS_DONE), item("function_call", event_type=DONE)]

GOOD: dict[str, list[Event]] = {
    "nothing said": [CREATED, COMPLETED],
    "queued first": [CREATED, event(rules.QUEUED), IN_PROGRESS, COMPLETED],
    "kept alive": [CREATED, IN_PROGRESS, IN_PROGRESS, *MESSAGE, IN_PROGRESS, COMPLETED],
    "a message": [CREATED, IN_PROGRESS, *MESSAGE, COMPLETED],
    "a message in one piece": [CREATED, item("message"), item("message", event_type=DONE), COMPLETED],
    "a call": [CREATED, *CALL, COMPLETED],
    "a call without deltas": [CREATED, CALL[0], CALL[2], CALL[3], COMPLETED],
    "a call without its done": [CREATED, CALL[0], CALL[1], CALL[3], COMPLETED],
    "two items": [CREATED, *MESSAGE, item("function_call", 1), item("function_call", 1, event_type=DONE), COMPLETED],
    "two parts": [CREATED, *MESSAGE[:-1], inside(rules.PART_ADDED, "refusal", place=1), inside(rules.REFUSAL_DELTA, place=1),
                  inside(rules.REFUSAL_DONE, place=1), inside(rules.PART_DONE, "refusal", place=1), MESSAGE[-1], COMPLETED],
    "two parts side by side": [CREATED, MESSAGE[0], MESSAGE[1], inside(rules.PART_ADDED, "output_text", place=1), *MESSAGE[2:5],
                               inside(rules.TEXT_DONE, place=1), inside(rules.PART_DONE, "output_text", place=1), MESSAGE[5], COMPLETED],
    "an annotation while it is said": [CREATED, *MESSAGE[:3], inside(rules.ANNOTATION), *MESSAGE[3:], COMPLETED],
    "an annotation after it was said": [CREATED, *MESSAGE[:4], inside(rules.ANNOTATION), *MESSAGE[4:], COMPLETED],
    "reasoning without parts": [CREATED, item("reasoning"), inside(rules.REASONING_DELTA), inside(rules.REASONING_DONE), item("reasoning", event_type=DONE), COMPLETED],
    "vLLM's reasoning parts": [CREATED, item("reasoning"), inside(rules.REASONING_ADDED, "reasoning_text"), inside(rules.REASONING_DELTA),
                               inside(rules.REASONING_DONE), inside(rules.REASONING_PART_DONE, "reasoning_text"), item("reasoning", event_type=DONE), COMPLETED],
    "an unknown item, any inside": [CREATED, item("new_call"), inside("response.new_call.delta"), inside(rules.TEXT_DELTA), item("new_call", event_type=DONE), COMPLETED],
    "an unknown event": [CREATED, event("response.new"), COMPLETED],
    "cut inside a call": [CREATED, *CALL[:2], event(rules.INCOMPLETE)],
    "failed inside a message": [CREATED, *MESSAGE[:3], event(rules.FAILED)],
    "failed at once": [event(rules.FAILED)],
    "an error at once": [event(rules.ERROR)],
    "an error on the way": [CREATED, event(rules.ERROR)],
    "an inside without item_id": [CREATED, item("message"), event(rules.PART_ADDED, output_index=0, part={"type": "output_text"}), event(rules.TEXT_DONE, output_index=0), event(rules.PART_DONE, output_index=0, part={"type": "output_text"}), MESSAGE[-1], COMPLETED],
}  # fmt: skip


@pytest.mark.requirement("stream.order")
@pytest.mark.parametrize("events", GOOD.values(), ids=GOOD)
def test_good_streams_break_nothing(events: list[Event]) -> None:
    assert judged(*events) == []


BAD: dict[str, tuple[list[Event], list[tuple[str, str]]]] = {
    "no created": ([*MESSAGE[:1]], [(ADDED, "may not come when the response is at its start")]),
    "created twice": ([CREATED, CREATED], [(rules.CREATED, "may not come when the response is at its open")]),
    "ended twice": ([CREATED, COMPLETED, COMPLETED], [(rules.COMPLETED, "may not come when the response is at its ended")]),
    "an item after the end": ([CREATED, COMPLETED, MESSAGE[0]], [(ADDED, "may not come when the response is at its ended")]),
    "an unknown event after the end": ([CREATED, COMPLETED, event("response.new")], [("response.new", "may not come when the response is at its ended")]),
    "an unknown event before the beginning": ([event("response.new")], [("response.new", "may not come when the response is at its start")]),
    "completed in an item": ([CREATED, *MESSAGE[:5], COMPLETED], [(rules.COMPLETED, "completes a response with an item still open")]),
    "interleaved": ([CREATED, item("message"), item("function_call", 1)], [(ADDED, "begins before the item before it is done")]),
    "an index left out": ([CREATED, item("message", 1)], [(ADDED, "output_index 1 where 0 was next")]),
    "an index again": ([CREATED, *MESSAGE, item("message", 0)], [(ADDED, "output_index 0 where 1 was next")]),
    "no index": ([CREATED, event(ADDED, item={"type": "message"})], [(ADDED, "has no item or no output_index")]),
    "no item": ([CREATED, event(ADDED, output_index=0)], [(ADDED, "has no item or no output_index")]),
    "an item that is no object": ([CREATED, event(ADDED, output_index=0, item="x")], [(ADDED, "has no item or no output_index")]),
    "done without added": ([CREATED, MESSAGE[-1]], [(DONE, "ends item 0, which was not open")]),
    "done as another": ([CREATED, MESSAGE[0], item("message", event_type=DONE, id="other")], [(DONE, "ends as another item than it began")]),
    "done as another type": ([CREATED, MESSAGE[0], item("reasoning", event_type=DONE)], [(DONE, "ends as another item than it began")]),
    "done with an open part": ([CREATED, *MESSAGE[:3], MESSAGE[-1]], [(DONE, "ends with a part still open")]),
    "a delta without an item": ([CREATED, MESSAGE[2]], [(rules.TEXT_DELTA, "belongs to no open item")]),
    "a delta of another item": ([CREATED, *MESSAGE[:2], inside(rules.TEXT_DELTA, item_id="other")], [(rules.TEXT_DELTA, "names another item than the one at its output_index")]),
    "a delta of another kind": ([CREATED, MESSAGE[0], CALL[1]], [(rules.ARGUMENTS_DELTA, "may not come inside a message")]),
    "a part of another kind": ([CREATED, MESSAGE[0], inside(rules.PART_ADDED, "summary_text")], [(rules.PART_ADDED, "may not come inside a message")]),
    "a delta before its part": ([CREATED, MESSAGE[0], MESSAGE[2]], [(rules.TEXT_DELTA, "finds its output_text absent")]),
    "a delta after its text was done": ([CREATED, *MESSAGE[:4], MESSAGE[2]], [(rules.TEXT_DELTA, "finds its output_text whole")]),
    "a part done before its text": ([CREATED, *MESSAGE[:3], MESSAGE[4]], [(rules.PART_DONE, "finds its output_text open")]),
    "a part twice": ([CREATED, *MESSAGE[:2], MESSAGE[1]], [(rules.PART_ADDED, "finds its output_text open")]),
    "arguments after they were done": ([CREATED, *CALL[:3], CALL[1]], [(rules.ARGUMENTS_DELTA, "finds its arguments closed")]),
    "an inside that is no event": ([CREATED, MESSAGE[0], event(rules.TEXT_DELTA, output_index="0")], [(rules.TEXT_DELTA, "belongs to no open item")]),
}  # fmt: skip


@pytest.mark.requirement("stream.order", "stream.items-do-not-interleave")
@pytest.mark.parametrize(("events", "expected"), BAD.values(), ids=BAD)
def test_bad_streams_are_told_what_they_break(events: list[Event], expected: list[tuple[str, str]]) -> None:
    assert judged(*events) == expected


def test_the_phase_is_where_the_response_is() -> None:
    validator = StreamValidator()
    phases = [validator.phase]
    for each in (CREATED, *MESSAGE, COMPLETED):
        validator.feed(each)
        phases.append(validator.phase)
    assert phases == [Phase.START, *[Phase.OPEN] * 7, Phase.ENDED]


def test_a_bad_event_does_not_move_the_response() -> None:
    validator = StreamValidator()
    assert validator.feed(COMPLETED)
    assert validator.phase is Phase.START


# The tables themselves.


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.ENDED])
def test_a_failure_may_come_at_any_time(phase: Phase) -> None:
    assert rules.RESPONSE[phase][rules.FAILED] is Phase.ENDED
    assert rules.RESPONSE[phase][rules.ERROR] is Phase.ENDED


def test_nothing_comes_after_the_end() -> None:
    assert rules.RESPONSE[Phase.ENDED] == {}
    assert {type for type, after in rules.RESPONSE[Phase.OPEN].items() if after is Phase.ENDED} == {*rules.TERMINAL, rules.ERROR}


PARTS = sorted({(of, part) for of, _, part in rules.STEPS})


@pytest.mark.parametrize(("of", "part"), PARTS, ids=[f"{of}.{part}" for of, part in PARTS])
def test_every_part_can_be_settled_from_every_state(of: str, part: str) -> None:
    """No state is a dead end: from each an item's `done` can be reached."""
    steps = [step for (type, _, kind), step in rules.STEPS.items() if (type, kind) == (of, part)]
    settled = set(rules.SETTLED[of])
    for _ in State:
        settled |= {before for step in steps if step.after in settled for before in step.before}
    assert {State.ABSENT, *[step.after for step in steps if step.after]} <= settled


@pytest.mark.parametrize(("row", "step"), rules.STEPS.items(), ids=[".".join(row) for row in rules.STEPS])
def test_every_event_of_an_inside_says_its_part(row: tuple[str, str, str], step: rules.Step) -> None:
    of, type, part = row
    assert step.before
    assert type in rules.INSIDE
    assert (of, type) not in rules.PART_OF or rules.PART_OF[of, type] == part
    assert ((of, type) in rules.PART_OF) == (type not in {rules.PART_ADDED, rules.PART_DONE})


def test_every_event_is_of_the_response_or_of_an_item() -> None:
    assert rules.INSIDE.isdisjoint(rules.OUTSIDE)
    assert {type for following in rules.RESPONSE.values() for type in following} == rules.OUTSIDE
    assert set(rules.SETTLED) == rules.ITEMS
