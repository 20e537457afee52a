"""A response object taken apart and put together again is the same bytes, whoever spelled it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.protocol import response
from antiphon.protocol.document import Document
from antiphon.protocol.json import fields
from antiphon.store.form import FILLED, Parts, put_together, take_apart

KNOWN = {"id": b'"resp_1"', "created_at": b"17", "status": b'"completed"', "previous_response_id": b'"resp_0"'}
NAMES = st.sampled_from([*FILLED, "usage", "model", "tools", "text", "id"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
STYLES: list[dict[str, Any]] = [{"separators": (",", ":")}, {}, {"indent": 1}, {"ensure_ascii": False}]


def again(data: bytes, known: dict[str, bytes]) -> bytes:
    """Through the store: fields are spelled as JSON there."""
    parts = take_apart(data, known)
    spelled = Document.of(parts.fields)
    return put_together(Parts(parts.form, fields(bytes(spelled)), parts.output), known)


@pytest.mark.requirement("state.byte-for-byte")
@given(st.dictionaries(NAMES, VALUES, max_size=9), st.sampled_from(STYLES), st.sets(st.sampled_from(sorted(KNOWN))))
def test_any_object_comes_back_to_the_byte(members: dict[str, Any], style: dict[str, Any], known: set[str]) -> None:
    data = json.dumps(members, **style).encode()
    assert again(data, {name: KNOWN[name] for name in known}) == data


@pytest.mark.parametrize(
    "data",
    [
        b'{"id":"resp_1","id":"resp_2","output":[{"a":1}]}',
        b'{"\\u0069d":"resp_1","status":"completed"}',
        b'{"usage":{"input_tokens":12,"why":":7","rate":1.50},"output":[ {"a":1} , 2 ]}',
        b'{"usage":null,"output":null}',
        b'{"usage":[1,2],"output":{"not":"a list"}}',
        b"{}",
    ],
    ids=["twice", "escaped", "odd usage", "nulls", "other shapes", "empty"],
)
def test_odd_spellings_come_back_to_the_byte(data: bytes) -> None:
    assert again(data, KNOWN) == data


def test_what_is_the_same_from_turn_to_turn_is_kept_once() -> None:
    def turn(number: int) -> Parts:
        request = Document.of({"model": "m", "tools": [{"type": "function", "name": "f"}], "instructions": "Be kind."})
        usage = {"input_tokens": number, "output_tokens": number * 2, "total_tokens": number * 3}
        output = [{"type": "message", "id": f"msg_{number}"}]
        made = response.begun(request, id=f"resp_{number}", now=number).but(status="completed", usage=usage, output=output)
        return take_apart(bytes(made), {"id": b'"resp_%d"' % number, "created_at": b"%d" % number, "status": b'"completed"'})

    one, two = turn(1), turn(2)
    assert one.form == two.form
    assert Document.of(one.fields) == Document(b'{"usage":[1,2,3]}')
    assert json.loads(one.form)["tools"] == [{"type": "function", "name": "f"}], "the form is JSON that people can read"
