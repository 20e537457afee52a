"""Documents keep their bytes: an unedited one is the same bytes, an edited one changes what the edit names."""

import gc
import json as python_json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import ABSENT, Document

VALUES = st.sampled_from([
    b"null", b"true", b"1.0", b"1e2", b"-0", b"123456789012345678901234567890", b"1e999", b'"\\u00e9"', '"é"'.encode(), b'"a\\/b"', b'""',
    b"[ 1,\n 2 ]", b'{"b" : null, "a":1.0}', b'{"a":1,"a":2}', b"[]", b"{}", b'"\\ud83d\\ude00"',
])  # fmt: skip
NAMES = st.text(max_size=5)
GAPS = st.sampled_from([b"", b" ", b"\n  ", b"\t"])


@st.composite
def objects(draw: st.DrawFn) -> tuple[bytes, dict[str, bytes]]:
    """An object as somebody spelled it, and what its members are."""
    members = draw(st.dictionaries(NAMES, VALUES))
    gap = draw(GAPS)
    inner = (b"," + gap).join(gap + json.encode(name) + gap + b":" + gap + value + gap for name, value in members.items())
    return gap + b"{" + inner + b"}" + gap, members


@pytest.mark.requirement("document.unedited")
@given(objects())
def test_an_unedited_document_is_the_same_bytes(spelled: tuple[bytes, dict[str, bytes]]) -> None:
    data, members = spelled
    document = Document(data)
    assert {name: bytes(raw) for name, raw in document.members.items()} == members
    for name in members:
        document.get(name)
        document.text(name)
        document.document(name)
        document.elements(name)
    assert bytes(document) == data
    assert bytes(document.raw) == data
    assert bytes(document.own()) == data
    assert len(document) == len(data)


@pytest.mark.requirement("document.unedited")
@given(objects())
def test_a_document_inside_another_keeps_its_bytes(spelled: tuple[bytes, dict[str, bytes]]) -> None:
    data, _ = spelled
    inner = Document(data)
    outer = Document.of({"one": inner, "many": [inner, inner], "raw": inner.raw})
    assert bytes(outer) == b'{"one":%b,"many":[%b,%b],"raw":%b}' % (data, data, data, data)


@pytest.mark.requirement("document.edited", "json.numbers")
@given(objects(), NAMES, st.one_of(st.none(), st.integers(), st.text(), st.lists(st.booleans())))
def test_an_edit_keeps_every_other_members_bytes(spelled: tuple[bytes, dict[str, bytes]], name: str, value: Any) -> None:
    data, members = spelled
    document = Document(data)
    edited = document.but(**{name: value})
    assert edited.get(name) == value
    assert {n: bytes(raw) for n, raw in edited.members.items() if n != name} == {n: raw for n, raw in members.items() if n != name}
    assert list(edited.members) == [*members, *([] if name in members else [name])]
    assert bytes(document) == data


@pytest.mark.requirement("document.edited")
@given(objects())
def test_a_member_taken_away_leaves_the_others(spelled: tuple[bytes, dict[str, bytes]]) -> None:
    data, members = spelled
    for name in members:
        edited = Document(data).but(**{name: ABSENT})
        assert name not in edited
        assert [bytes(raw) for raw in edited.members.values()] == [raw for n, raw in members.items() if n != name]


@pytest.mark.requirement("document.edited")
@given(objects())
def test_an_edit_undone_is_the_same_members(spelled: tuple[bytes, dict[str, bytes]]) -> None:
    data, members = spelled
    edited = Document(data).but(once=1).but(once=ABSENT)
    assert {name: bytes(raw) for name, raw in edited.members.items()} == {name: raw for name, raw in members.items() if name != "once"}


@pytest.mark.parametrize("name", ["self", "cls", "changes", "__proto__", "__class__", "raw", "", "a b"])
def test_any_name_can_be_edited(name: str) -> None:
    assert Document(b"{}").but(**{name: 1}).get(name) == 1


def test_taking_away_what_is_not_there_is_nothing() -> None:
    assert bytes(Document(b'{"a": 1.0}').but(b=ABSENT)) == b'{"a":1.0}'


READ = Document(b'{"text":"\\u00e9","none":null,"number":1.5,"object":{"a" : 1},"array":[1 ,{"b":2}],"true":true}')


@pytest.mark.parametrize(
    ("name", "value", "text", "inner", "elements"),
    [
        ("text", "é", "é", None, []),
        ("none", None, None, None, []),
        ("number", 1.5, None, None, []),
        ("object", {"a": 1}, None, b'{"a" : 1}', []),
        ("array", [1, {"b": 2}], None, None, [b"1", b'{"b":2}']),
        ("true", True, None, None, []),
        ("absent", None, None, None, []),
    ],
)
def test_reading_a_member(name: str, value: Any, text: str | None, inner: bytes | None, elements: list[bytes]) -> None:
    assert READ.get(name) == value
    assert READ.text(name) == text
    found = READ.document(name)
    assert (None if found is None else bytes(found)) == inner
    assert [bytes(element) for element in READ.elements(name)] == elements
    assert (name in READ) == (name != "absent")


@pytest.mark.parametrize("data", [b"[]", b'"a"', b"null", b"1"], ids=repr)
def test_what_is_no_object_has_no_members(data: bytes) -> None:
    with pytest.raises(json.WrongType):
        _ = Document(data).members
    assert bytes(Document(data)) == data


def test_documents_are_equal_by_their_bytes() -> None:
    one, same, other = Document(b'{"a":1}'), Document(Raw(b'{"a":1}')), Document(b'{"a": 1}')
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != b'{"a":1}'
    assert repr(one) == "Document(b'{\"a\":1}')"
    assert repr(ABSENT) == "ABSENT"


@pytest.mark.requirement("document.own")
def test_an_owned_document_does_not_keep_the_body_it_came_from() -> None:
    body = python_json.dumps({"item": {"a": 1}, "ballast": "x" * 5_000_000}).encode()
    tracemalloc.start()
    try:
        item = Document(bytes(bytearray(body))).document("item")
        assert item is not None
        pinned = tracemalloc.get_traced_memory()[0]
        item = item.own()
        gc.collect()
        assert pinned > 5_000_000
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
        assert bytes(item) == b'{"a": 1}'
    finally:
        tracemalloc.stop()
