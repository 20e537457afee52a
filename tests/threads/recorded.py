"""The recorded threads, and what was said in each."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from antiphon.threads.thread import Thread

FOLDER = Path(__file__).parent / "eras"
SAID: Mapping[str, tuple[str, ...]] = {
    "work": ("work", "look"),
    "compacted": ("fill", "go on"),
    "interrupted": ("hang", "go on"),
    "rolled-back": ("one", "three"),
    "forked": ("one", "two", "three"),
    "reverted": ("one", "three"),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recording of one version. `newest` is the file of the thread that came out of it, `files` are all."""

    version: str
    name: str
    newest: Path
    files: Mapping[str, bytes]

    @property
    def id(self) -> str:
        return f"{self.version}-{self.name}"

    def thread(self) -> Thread:
        return Thread.open(self.newest)


def _recorded(folder: Path) -> Recorded:
    paths = sorted(folder.iterdir())
    return Recorded(folder.parent.name, folder.name, paths[-1], {path.name: path.read_bytes() for path in paths})


RECORDED = [_recorded(folder) for folder in sorted(FOLDER.glob("*/*"))]
