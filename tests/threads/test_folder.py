from pathlib import Path

import pytest

from antiphon.threads.errors import Ambiguous, NotFound
from antiphon.threads.folder import Folder, around, home, ids
from tests.threads.samples import THREAD, meta, spelled

OTHER = "0199bbbb-0000-7000-8000-000000000002"


def put(path: Path, id: str = THREAD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(spelled(meta(id)))
    return path


@pytest.fixture
def codex_home(tmp_path: Path) -> Path:
    put(tmp_path / "sessions/2026/01/02" / f"rollout-2026-01-02T00-00-00-{THREAD}.jsonl")
    put(tmp_path / "sessions/2026/01/03" / f"rollout-2026-01-03T00-00-00-{OTHER}.jsonl.zst")
    put(tmp_path / "archived_sessions" / "rollout-2025-05-07-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl")
    put(tmp_path / "elsewhere.jsonl")
    return tmp_path


@pytest.mark.requirement("threads.places")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"rollout-2026-01-02T00-00-00-{THREAD}.jsonl", (THREAD, "")),
        (f"rollout-2026-01-02T00-00-00-{THREAD}.jsonl.zst", (THREAD, "")),
        (f"rollout-2026-01-02T00-00-00-{THREAD}_{OTHER}.jsonl", (THREAD, OTHER)),
        (f"rollout-2025-04-20-{THREAD}.json", (THREAD, "")),
        (f"rollout-2025-05-07-{THREAD.upper()}.jsonl", (THREAD, "")),
        ("renamed.jsonl", ("", "")),
        (f"rollout-{THREAD[:-1]}.jsonl", ("", "")),
    ],
)
def test_ids_in_names(name: str, expected: tuple[str, str]) -> None:
    assert ids(name) == expected


@pytest.mark.requirement("threads.places")
def test_a_home_has_its_threads_newest_first_and_archived_ones_last(codex_home: Path) -> None:
    found = [(one.thread_id[:8], one.is_archived) for one in Folder(codex_home).files()]
    assert found == [("0199bbbb", False), ("0199aaaa", False), ("5973b6c0", True)]


@pytest.mark.requirement("threads.places")
def test_any_folder_has_the_threads_in_it(codex_home: Path) -> None:
    assert [one.path.name[:8] for one in Folder(codex_home / "sessions").files()] == ["rollout-", "rollout-"]
    (codex_home / "sessions").rename(codex_home / "moved")
    (codex_home / "archived_sessions").rename(codex_home / "kept")
    assert len(list(Folder(codex_home).files())) == 4


@pytest.mark.requirement("threads.places")
def test_a_thread_is_found_by_the_beginning_of_its_id(codex_home: Path) -> None:
    folder = Folder(codex_home)
    assert folder.thread("0199A").name.endswith(f"{THREAD}.jsonl")
    with pytest.raises(Ambiguous, match="2 threads have an id that begins with 0199"):
        folder.thread("0199")
    with pytest.raises(NotFound, match="no thread with id ffff"):
        folder.thread("ffff")


@pytest.mark.requirement("threads.places")
def test_the_newest_file_of_a_thread_is_the_thread(codex_home: Path) -> None:
    put(codex_home / "sessions/2026/01/01" / f"rollout-2026-01-01T00-00-00-{THREAD}_{OTHER}.jsonl")
    assert Folder(codex_home).thread(THREAD).name.endswith(f"_{OTHER}.jsonl")
    found = Folder(codex_home).rollout(THREAD)
    assert found is not None
    assert found.name.endswith(f"{THREAD}.jsonl")


@pytest.mark.requirement("threads.links")
def test_links_out_of_the_folder_are_not_followed(codex_home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    put(outside / "secret.jsonl")
    inside = codex_home / "sessions/2026/01/02"
    (inside / "out.jsonl").symlink_to(outside / "secret.jsonl")
    (inside / "in.jsonl").symlink_to(inside / f"rollout-2026-01-02T00-00-00-{THREAD}.jsonl")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(codex_home)
    folder = Folder(codex_home)
    names = [one.path.name for one in folder.files()]
    assert "in.jsonl" in names
    assert "out.jsonl" not in names
    assert "secret.jsonl" not in names
    assert [note.why for note in folder.notes] == ["a link out of the folder"]


@pytest.mark.requirement("threads.places")
def test_names_that_people_gave(codex_home: Path) -> None:
    rows = [{"id": THREAD, "thread_name": "old", "updated_at": "x"}, {"id": THREAD, "thread_name": "new", "updated_at": "y"}, {"id": 5}]
    (codex_home / "session_index.jsonl").write_bytes(spelled(*rows) + b"{broken\n")
    assert dict(Folder(codex_home).names) == {THREAD: "new"}
    assert dict(Folder(codex_home / "sessions").names) == {}


@pytest.mark.requirement("threads.places")
def test_where_the_home_is(codex_home: Path) -> None:
    assert home({"CODEX_HOME": "/x"}) == Path("/x")
    assert home({}) == Path.home() / ".codex"
    assert around(codex_home / "sessions/2026/01/02/x.jsonl").root == codex_home
    assert around(codex_home / "kept/x.jsonl").root == codex_home / "kept"
