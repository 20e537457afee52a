"""Notes, and the header that tells a client what it did not get."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import notes
from antiphon.protocol.notes import LOSSES, SHOWN, Kind, Note

DROPPED = Note(Kind.DROPPED, "tools[0]", "no backend")


@pytest.mark.parametrize("kind", list(Kind))
def test_only_losses_are_told(kind: Kind) -> None:
    note = Note(kind, "tools[0]", "why")
    told = kind in {Kind.DROPPED, Kind.CHANGED}
    assert notes.losses([note]) == ([note] if told else [])
    assert notes.header([note]) == ("tools[0] (why); count=1" if told else None)


def test_each_place_is_told_once() -> None:
    again = Note(Kind.CHANGED, "tools[0]", "something else")
    other = Note(Kind.CHANGED, "tools[1]")
    assert notes.losses([DROPPED, again, other]) == [DROPPED, other]
    assert notes.header([DROPPED, again, other]) == "tools[0] (no backend), tools[1]; count=2"


@pytest.mark.requirement("responses.table-edits")
@pytest.mark.parametrize("count", [1, SHOWN, SHOWN + 1, 1_000])
def test_the_header_is_capped_and_has_the_count(count: int) -> None:
    header = notes.header(Note(Kind.DROPPED, f"input[{n}]") for n in range(count)) or ""
    named, _, total = header.partition("; ")
    assert total == f"count={count}"
    assert named.count("input[") == min(count, SHOWN)
    assert (f"+{count - SHOWN} more" in named) == (count > SHOWN)


@given(st.lists(st.builds(Note, st.sampled_from(sorted(LOSSES)), st.text(), st.text()), min_size=1, max_size=60))
def test_the_header_can_be_sent_whatever_a_tool_is_called(lost: list[Note]) -> None:
    header = notes.header(lost) or ""
    assert header.isascii()
    assert header.isprintable()
    assert header.endswith(f"; count={len({note.where for note in lost})}")
    assert header.count(";") == 1
    assert len(header) < SHOWN * 170
