"""Envelopes: what opens, what does not, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.history.sealed import NotOpened, Sealer, SealingKey, Why

FIRST = SealingKey.of("the first secret, which is long enough")
SECOND = SealingKey.of("another secret, which is long as well")
SEALER = Sealer([FIRST])


@pytest.mark.requirement("state.sealed")
@given(st.binary(max_size=300), st.text(max_size=10), st.text(max_size=10))
def test_what_was_closed_opens_to_the_same_and_equal_content_gives_equal_bytes(content: bytes, purpose: str, owner: str) -> None:
    envelope = SEALER.close(content, purpose=purpose, owner=owner)
    assert SEALER.open(envelope, purpose=purpose, owner=owner) == content
    assert Sealer([SealingKey.of("the first secret, which is long enough")]).close(content, purpose=purpose, owner=owner) == envelope


def test_an_envelope_shows_nothing_of_its_content_and_is_safe_in_json_and_urls() -> None:
    envelope = SEALER.close(b"the very secret words " * 20, purpose="p", owner="o")
    assert "secret" not in envelope
    assert all(c.isascii() and (c.isalnum() or c in "-_.") for c in envelope)


@pytest.mark.requirement("state.sealed-rotation")
def test_keys_rotate_the_first_closes_and_all_open() -> None:
    old = SEALER.close(b"before", purpose="p", owner="o")
    rotated = Sealer([SECOND, FIRST])
    assert rotated.open(old, purpose="p", owner="o") == b"before"
    assert rotated.close(b"after", purpose="p", owner="o").split(".")[1] == SECOND.id
    with pytest.raises(NotOpened) as shut:
        Sealer([SECOND]).open(old, purpose="p", owner="o")
    assert shut.value.why is Why.UNKNOWN_KEY


ENVELOPE = SEALER.close(b"x" * 100, purpose="compaction", owner="local")


@pytest.mark.requirement("state.sealed")
@pytest.mark.parametrize(
    ("envelope", "why"),
    [
        ("", Why.FOREIGN),
        ("gAAAAABlorem", Why.FOREIGN),
        ("antiphon-2.x.y", Why.FOREIGN),
        ("antiphon-1", Why.UNKNOWN_KEY),
        ("antiphon-1.000000000000.AAAA", Why.UNKNOWN_KEY),
        (f"antiphon-1.{FIRST.id}.", Why.DAMAGED),
        (f"antiphon-1.{FIRST.id}.AAAA", Why.DAMAGED),
        (ENVELOPE[:-1], Why.DAMAGED),
        (ENVELOPE + "A", Why.DAMAGED),
        (ENVELOPE + "\n", Why.DAMAGED),
        (ENVELOPE[:-5] + "é" + ENVELOPE[-4:], Why.DAMAGED),
        (ENVELOPE[:-5] + ("A" if ENVELOPE[-5] != "A" else "B") + ENVELOPE[-4:], Why.DAMAGED),
    ],
)
def test_what_does_not_open_says_why(envelope: str, why: Why) -> None:
    with pytest.raises(NotOpened) as shut:
        SEALER.open(envelope, purpose="compaction", owner="local")
    assert shut.value.why is why


@pytest.mark.parametrize(
    ("purpose", "owner"), [("reasoning", "local"), ("compaction", "key_1"), ("compactionlocal", ""), ("", "compactionlocal")]
)
def test_an_envelope_opens_for_its_own_purpose_and_owner_only(purpose: str, owner: str) -> None:
    with pytest.raises(NotOpened):
        SEALER.open(ENVELOPE, purpose=purpose, owner=owner)


def test_a_key_that_could_be_guessed_is_refused_and_none_is_shown() -> None:
    with pytest.raises(ValueError, match="32 characters"):
        SealingKey.of("short")
    assert "AESSIV" not in repr(FIRST)
