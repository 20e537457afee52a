"""docs/reference says what the tables say."""

import pytest

from tests.docs.reference import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_reference_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), "run: .venv/bin/python -m tests.docs.reference (scripts/check --fix does)"


def test_every_page_is_written() -> None:
    by_runs = ["codex-matrix.md"]  # tests/matrix/test_doc.py looks after it
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted([*PAGES, *by_runs])
