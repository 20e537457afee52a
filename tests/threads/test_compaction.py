"""The rows were measured with Codex 0.169.0."""

import hashlib
from collections.abc import Sequence

import pytest

from antiphon.protocol.document import Document
from antiphon.threads import compaction
from tests.threads.samples import said
from tests.threads.test_truncation import PICTURE, runs, words

SENTENCE = "Here is a summary:"
Content = Sequence[dict[str, str]]


@pytest.fixture(autouse=True)
def _own_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Summaries are known by the hash of a sentence that is OpenAI's; these tests have one of their own."""
    monkeypatch.setattr(compaction, "_SENTENCE_SHA256", hashlib.sha256(SENTENCE.encode()).hexdigest())


def users(*contents: Content) -> list[Document]:
    return [Document.of({"type": "message", "role": "user", "content": list(content)}) for content in contents]


def shown(items: list[Document]) -> list[list[str]]:
    return [[runs(part["text"]) for part in item.get("content")] for item in items]


@pytest.mark.requirement("threads.compaction")
@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param([words("a", "b"), [*words("c"), PICTURE, *words("d")]], [["a", "b"], ["c", "d"]], id="parts"),
        pytest.param([[*words("<image>"), PICTURE, *words("</image>", "e")], [PICTURE]], [["e"], [""]], id="pictures"),
        pytest.param([words("<image> is a tag"), words("")], [["<image> is a tag"], [""]], id="no picture"),
        pytest.param([words("x" * 50_000), words("y" * 50_000), words("z" * 10_000)],
                     [["x*10000", "…7500 tokens truncated…", "x*10000"], ["y*50000"], ["z*10000"]], id="budget"),
        pytest.param([words("x" * 100), words("y" * 80_000)], [["y*80000"]], id="used up"),
        pytest.param([words("a"), words(*["abc"] * 6), words("z" * 79_976)], [["a"], ["abc"] * 6, ["z*79976"]], id="parts count together"),
        pytest.param([words("abcdefghijklmnopqrstuvwxyz"), words("z" * 79_996)], [["ab", "…6 tokens truncated…", "yz"], ["z*79996"]], id="last token"),
        pytest.param([words("x" * 30_000, "y" * 30_000, "w" * 30_000), words("z" * 10_000)],
                     [["x*30000", "y*5000", "…5000 tokens truncated…", "y*5000", "w*30000"], ["z*10000"]], id="across parts"),
        pytest.param([words(f"{SENTENCE}\nold"), words(SENTENCE, "\nrest"), words(f"{SENTENCE} not"), words("b")],
                     [[f"{SENTENCE} not"], ["b"]], id="earlier summaries"),
    ],
)  # fmt: skip
def test_what_users_said_stays_within_the_budget(contents: list[Content], expected: list[list[str]]) -> None:
    assert shown(compaction.compacted(users(*contents), "S")) == [*expected, ["S"]]


@pytest.mark.requirement("threads.compaction")
def test_nothing_but_what_users_said_stays() -> None:
    items = [said("assistant", "a"), said("developer", "d"), said("user", "<turn_aborted>x</turn_aborted>"), said("user", "u", id="msg_1")]
    kept = compaction.compacted(map(Document.of, items), "")
    assert [item.text("id") for item in kept] == ["msg_1", None]
    assert shown(kept) == [["u"], [compaction.NO_SUMMARY]]


@pytest.mark.requirement("threads.compaction")
def test_a_character_that_is_cut_is_left_out() -> None:
    [cut, _, _] = shown(compaction.compacted(users(words("é" * 45_001), words("zzz")), "S"))
    assert cut == ["é*19999", "…2502 tokens truncated…", "é*19999"]
