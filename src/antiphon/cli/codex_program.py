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
LAUNCHERS = {".js", ".mjs", ".cmd", ".ps1"}
# Where the native program lies, seen from the package of the launcher; older packages carried all platforms themselves.
NATIVE = (
    "../codex-*/vendor/*/*/codex*",
    "node_modules/@openai/codex-*/vendor/*/*/codex*",
    "vendor/*/*/codex*",
    "bin/codex-*",
)
SMALLEST = 1_000_000
"""A native Codex has hundreds of megabytes; a script has not."""


class NoCodex(Exception):
    """There is no Codex to run; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, and the native program behind it where that could be found."""

    launcher: Path
    native: Path | None

    def knows(self, setting: str) -> bool | None:
        """Whether the program knows a setting of that name; None: its native program is hidden from us."""
        if self.native is None:
            return None
        with self.native.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
            return image.find(setting.encode()) >= 0


def find(environ: Mapping[str, str] = os.environ) -> Program:
    """The program that ANTIPHON_CODEX names, else `codex` on PATH."""
    named = environ.get("ANTIPHON_CODEX")
    found = shutil.which(named or "codex", path=environ.get("PATH"))
    if found is None:
        raise NoCodex(f"ANTIPHON_CODEX names no program: {named}" if named else HOW_TO_INSTALL)
    launcher = Path(found).absolute()
    return Program(launcher, next(_natives(launcher), None))


def _natives(launcher: Path) -> Iterator[Path]:
    """Candidates, the likeliest first."""
    real = launcher.resolve()
    if real.suffix not in LAUNCHERS:
        packages: list[Path] = []
        yield from (each for each in [real] if _is_native(each))
    elif real.suffix in {".cmd", ".ps1"}:  # npm on Windows: a shim beside node_modules
        packages = [real.parent / "node_modules" / "@openai" / "codex"]
    else:
        packages = [real.parent.parent]
    for package in packages:
        for pattern in NATIVE:
            yield from sorted(each for each in package.glob(pattern) if _is_native(each))


def _is_native(path: Path) -> bool:
    return path.is_file() and path.stem == "codex" and path.stat().st_size >= SMALLEST
