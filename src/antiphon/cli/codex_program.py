"""The Codex program on this machine: where it is, and which settings it knows. Nothing is run to find out.

npm installs a launcher in JavaScript and the native program in a package beside it; other installers put the native program on PATH. The
settings that a program knows stand in it as strings. Not here: what is passed to it (`codex_settings`).
"""

import mmap
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HOW_TO_INSTALL = "Codex is not installed: npm install -g @openai/codex. Or name its program in ANTIPHON_CODEX."
WINDOWS_SHIMS = {".cmd", ".ps1"}
# Where the native program lies, seen from the package of the launcher; older packages carried those of all platforms themselves.
NATIVE = (
    "../codex-*/vendor/*/*/codex",
    "../codex-*/vendor/*/*/codex.exe",
    "node_modules/@openai/codex-*/vendor/*/*/codex",
    "node_modules/@openai/codex-*/vendor/*/*/codex.exe",
    "vendor/*/*/codex",
    "vendor/*/*/codex.exe",
    "bin/codex-*-*",
)
SCRIPT = b"#!"
MARK = "model_providers"
"""A setting of every Codex that Antiphon can serve: a program without it is something else, such as a version switcher's shim."""


class NoCodex(Exception):
    """There is no Codex to run; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, and the native program behind it where that could be found."""

    launcher: Path
    native: Path | None

    def knows(self, setting: str) -> bool | None:
        """Whether the program knows a setting of that name; None: its native program is hidden from us."""
        return None if self.native is None else _holds(self.native, setting)


def find(environ: Mapping[str, str] = os.environ) -> Program:
    """The program that ANTIPHON_CODEX names, else `codex` on PATH."""
    named = environ.get("ANTIPHON_CODEX")
    found = shutil.which(named or "codex", path=environ.get("PATH"))
    if found is None:
        raise NoCodex(f"ANTIPHON_CODEX names no program: {named}" if named else HOW_TO_INSTALL)
    launcher = Path(found).absolute()
    return Program(launcher, next(filter(_is_native, _candidates(launcher.resolve())), None))


def _candidates(real: Path) -> Iterator[Path]:
    yield real
    package = real.parent / "node_modules" / "@openai" / "codex" if real.suffix in WINDOWS_SHIMS else real.parent.parent
    for pattern in NATIVE:
        yield from sorted(package.glob(pattern))


def _is_native(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(len(SCRIPT))
    return head not in {b"", SCRIPT} and _holds(path, MARK)


def _holds(path: Path, word: str) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        return image.find(word.encode()) >= 0
