"""What Codex 0.20 to 0.169 wrote: read without loss, and rebuilt as what was said in it. `scripts/eras` makes the files."""

import pytest

from antiphon.history.normalisation import normalised
from antiphon.threads.context import begins_turn
from antiphon.threads.line import Era
from tests.eras.recordings import ERAS, RECORDINGS
from tests.threads.recorded import RECORDED, SAID, Recorded

EACH = pytest.mark.parametrize("recorded", RECORDED, ids=[one.id for one in RECORDED])


@EACH
@pytest.mark.requirement("threads.eras", "threads.identity")
def test_a_recorded_thread_is_read_without_loss(recorded: Recorded) -> None:
    thread = recorded.thread()
    assert thread.notes == []
    own = list(thread.chain.segments[-1].rollout.lines())
    assert b"".join(line.raw for line in own) == recorded.files[recorded.newest.name]
    assert {line.era for line in own} == {Era.FLAT if recorded.version == "0.20.0" else Era.ENVELOPE}


@EACH
@pytest.mark.requirement("threads.history")
def test_its_history_is_what_was_said(recorded: Recorded) -> None:
    items = normalised(recorded.thread().history().items)
    assert items.notes == []
    texts = [part["text"] for item in items.items if begins_turn(item) for part in item.get("content") if part["type"] == "input_text"]
    said = [text for text in texts if text in {word for words in SAID.values() for word in words}]
    assert tuple(said) == SAID[recorded.name]


@pytest.mark.requirement("threads.eras")
def test_every_version_is_recorded_with_all_that_it_has() -> None:
    expected = {f"{era.number}-{one.name}" for era in ERAS.values() for one in RECORDINGS if one.name not in era.lacks}
    assert {one.id for one in RECORDED} == expected
