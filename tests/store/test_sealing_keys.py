"""Where sealing keys come from."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from antiphon.history.sealed import Sealer
from antiphon.store import sealing_keys
from antiphon.store.sealing_keys import BadSealingKeys


def sealed(sealer: Sealer) -> str:
    return sealer.close(b"content", purpose="p", owner="o")


@pytest.mark.requirement("state.sealed-rotation")
def test_a_key_is_made_once_for_its_owner_alone_and_rotates(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    before = sealed(sealing_keys.load(folder))
    assert sealed(sealing_keys.load(folder)) == before
    assert stat.S_IMODE((folder / sealing_keys.FILE).stat().st_mode) == 0o600
    new = sealing_keys.rotate(folder)
    rotated = sealing_keys.load(folder)
    assert sealed(rotated).split(".")[1] == new
    assert rotated.open(before, purpose="p", owner="o") == b"content"
    assert [path.name for path in folder.iterdir()] == [sealing_keys.FILE], "no copy of a key is left behind"


def test_of_many_that_start_at_once_all_have_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: sealed(sealing_keys.load(tmp_path)), range(32)))) == 1


def test_keys_come_from_a_variable_the_first_seals(tmp_path: Path) -> None:
    one, two = "1" * 40, "2" * 40
    old = sealed(sealing_keys.load(tmp_path, variable="KEYS", environ={"KEYS": one}))
    both = sealing_keys.load(tmp_path, variable="KEYS", environ={"KEYS": f"{two}\n{one}"})
    assert both.open(old, purpose="p", owner="o") == b"content"
    assert sealed(both) != old
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keys", ["", "   ", "short"])
def test_a_variable_without_a_good_key_is_refused_by_name_and_not_shown(tmp_path: Path, keys: str) -> None:
    with pytest.raises(BadSealingKeys, match="KEYS") as refused:
        sealing_keys.load(tmp_path, variable="KEYS", environ={"KEYS": keys})
    assert "short" not in str(refused.value)
