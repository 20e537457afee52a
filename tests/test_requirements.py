"""tests/requirements.toml and the tests agree, both ways. Read from the source, so that a skipped or broken test counts as well."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
REQUIREMENTS = tomllib.loads((TESTS / "requirements.toml").read_text("utf-8"))
IDS = {f"{area}.{name}" for area, behaviours in REQUIREMENTS.items() for name in behaviours}


def markers(path: Path) -> Iterator[tuple[str, str]]:
    """(where, id) for each id in a requirement marker of a file, on a test, a class, a row or the module."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            where = f"{path.relative_to(TESTS)}:{node.lineno}"
            yield from ((where, str(arg.value) if isinstance(arg, ast.Constant) else ast.unparse(arg)) for arg in node.args)


MARKERS = [marker for path in sorted(TESTS.rglob("*.py")) for marker in markers(path)]


def test_every_behaviour_has_a_test() -> None:
    assert sorted(IDS - {id for _, id in MARKERS}) == []


def test_every_marker_names_a_behaviour() -> None:
    assert [(where, id) for where, id in MARKERS if id not in IDS] == []


def test_every_behaviour_has_a_source_and_a_sentence() -> None:
    rows = [(f"{area}.{name}", row) for area, rows in REQUIREMENTS.items() for name, row in rows.items()]
    assert [id for id, row in rows if set(row) != {"source", "behaviour"} or not row["behaviour"].endswith(".")] == []
