"""The page of results in the documentation speaks of every version, row and upstream that the tables have, and of nothing that is wrong."""

import re
from dataclasses import replace

import pytest

from tests.docs.blocks import ROOT
from tests.matrix import doc
from tests.matrix.cell import DIRECT, UPSTREAMS, Cell
from tests.matrix.meanings import MEANINGS
from tests.matrix.report import chosen
from tests.matrix.rows import BY_NAME, ROWS
from tests.matrix.versions import VERSIONS, adapted

PAGE = ROOT / "docs" / "reference" / "codex-matrix.md"
TEXT = PAGE.read_text("utf-8")
WANTED = {(row.name, upstream) for row, upstream in chosen(ROWS, UPSTREAMS)}


def test_the_page_is_as_the_tables_would_have_it_written() -> None:
    assert list(doc.read(TEXT)) == list(VERSIONS)
    assert doc.write(doc.read(TEXT)) == TEXT


@pytest.mark.parametrize("number", VERSIONS)
def test_the_page_has_every_cell_and_none_that_is_wrong(number: str) -> None:
    version, found = VERSIONS[number], doc.read(TEXT)[number]
    assert found.keys() == WANTED
    for (row, upstream), word in found.items():
        moves = upstream in adapted(BY_NAME[row], version).moved
        expected = re.escape(doc.LACKS) if row in version.lacks else rf"{doc.OK} 0\.\d{{4}}" if moves else doc.OK
        assert re.fullmatch(expected, word), (row, upstream, word)


def test_every_row_is_explained_and_run_directly_too() -> None:
    assert list(MEANINGS) == [row.name for row in ROWS]
    assert {row for row, upstream in WANTED if upstream == DIRECT} == BY_NAME.keys()


def test_the_page_can_be_found() -> None:
    for name in ("README.md", "docs/howto/codex.md"):
        assert "codex-matrix.md" in (ROOT / name).read_text("utf-8")


CELL = Cell(row=BY_NAME["text"], upstream="chat", version="0.169.0", ran=None)
SAID = {
    doc.OK: CELL,
    doc.LACKS: replace(CELL, lacking="no"),
    doc.WRONG: replace(CELL, problems=("it is",)),
    "ok 0.5000": replace(CELL, prefix_stable_ratio=0.5),
}


@pytest.mark.parametrize(("word", "cell"), SAID.items(), ids=SAID)
def test_a_cell_is_read_as_it_was_written(word: str, cell: Cell) -> None:
    told = {cell.version: doc.words([cell, replace(CELL, upstream=DIRECT)])}
    assert told[cell.version]["text", "chat"] == word
    assert doc.read(doc.write(told)) == told
