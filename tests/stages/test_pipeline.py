"""Stages in a row: an event meets those that want its type, and only those."""

from collections.abc import Iterable

from antiphon.protocol.event_views import Event, Run, Spoken, Streamed
from antiphon.stages.pipeline import Pipeline
from tests.stages.wire import arrived, event, frame

DELTA = "response.output_text.delta"
DATA = b"".join(frame(DELTA, item_id="m", delta=str(number)) for number in range(4))


class Spelled:
    """Writes down what it sees, and gives what it is told to for each event."""

    def __init__(self, types: set[str], *made: str) -> None:
        self.types = types
        self.made = made
        self.seen: list[str] = []

    def feed(self, event: Event) -> Iterable[Event]:
        self.seen.append(event.type)
        return [event.but(type=type) for type in self.made]


class Once(Spelled):
    """Has seen enough after one."""

    def feed(self, event: Event) -> Iterable[Event]:
        self.types.discard(event.type)
        self.seen.append(event.type)
        return [event.but(seen=True)]


def types(events: Iterable[Streamed]) -> list[str]:
    return [each.type for each in events]


def test_without_stages_everything_goes_through_untouched() -> None:
    events = arrived(DATA, runs=True)
    assert Pipeline([]).feed(events) is events


def test_an_event_that_no_stage_wants_is_the_same_object() -> None:
    first, stage = event("a"), Spelled({"b"}, "c")
    assert Pipeline([stage]).feed([first]) == [first]
    assert stage.seen == []


def test_one_event_may_become_several_or_none() -> None:
    assert types(Pipeline([Spelled({"a"}, "x", "y"), Spelled({"y"})]).feed([event("a"), event("b")])) == ["x", "b"]


def test_a_changed_type_meets_the_later_stages_that_want_it() -> None:
    first, second, third = Spelled({"a"}, "b"), Spelled({"a"}, "z"), Spelled({"b"}, "c")
    assert types(Pipeline([first, second, third]).feed([event("a")])) == ["c"]
    assert (first.seen, second.seen, third.seen) == (["a"], [], ["b"])


def test_a_run_that_no_stage_wants_stays_a_run() -> None:
    (run,) = arrived(DATA, runs=True)
    assert isinstance(run, Run)
    assert Pipeline([Spelled({"a"})]).feed([run]) == [run]


def test_a_run_is_opened_for_a_stage_that_wants_its_kind() -> None:
    stage = Spelled({DELTA}, DELTA)
    made = Pipeline([stage]).feed(arrived(DATA, runs=True))
    assert types(made) == stage.seen == [DELTA] * 4


def test_a_run_stays_whole_from_where_the_stage_has_seen_enough() -> None:
    stage = Once({DELTA})
    first, rest = Pipeline([stage]).feed(arrived(DATA, runs=True))
    assert isinstance(first, Event)
    assert first.get("seen") is True
    assert isinstance(rest, Run)
    assert (rest.count, DATA.endswith(rest.wire()), stage.seen) == (3, True, [DELTA])


def test_a_row_of_our_own_is_opened_as_a_run_is() -> None:
    row = Spoken(DELTA, (b'{"type":"%b","delta":' % DELTA.encode(), b"}"), [b'"0"', b'"1"', b'"2"'])
    assert Pipeline([Spelled({"a"})]).feed([row]) == [row]
    first, rest = Pipeline([Once({DELTA})]).feed([row])
    assert isinstance(first, Event)
    assert isinstance(rest, Spoken)
    assert [first.get("seen"), first.get("delta"), *(each.get("delta") for each in rest.events())] == [True, "0", "1", "2"]
    assert types(Pipeline([Spelled({DELTA}, DELTA)]).feed([row])) == [DELTA] * 3
