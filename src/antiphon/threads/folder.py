"""Where threads lie: a Codex home, or any folder or file. Names of files, ids in them, and the names that people gave.

A home keeps threads under `sessions/YYYY/MM/DD`, archived ones in `archived_sessions`, each in `rollout-<local time>-<thread id>.jsonl`; what was
reverted goes on in `…-<thread id>_<rollout id>.jsonl`, cold files get `.zst`. Any other folder is searched through. Links to folders are not
followed, nor links to files outside the folder. Not here: what is in the files (`file`), an index of them (`index`).
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from antiphon.protocol.notes import Kind, Note
from antiphon.threads.errors import Ambiguous, NotFound, ThreadError
from antiphon.threads.file import Rollout

ENDINGS: Final = (".jsonl", ".jsonl.zst", ".json")
SESSIONS: Final = "sessions"
ARCHIVED: Final = "archived_sessions"
NAMES: Final = "session_index.jsonl"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NAME: Final = re.compile(rf"rollout-(?P<time>[0-9T:-]*?)-?(?P<thread>{_UUID})(?:_(?P<rollout>{_UUID}))?\.json(?:l(?:\.zst)?)?")
_SOME_ID: Final = re.compile(r"[0-9a-fA-F-]{4,36}")
NOT_THREADS: Final = frozenset({NAMES, "history.jsonl"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a thread. Ids are those of its name, and empty where it has another name."""

    path: Path
    size: int
    changed_ns: int
    is_archived: bool
    thread_id: str = ""
    rollout_id: str = ""


@dataclass(slots=True)
class _Walk:
    root: str
    notes: list[Note] = field(default_factory=list[Note])

    def files(self, folder: str, *, is_archived: bool) -> Iterator[Found]:
        """All that may be threads, deepest folders and newest names first."""
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name, reverse=True)
        except OSError as failed:
            self.notes.append(Note(Kind.DROPPED, folder, failed.strerror or str(failed)))
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from self.files(entry.path, is_archived=is_archived or entry.name == ARCHIVED)
            elif entry.name.endswith(ENDINGS) and entry.name not in NOT_THREADS and self._is_inside(entry):
                yield from self._found(entry, is_archived=is_archived)

    def _found(self, entry: "os.DirEntry[str]", *, is_archived: bool) -> Iterator[Found]:
        try:
            told = entry.stat()
        except OSError as failed:
            self.notes.append(Note(Kind.DROPPED, entry.path, failed.strerror or str(failed)))
            return
        thread_id, rollout_id = ids(entry.name)
        if thread_id or not entry.name.endswith(".json"):
            yield Found(Path(entry.path), told.st_size, told.st_mtime_ns, is_archived, thread_id, rollout_id)

    def _is_inside(self, entry: "os.DirEntry[str]") -> bool:
        if not entry.is_symlink():
            return True
        is_inside = Path(os.path.realpath(entry.path)).is_relative_to(os.path.realpath(self.root))
        if not is_inside:
            self.notes.append(Note(Kind.DROPPED, entry.path, "a link out of the folder"))
        return is_inside


class Folder:
    """A Codex home, or any folder with threads in it. `notes` says what was passed over in the last walk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.notes: list[Note] = []

    def files(self) -> Iterator[Found]:
        """Every file that may be a thread, newest names first, archived ones last."""
        walk = _Walk(str(self.root))
        self.notes = walk.notes
        for place, is_archived in self._places():
            yield from walk.files(str(place), is_archived=is_archived)

    def _places(self) -> list[tuple[Path, bool]]:
        homes = [(self.root / SESSIONS, False), (self.root / ARCHIVED, True)]
        there = [(path, archived) for path, archived in homes if path.is_dir()]
        return there or [(self.root, self.root.name == ARCHIVED)]

    def thread(self, id: str) -> Path:
        """The current file of the thread whose id begins so."""
        matching = [found for found in self.files() if found.thread_id.startswith(id.lower())]
        threads = {found.thread_id for found in matching}
        if len(threads) > 1:
            raise Ambiguous(f"{len(threads)} threads have an id that begins with {id}: {', '.join(sorted(threads)[:3])}, …")
        if not matching:
            raise NotFound(f"no thread with id {id} in {self.root}")
        return max(matching, key=lambda found: (found.rollout_id, found.path.name)).path

    def rollout(self, id: str) -> Path | None:
        """The file of the rollout with that id: a thread's first one has the thread's own."""
        for found in self.files():
            if id == (found.rollout_id or found.thread_id):
                return found.path
        return None

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Thread id → the name that somebody gave it; of several the last."""
        named: dict[str, str] = {}
        path = self.root / NAMES
        try:
            for line in Rollout(path).lines():
                id, name = line.head.text("id"), line.head.text("thread_name")
                if id is not None and name is not None:
                    named[id] = name
        except ThreadError:
            return named
        return named


def home(environ: Mapping[str, str] = os.environ) -> Path:
    """Codex's own home."""
    given = environ.get("CODEX_HOME")
    return Path(given) if given else Path.home() / ".codex"


def ids(name: str) -> tuple[str, str]:
    """Thread id and rollout id in a file's name; the second only where a revert gave the thread a file of another id."""
    found = _NAME.fullmatch(name)
    return (found["thread"].lower(), (found["rollout"] or "").lower()) if found else ("", "")


def is_id(text: str) -> bool:
    """Whether it can be an id, or the beginning of one."""
    return _SOME_ID.fullmatch(text) is not None


def around(path: Path) -> Folder:
    """The folder in which the other files of a thread are looked for: the home it lies in, else the folder."""
    for above in path.parents:
        if above.name in (SESSIONS, ARCHIVED):
            return Folder(above.parent)
    return Folder(path.parent)
