"""Thoughts between `<think>` tags: found however the text is cut, and only where the text begins with them."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.translation.thinking import ThinkSplitter

pytestmark = pytest.mark.requirement("chat.think-tags")


def split(pieces: list[str], *, looks: bool = True) -> tuple[str, str]:
    """The thoughts and the text."""
    splitter = ThinkSplitter(looks=looks)
    found = [part for piece in pieces for part in splitter.feed(json.dumps(piece).encode())] + splitter.flush()
    return tuple("".join(json.loads(piece) for thought, piece in found if thought is kind) for kind in (True, False))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "thoughts", "rest"),
    [
        ("<think>why</think>because", "why", "because"),
        ("\n<think>\nwhy\n</think>\n\nbecause", "why", "because"),
        ("<think>never closed", "never closed", ""),
        ("<think>\n\na\n\nb\n</think>\nc\n", "a\n\nb", "c\n"),
        ("no thoughts <think>here</think>", "", "no thoughts <think>here</think>"),
        ("<thinking> is another tag", "", "<thinking> is another tag"),
        ("<think></think>just this", "", "just this"),
        ("<think>a < b </thin but not yet</think>ok", "a < b </thin but not yet", "ok"),
        ("", "", ""),
        ("<thi", "", "<thi"),
    ],
)
def test_thoughts_are_told_from_text(text: str, thoughts: str, rest: str) -> None:
    assert split([text]) == (thoughts, rest)
    assert split(list(text)) == (thoughts, rest)


@given(st.text(alphabet="<>/think ab\n", max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_cuts_change_nothing(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in pairwise(places)] or [text]
    assert split(pieces) == split([text])


@given(st.text(max_size=30))
def test_where_nobody_looks_text_is_text(text: str) -> None:
    assert split([f"<think>{text}"], looks=False) == ("", f"<think>{text}")
