"""The one decoder: each oddity of JSON has one treatment."""

import ast
import json as python_json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

import antiphon
from antiphon.protocol import json
from antiphon.protocol.json import BadJson, WrongType

SOURCE = Path(antiphon.__file__).parent

# Numbers.

SPELLINGS = [
    "1",
    "-0",
    "0.0",
    "1.0",
    "1e2",
    "1E+2",
    "1e-7",
    "123456789012345678901234567890",
    "1e999",
    "0.1000000000000000055511151231257827",
]


@pytest.mark.requirement("json.numbers")
@pytest.mark.parametrize("spelling", [*SPELLINGS, "9" * 5_000], ids=lambda spelling: spelling[:40])
def test_numbers_keep_their_spelling(spelling: str) -> None:
    members = json.fields(b'{"n": %b}' % spelling.encode())
    assert bytes(members["n"]) == spelling.encode()
    assert json.encode(members) == b'{"n":%b}' % spelling.encode()


@pytest.mark.parametrize(
    ("spelling", "value"),
    [("1.0", 1.0), ("1e2", 100.0), ("123456789012345678901234567890", 123456789012345678901234567890), ("1e999", float("inf")),
     ("-1e999", float("-inf")), ("9" * 5_000, float("inf"))],
    ids=lambda one: str(one)[:20],
)  # fmt: skip
def test_numbers_are_read_as_pythons(spelling: str, value: float) -> None:
    assert json.value(spelling.encode()) == value
    assert json.value(b"[%b]" % spelling.encode()) == [value]


@pytest.mark.requirement("json.not-numbers")
@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "nan"])
@pytest.mark.parametrize("around", ["%s", "[%s]", "[1e999, %s]", '{"a":{"b":%s}}'])
def test_what_is_no_number_is_no_json(word: str, around: str) -> None:
    spelled = around % word
    with pytest.raises(BadJson):
        json.value(spelled.encode())
    with pytest.raises(BadJson):
        json.lenient(spelled)
    with pytest.raises(BadJson):
        json.fields(b'{"x":%b}' % spelled.encode())


# Text.


@pytest.mark.requirement("json.utf8")
@pytest.mark.parametrize(
    ("data", "position"),
    [(b'"\xff"', 1), (b'{"a":"b\xc3"}', 7), (b'"\xed\xa0\x80"', 1), (b'"\xc0\xaf"', 1), (b'\xef\xbb\xbf"\xff"', 1)],
    ids=["stray", "cut", "raw surrogate", "overlong", "after a byte order mark"],
)
def test_invalid_utf8_is_refused_with_its_position(data: bytes, position: int) -> None:
    with pytest.raises(BadJson, match=f"invalid UTF-8 at byte {position}$"):
        json.check(data)


@pytest.mark.requirement("json.utf8")
@pytest.mark.parametrize(
    ("data", "text"),
    [(b'"a\xffb"', "a\ufffdb"), (b'"a\xc3"', "a\ufffd"), (b'"\xff\\ud800"', "\ufffd\ufffd"), ('"é😀"'.encode(), "é😀")],
    ids=["stray", "cut", "with a lone surrogate", "nothing to mend"],
)
def test_invalid_utf8_in_a_stream_is_replaced(data: bytes, text: str) -> None:
    assert json.text(json.mend(data)) == text


@given(st.binary())
def test_what_was_mended_needs_no_mending(data: bytes) -> None:
    mended = json.mend(data)
    assert json.check(mended.removeprefix(b"\xef\xbb\xbf")) == (mended.removeprefix(b"\xef\xbb\xbf"), False)


def test_what_needs_no_mending_is_not_copied() -> None:
    data = b'{"a":"b\\n"}'
    assert json.check(data)[0] is data
    assert json.mend(data) is data


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"a"', b'{"a":}', b"{'a':1}", b'{"a":1}x', b'{"a":01}', b'{"a":1.}', b'{"a":"\\q"}', b'{"a":"\n"}', b'{"a":1,}', b"\x00"],
)
def test_what_is_no_json_is_refused(data: bytes) -> None:  # fmt: skip
    with pytest.raises(BadJson):
        json.fields(data)


def test_a_byte_order_mark_is_taken_off() -> None:
    assert json.check(b"\xef\xbb\xbf{}") == (b"{}", False)


SURROGATES: dict[str, tuple[bytes, bytes]] = {
    "high alone": (rb'"\ud800"', rb'"\ufffd"'),
    "low alone": (rb'"\uDFFF"', rb'"\ufffd"'),
    "high at the end of the text": (rb'"a\udbff"', rb'"a\ufffd"'),
    "two highs and a low": (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
    "low and high": (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
    "high, and something between": (rb'"\ud83d \ude00"', rb'"\ufffd \ufffd"'),
    "in a key": (rb'{"\ud800":1}', rb'{"\ufffd":1}'),
    "a pair": (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
    "a pair in capitals": (rb'"\uD83D\uDE00"', rb'"\uD83D\uDE00"'),
    "an escaped backslash": (rb'"\\ud800"', rb'"\\ud800"'),
    "an escaped backslash and a lone half": (rb'"\\\ud800"', rb'"\\\ufffd"'),
    "not quite one": (rb'"\ud7ff\ue000"', rb'"\ud7ff\ue000"'),
}


@pytest.mark.requirement("json.surrogates")
@pytest.mark.parametrize(("data", "expected"), SURROGATES.values(), ids=SURROGATES)
def test_lone_surrogates(data: bytes, expected: bytes) -> None:
    assert json.check(data) == (expected, data != expected)


HIGH, LOW = st.sampled_from([rb"\ud800", rb"\uDBFF", rb"\ud83d"]), st.sampled_from([rb"\udc00", rb"\uDFFF", rb"\ude00"])
OTHER = st.sampled_from([rb"\\", rb"\n", rb"\"", rb"\u00e9", rb"\ufffd", b"ud800", b"u", b"d", "é😀".encode(), b"a", rb"\\ud800", rb"\/"])


@pytest.mark.requirement("json.surrogates")
@given(st.lists(st.one_of(HIGH, LOW, OTHER)))
def test_mending_changes_lone_surrogates_and_nothing_else(pieces: list[bytes]) -> None:
    data = b'"' + b"".join(pieces) + b'"'
    mended, changed = json.check(data)
    expected = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in python_json.loads(data))
    assert json.text(mended) == expected
    assert len(mended) == len(data)
    kept = [b"\\ufffd" if data[i : i + 6] != mended[i : i + 6] else None for i in range(len(data))]
    assert changed == any(kept)
    assert all(a == b for i, (a, b) in enumerate(zip(data, mended, strict=True)) if not any(kept[max(i - 5, 0) : i + 1]))


# Depth.


@pytest.mark.requirement("json.depth")
@pytest.mark.parametrize("depth", [5_000, 1_000_000])
@pytest.mark.parametrize(("open", "close"), [(b"[", b"]"), (b'{"a":', b"}")], ids=["arrays", "objects"])
def test_depth_is_refused(depth: int, open: bytes, close: bytes) -> None:
    deep = open * depth + b"1" + close * depth
    for read in (
        json.value,
        json.fields,
        json.elements,
        lambda data: json.lenient(data.decode()),
        lambda data: json.value(b"[1e999," + data + b"]"),
    ):
        with pytest.raises(ValueError, match=r"nested too deeply|Expected"):
            read(deep)


def test_a_hundred_levels_are_read() -> None:
    assert python_json.dumps(json.value(b"[" * 100 + b"]" * 100)) == "[" * 100 + "]" * 100


# Views.


class Point(msgspec.Struct):
    x: int = 0
    names: list[str] = []


@pytest.mark.parametrize(
    ("data", "path", "expected"),
    [(b'{"x":"1"}', "x", "Expected `int`, got `str`"), (b'{"names":[1]}', "names[0]", "Expected `str`, got `int`"), (b"[]", "", "Expected `object`, got `array`")],
    ids=["a member", "an element", "the whole"],
)  # fmt: skip
def test_a_wrong_type_says_where_and_what(data: bytes, path: str, expected: str) -> None:
    with pytest.raises(WrongType) as raised:
        json.view(data, json.reader(Point))
    assert (raised.value.path, raised.value.expected) == (path, expected)


@pytest.mark.parametrize(
    ("spelled", "kinds"),
    [(b'"a"', "text"), (b"[1]", "array"), (b"{}", "object"), (b"null", "null"), (b"1", ""), (b"true", ""), (b"", "")],
    ids=repr,
)  # fmt: skip
def test_kinds(spelled: bytes, kinds: str) -> None:
    known = {"text": json.is_text, "array": json.is_array, "object": json.is_object, "null": json.is_null}
    for value in (spelled, Raw(spelled)):
        assert [name for name, holds in known.items() if holds(value)] == kinds.split()


@pytest.mark.parametrize(("value", "expected"), [({"a": 1}, {"a": 1}), ([], {}), (None, {}), ("a", {})], ids=repr)
def test_an_object_or_none(value: Any, expected: dict[str, Any]) -> None:
    assert json.an_object(value) == expected


# As models write it.

LENIENT: dict[str, tuple[str, Any]] = {
    "raw line ends": ('{"a":"x\ny\tz"}', {"a": "x\ny\tz"}),
    "a lone surrogate": (r'"\ud800"', "\ufffd"),
    "a number too large": ("1e999", float("inf")),
    "digits beyond measure": ("9" * 5_000, float("inf")),
    "text outside ASCII": ('"é😀"', "é😀"),
}


@pytest.mark.parametrize(("spelled", "expected"), LENIENT.values(), ids=LENIENT)
def test_lenient(spelled: str, expected: Any) -> None:
    assert json.lenient(spelled) == expected


@pytest.mark.parametrize("spelled", ["", "{", "{'a':1}", "\x00\x00\x00[", '{"a":1}}'], ids=repr)
def test_lenient_refuses_with_a_value_error(spelled: str) -> None:
    with pytest.raises(BadJson):
        json.lenient(spelled)


# Pieces, repeated keys, lines.


@given(st.text(), st.lists(st.integers(0, 40)))
def test_pieces_of_text_are_joined_without_being_read(text: str, places: list[int]) -> None:
    bounds = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    pieces = [json.encode(text[a:b]) for a, b in pairwise(bounds)]
    assert json.text(json.joined_text(pieces)) == text


def test_a_pair_cut_in_two_pieces_becomes_whole() -> None:
    assert json.text(json.joined_text([rb'"a\ud83d"', rb'"\ude00b"'])) == "a😀b"


KEY = st.sampled_from(["a", "b", "é", "a b", "", '"', "\\", "😀"])
SPELL = st.sampled_from([
    lambda key: python_json.dumps(key).encode(),
    lambda key: python_json.dumps(key, ensure_ascii=False).encode(),
    lambda key: b'"' + "".join(f"\\u{unit:04x}" for unit in memoryview(key.encode("utf-16-le")).cast("H")).encode() + b'"',
])  # fmt: skip
VALUE = st.sampled_from([b"1", b'"}"', b"[1 , 2]", b'{"a":1,"a":2}', b"null", b'"\\""', b'",\\"a\\":"'])
GAP = st.sampled_from([b"", b"", b" ", b"\n\t"])


@pytest.mark.requirement("json.duplicate-keys")
@given(st.lists(st.tuples(KEY, SPELL, VALUE, GAP, GAP, GAP, GAP)), GAP)
def test_repeated_keys_are_found_and_only_they(rows: list[Any], end: bytes) -> None:
    data = b"{" + b",".join(g1 + spell(key) + g2 + b":" + g3 + value + g4 for key, spell, value, g1, g2, g3, g4 in rows) + b"}" + end
    keys = [row[0] for row in rows]
    assert json.repeats(data, json.fields(data)) == (len(set(keys)) < len(keys))


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_one_line_is_the_same_json(value: Any) -> None:
    spelled = python_json.dumps(value, indent=1).replace("\n", "\r\n").encode()
    line = json.one_line(spelled)
    assert b"\n" not in line
    assert b"\r" not in line
    assert python_json.loads(line) == value


@pytest.mark.requirement("json.one-decoder")
@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nobody_else_calls_a_json_decoder(path: Path) -> None:
    if path == SOURCE / "protocol" / "json.py":
        return
    found = [ast.unparse(node) for node in ast.walk(ast.parse(path.read_bytes())) if decodes(node)]
    assert found == []


def decodes(node: ast.AST) -> bool:
    """Whether this imports Python's decoder or calls msgspec's; naming the type of one is nothing."""
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] in {"json", "orjson", "simplejson"} for alias in names)
        case ast.ImportFrom(module=module):
            return (module or "").partition(".")[0] in {"json", "orjson", "simplejson"} or module == "msgspec.json"
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="msgspec"), attr="json"))):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="response" | "request" | "answer"), attr="json")):
            return True
    return False


@pytest.mark.parametrize(
    ("data", "spans"),
    [
        (b"{}", {}),
        (b'{"a":1}', {"a": (5, 6)}),
        (b' { "a" : [1, 2] , "b":null}', {"a": (9, 15), "b": (22, 26)}),
        (b'{"a":1,"a":2}', None),
    ],
)
def test_spans_say_where_each_value_stands(data: bytes, spans: dict[str, tuple[int, int]] | None) -> None:
    assert json.spans(data, json.fields(data)) == spans
