"""A freeform tool's text taken out of its arguments while they stream: split anywhere, the pieces are the text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.tools.lowering import InputUnwrapper, custom_input

TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text('\\"\n\r\t\x00\x1f/ud8c😀é{}', max_size=30)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted({place % (len(text) + 1) for place in places})
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def streamed(pieces: list[bytes]) -> str:
    """The deltas of a stream joined; each must be JSON for itself."""
    unwrapper = InputUnwrapper()
    out = [unwrapper.feed(piece) for piece in pieces]
    return "".join(json.loads(piece) for piece in out if piece is not None)


@pytest.mark.requirement("tools.custom")
@settings(deadline=None, max_examples=300)
@given(TEXT, st.lists(st.integers(0, 400), max_size=12), st.booleans(), st.booleans())
def test_split_anywhere_the_pieces_are_the_input(text: str, places: list[int], ascii_inside: bool, ascii_outside: bool) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=ascii_inside)
    pieces = [json.dumps(piece, ensure_ascii=ascii_outside).encode() for piece in cut(arguments, places)]
    assert streamed(pieces) == custom_input(arguments) == text


@settings(deadline=None)
@given(TEXT, st.lists(st.integers(0, 400), max_size=12))
def test_pieces_that_end_in_half_a_surrogate_pair(text: str, places: list[int]) -> None:
    """A server that counts in UTF-16 may cut a pair in two; each half is spelled as an escape."""
    arguments = json.dumps({"input": text}, ensure_ascii=False)
    units = arguments.encode("utf-16-le")
    halves = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    ends = sorted({place % (len(halves) + 1) for place in places})
    pieces = ["".join(halves[start:end]) for start, end in zip([0, *ends], [*ends, len(halves)], strict=True)]
    assert streamed([json.dumps(piece).encode() for piece in pieces]) == text


RAW = {
    "raw line ends": ('{"input":"a\nb\tc"}', "a\nb\tc"),
    "white space": ('\n{ "input" :\t"x" }', "x"),
    "more members behind it": ('{"input":"x","note":"y"}', "x"),
    "lone high surrogate, text behind": (r'{"input":"a\ud800b"}', "a\ufffdb"),
    "lone high surrogate at the end": (r'{"input":"a\ud800"}', "a\ufffd"),
    "two high surrogates": (r'{"input":"\ud800\ud83d\ude00"}', "\ufffd😀"),
    "lone low surrogate": (r'{"input":"\udc00"}', "\ufffd"),
    "escaped backslash": (r'{"input":"\\ud800"}', r"\ud800"),
}


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(("arguments", "text"), RAW.values(), ids=RAW)
def test_arguments_as_models_write_them(arguments: str, text: str, size: int) -> None:
    pieces = [json.dumps(arguments[at : at + size]).encode() for at in range(0, len(arguments), size)]
    assert streamed(pieces) == custom_input(arguments) == text


OTHER_FORMS = {
    "another member first": ('{"note":"y","input":"x"}', ""),
    "the text itself": ("*** Begin Patch", ""),
    "not a string": ('{"input":7}', ""),
    "an escape that is none ends it": (r'{"input":"a\db"}', "a"),
    "half a pair is never spelled": (r'{"input":"a\ud83d', "a"),
}


@pytest.mark.parametrize(("arguments", "text"), OTHER_FORMS.values(), ids=OTHER_FORMS)
def test_other_forms_stream_what_is_surely_text(arguments: str, text: str) -> None:
    assert streamed([json.dumps(piece).encode() for piece in arguments]) == text
