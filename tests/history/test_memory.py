"""What a model saw of calls that the gateway ran comes back, byte for byte, or is told in words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from antiphon.history import memory
from antiphon.history.sealed import Sealer, SealingKey
from antiphon.protocol.document import Document

pytestmark = pytest.mark.requirement("loop.memory")

KEYS = [SealingKey.of("a" * 40), SealingKey.of("b" * 40)]
SEALER = Sealer(KEYS)
CALL = Document(b'{"type":"function_call","call_id":"c1","name":"web_search","arguments":"{ \\"query\\" : 1.0}"}')
OUTPUT = Document(b'{"type":"function_call_output","call_id":"c1","output":"3 kg"}')
PUBLIC = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "quokka"}}
USER = {"type": "message", "role": "user", "content": "hi"}


def raws(*items: Any) -> list[Raw]:
    return [Raw(bytes(item)) if isinstance(item, Document) else Raw(json.dumps(item).encode()) for item in items]


def recalled(*items: Any, owner: str = "me", sealer: Sealer = SEALER, kept: Any = None) -> tuple[list[bytes], list[str]]:
    found, notes = memory.recalled(raws(*items), memory.opener(sealer, owner), kept or {})
    return [bytes(item) for item in found], [f"{note.where} {note.why}" for note in notes]


def sealed(*transcript: Document, owner: str = "me") -> Document:
    return memory.envelope(transcript, SEALER, owner=owner, id="rs_1")


def test_an_envelope_gives_the_very_bytes_back() -> None:
    found, notes = recalled(USER, sealed(CALL, OUTPUT), PUBLIC, USER)
    assert found[1:3] == [bytes(CALL), bytes(OUTPUT)]
    assert (len(found), notes) == (4, [])


def test_one_envelope_stands_for_all_calls_of_its_round() -> None:
    second = CALL.but(call_id="c2")
    found, _ = recalled(sealed(CALL, second, OUTPUT, OUTPUT.but(call_id="c2")), PUBLIC, PUBLIC | {"id": "ws_2"}, USER)
    assert len(found) == 5


def test_equal_content_is_sealed_in_equal_bytes() -> None:
    assert bytes(sealed(CALL, OUTPUT)) == bytes(sealed(CALL, OUTPUT))


def test_an_older_key_still_opens() -> None:
    rotated = Sealer([SealingKey.of("c" * 40), *KEYS])
    assert recalled(sealed(CALL, OUTPUT), PUBLIC, sealer=rotated)[0] == [bytes(CALL), bytes(OUTPUT)]


@pytest.mark.parametrize(
    ("owner", "sealer", "why"),
    [("another", SEALER, "damaged, or sealed for another"), ("me", Sealer([SealingKey.of("c" * 40)]), "a key that is not here")],
)
def test_what_does_not_open_is_told_and_stands_in_words(owner: str, sealer: Sealer, why: str) -> None:
    found, notes = recalled(sealed(CALL, OUTPUT), PUBLIC, owner=owner, sealer=sealer)
    assert len(found) == 1
    assert b"I searched the web: quokka" in found[0]
    assert why in notes[0]
    assert "told in words" in notes[1]


def test_what_is_kept_by_id_needs_no_envelope() -> None:
    assert recalled(PUBLIC, kept={"ws_1": [bytes(CALL), bytes(OUTPUT)]})[0] == [bytes(CALL), bytes(OUTPUT)]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"type": "web_search_call", "id": "x", "action": {"type": "open_page", "url": "https://a.org"}}, "https://a.org"),
        ({"type": "file_search_call", "id": "x", "queries": ["q1", "q2"]}, "q1, q2"),
        ({"type": "code_interpreter_call", "id": "x", "code": "1+1"}, "1+1"),
        ({"type": "mcp_call", "id": "x", "server_label": "s", "name": "n", "arguments": "{}", "output": "42"}, "s.n({}). It answered: 42"),
    ],
)
def test_every_kind_of_call_has_words(item: dict[str, Any], words: str) -> None:
    found, notes = recalled(item)
    assert words in json.loads(found[0])["content"][0]["text"]
    assert len(notes) == 1


def test_sealed_reasoning_of_others_travels_on() -> None:
    other = {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "gAAAAA"}
    assert recalled(other)[0] == [json.dumps(other).encode()]


@given(st.lists(st.sampled_from([USER, PUBLIC, {"type": "reasoning", "summary": []}, 1, None, "x", [], {}]), max_size=12))
def test_no_input_breaks_it(items: list[Any]) -> None:
    memory.recalled(raws(*items), memory.opener(SEALER, "me"), {})
