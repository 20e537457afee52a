"""`antiphon keys` and `antiphon store` on a real file, and what `serve` makes of keys."""

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from antiphon.cli.main import main
from antiphon.http.keyring import hashed
from antiphon.store import sealing_keys
from tests.store.entries import entry


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Run":
    monkeypatch.setenv("ANTIPHON_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Run(tmp_path / "home")


class Run:
    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(self, *arguments: str, input: bytes | None = None) -> Result:
        return CliRunner().invoke(main, list(arguments), input=input)

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.home / "state.db") as connection:
            rows = connection.execute(statement).fetchall()
        connection.close()
        return rows


@pytest.mark.requirement("cli.keys")
def test_a_key_is_shown_once_and_only_its_hash_is_kept(run: Run) -> None:
    made = run("keys", "add", "laptop", "--models", "a*, b", "--per-minute", "5", "--at-once", "2")
    assert made.exit_code == 0, made.output
    secret = made.stdout.strip()
    assert secret.startswith("sk-antiphon-")
    ((id, hash),) = run.sql("SELECT id, hash FROM keys")
    assert hash == hashed(secret)
    assert secret.encode() not in (run.home / "state.db").read_bytes()
    listed = run("keys", "list").output
    for word in (str(id), "laptop", "a* b", "5", "2"):
        assert word in listed
    assert secret not in listed
    assert run("keys", "revoke", str(id)).output == f"{id} is revoked\n"
    again = run("keys", "revoke", str(id))
    assert (again.exit_code, "no key" in again.output) == (1, True)


@pytest.mark.requirement("cli.keys")
def test_serve_beyond_loopback_needs_a_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run("serve", "--host", "0.0.0.0", "--upstream", "http://127.0.0.1:1")
    assert refused.exit_code == 2
    assert "antiphon keys add" in refused.output
    monkeypatch.setenv("CLIENT_KEYS", "short")
    refused = run("serve", "--host", "0.0.0.0", "--key-env", "CLIENT_KEYS", "--upstream", "http://127.0.0.1:1")
    assert "CLIENT_KEYS must hold keys" in refused.output
    assert "short" not in refused.output.replace("CLIENT_KEYS", "")


@pytest.mark.requirement("cli.keys")
def test_keys_need_a_place_to_be_kept(run: Run) -> None:
    for store in ("none", "memory"):
        refused = run("keys", "add", "x", "--store", store)
        assert (refused.exit_code, "--store" in refused.output) == (2, True)
    assert run("keys", "list", "--store", "mysql://x").exit_code == 2


@pytest.mark.requirement("state.sealed-rotation")
def test_the_sealing_key_is_rotated(run: Run) -> None:
    old = sealing_keys.load(run.home).close(b"x", purpose="p", owner="o")
    rotated = run("keys", "rotate-sealing")
    assert rotated.exit_code == 0
    now = sealing_keys.load(run.home)
    assert now.open(old, purpose="p", owner="o") == b"x"
    assert now.close(b"x", purpose="p", owner="o").split(".")[1] in rotated.output


@pytest.mark.requirement("cli.store")
def test_what_is_kept_is_counted_pruned_taken_out_and_in(run: Run, tmp_path: Path) -> None:
    assert run("keys", "add", "laptop").exit_code == 0
    line = _exported()
    taken = run("store", "import", input=line)
    assert (taken.exit_code, "2 lines taken in" in taken.output) == (0, True), taken.output
    assert "1 responses" in run("store", "size").output
    out = tmp_path / "out.jsonl"
    assert run("store", "export", str(out)).exit_code == 0
    kinds = [json.loads(line)["kind"] for line in out.read_bytes().splitlines()]
    assert kinds == ["key", "lane", "turn"]
    assert "0 lines taken in" in run("store", "import", str(out)).output or "lines were there" not in run("store", "size").output
    pruned = run("store", "prune", "--days", "0")
    assert "1 responses" in pruned.output, pruned.output
    assert "0 responses" in run("store", "size").output


def test_an_import_that_is_none_is_told_by_its_line(run: Run) -> None:
    for bad in (b"{}\n", b"not json\n", b'{"kind":"strange"}\n', b'{"kind":"turn","id":"x"}\n'):
        refused = run("store", "import", input=bad)
        assert refused.exit_code == 1
        assert "line 1 is none of an export" in refused.output


def _exported() -> bytes:
    """One response as `export` writes it."""
    made = entry("hello", created_at=1_700_000_000)
    turn = {
        "kind": "turn", "lane": 7, "position": 0, "id": made.id, "owner": "local", "created_at": made.created_at, "status": "completed",
        "parent": None, "background": False, "input": [json.loads(made.input[0])], "gone": [], "response": json.loads(made.response or b""),
    }  # fmt: skip
    lane = {"kind": "lane", "lane": 7, "parent_lane": None, "parent_position": None}
    return b"".join(json.dumps(line).encode() + b"\n" for line in (lane, turn))
