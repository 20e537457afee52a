"""Ids that tell of which answer an item was part."""

import pytest

from antiphon.protocol import item_ids

STEM = "0123456789abcdef" * 3


def test_an_answer_is_known_by_the_id_of_any_of_its_items() -> None:
    made = [item_ids.made(prefix, f"resp_{STEM}", index) for index, prefix in enumerate(("rs", "msg", "fc"))]
    assert made == [f"rs_{STEM}_0", f"msg_{STEM}_1", f"fc_{STEM}_2"]
    assert {item_ids.answer(id) for id in made} == {STEM}
    assert item_ids.answer(made[2].replace("fc_", "ctc_")) == STEM


@pytest.mark.parametrize(
    "id", [None, "", "0", "chatcmpl-1", f"msg_{STEM}", f"msg_{STEM}00", f"msg_{STEM}_x", f"msg_{STEM[:32]}_0", "fc_0001_0"]
)
def test_other_ids_tell_nothing(id: str | None) -> None:
    assert item_ids.answer(id) == ""
