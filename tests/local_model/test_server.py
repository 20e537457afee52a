"""Files that cannot be a model are refused before any process is started; one that llama.cpp refuses says so."""

from pathlib import Path

import pytest

from antiphon.local_model import Unavailable
from antiphon.local_model.server import installed, launch
from antiphon.local_model.settings import OTHER, ROWS, cores

pytestmark = pytest.mark.skipif(not installed(), reason="llama.cpp is not installed: pip install 'antiphon[local]'")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"no.gguf cannot be read: No such file"):
        launch(tmp_path / "no.gguf", OTHER, tmp_path)


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a model, honestly")
    with pytest.raises(Unavailable, match=r"notes.txt is not a GGUF file"):
        launch(tmp_path / "notes.txt", OTHER, tmp_path)


@pytest.mark.real
def test_what_llama_cpp_cannot_load_is_told_with_its_log(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    with pytest.raises(Unavailable, match=r"could not load the model: .+ \(log: .*local-model.log\)"):
        launch(tmp_path / "cut.gguf", OTHER, tmp_path)
    assert (tmp_path / "logs" / "local-model.log").is_file()


def test_settings_name_files_that_exist_and_threads_that_can_run() -> None:
    assert [row.template for row in ROWS.values() if row.template and not row.template.is_file()] == []
    assert cores() >= 1
