"""What nobody had a name for is kept by shape, once per client, within a limit; bodies only where asked for."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import Raw

from antiphon.cli.unknown import unknown
from antiphon.observe import journal
from antiphon.observe.journal import Journal
from antiphon.protocol import shapes
from antiphon.protocol.document import Document
from antiphon.protocol.request import view
from antiphon.translation.unknowns import Unknown, unknowns

SECRET = "sk-very-secret"
ITEM = Raw(json.dumps({"type": "hologram", "payload": {"key": SECRET, "sizes": [1, 2, "3"]}}).encode())


def test_a_shape_has_keys_types_and_sizes_and_no_values() -> None:
    shape = shapes.shape(json.loads(bytes(ITEM)))
    assert shape == {"type": "string of 8", "payload": {"key": "string of 14", "sizes": ["array of 3", "int", "string of 1"]}}


def test_a_deep_and_wide_value_has_a_small_shape() -> None:
    deep: object = 1
    for _ in range(500):
        deep = {"a": deep, **{str(n): n for n in range(5)}}
    assert len(json.dumps(shapes.shape(deep))) < 2_000
    assert len(shapes.shape({str(n): n for n in range(1_000)})) == shapes.KEYS + 1


@pytest.mark.requirement("observe.unknown")
@pytest.mark.parametrize("capture", [False, True])
def test_each_thing_is_kept_once_per_client(tmp_path: Path, *, capture: bool) -> None:
    kept = Journal(journal.path(tmp_path), capture=capture)
    for client in ("codex/1", "codex/1", "codex/2"):
        kept.add([Unknown("item", "hologram", ITEM)], client=client, now=5)
    entries = list(kept.entries())
    assert [entry["client"] for entry in entries] == ["codex/1", "codex/2"]
    assert (SECRET in journal.path(tmp_path).read_text()) is capture


@pytest.mark.requirement("observe.unknown")
def test_what_was_kept_before_is_not_kept_again(tmp_path: Path) -> None:
    for _ in range(2):
        Journal(journal.path(tmp_path), capture=False).add([Unknown("item", "hologram", ITEM)], client="codex/1", now=5)
    assert len(list(Journal(journal.path(tmp_path), capture=False).entries())) == 1


@pytest.mark.requirement("observe.unknown")
def test_a_body_of_many_lines_is_one_line_and_a_cut_line_hides_no_other(tmp_path: Path) -> None:
    kept = Journal(journal.path(tmp_path), capture=True)
    kept.add([Unknown("item", "first", Raw(b'{\n "type": "first"\n}'))], client="c", now=5)
    with journal.path(tmp_path).open("ab") as file:
        file.write(b'{"at":5,"wh\n')
    kept.add([Unknown("item", "second", ITEM)], client="c", now=5)
    assert [entry["type"] for entry in kept.entries()] == ["first", "second"]
    assert [entry["body"]["type"] for entry in kept.entries()] == ["first", "hologram"]


@pytest.mark.requirement("observe.unknown")
def test_the_journal_never_outgrows_its_limit(tmp_path: Path) -> None:
    kept = Journal(journal.path(tmp_path), capture=True)
    big = Raw(json.dumps("x" * 1_500_000).encode())
    for number in range(5):
        kept.add([Unknown("item", f"t{number}", big)], client="c", now=0)
    assert journal.path(tmp_path).stat().st_size <= journal.LIMIT


@pytest.mark.requirement("observe.unknown")
def test_unknown_tools_and_items_are_found_and_known_ones_are_not() -> None:
    body = {
        "model": "m",
        "tools": [{"type": "function", "name": "f"}, {"type": "web_search"}, {"type": "teleport", "name": "t"}],
        "input": [
            {"role": "user", "content": "x"},
            json.loads(bytes(ITEM)),
            {"type": "reasoning", "summary": []},
            {"type": "additional_tools", "tools": [{"type": "namespace", "name": "n", "tools": [{"type": "beam", "name": "up"}]}]},
            {"type": "tool_search_output", "execution": "client", "tools": [{"type": "function", "name": "f"}, {"type": "warp"}]},
        ],
    }
    found = unknowns(view(Document(json.dumps(body).encode())), items=True)
    assert [(one.what, one.type) for one in found] == [("tool", "teleport"), ("item", "hologram"), ("tool", "beam"), ("tool", "warp")]


@pytest.mark.requirement("observe.unknown")
def test_the_command_lists_what_was_seen(tmp_path: Path) -> None:
    runner = CliRunner(env={"ANTIPHON_HOME": str(tmp_path)})
    assert "Nothing unknown" in runner.invoke(unknown).output
    Journal(journal.path(tmp_path), capture=False).add([Unknown("tool", "teleport", ITEM)], client="codex_exec/0.169.0", now=5)
    output = runner.invoke(unknown).output
    assert "tool teleport" in output
    assert "codex_exec/0.169.0" in output
    assert json.loads(runner.invoke(unknown, ["--json"]).output)["type"] == "teleport"
