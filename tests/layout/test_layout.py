"""Rules of the source tree that no linter knows: one decoder, sizes, names, docstrings, nothing of one machine."""

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_bytes()) for path in SOURCES}
DECODER = "src/antiphon/protocol/json.py"
VAGUE = {"utils", "util", "helpers", "helper", "core", "base", "manager", "handler", "handlers", "common", "misc"}
LONGEST_FILE = 400
LONGEST_FUNCTION = 50
MOST_PARAMETERS = 5
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{name}:{node.lineno} {node.name}", node


def decoders(tree: ast.Module) -> Iterator[int]:
    """Lines that import a JSON decoder or reach for msgspec's."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(alias.name.split(".")[0] in {"json", "orjson"} for alias in names):
                yield node.lineno
            case ast.ImportFrom(module="json" | "json.decoder" | "msgspec.json"):
                yield node.lineno
            case ast.Attribute(value=ast.Name(id="msgspec"), attr="json"):
                yield node.lineno
            case ast.ImportFrom(module="msgspec", names=names) if any(alias.name == "json" for alias in names):
                yield node.lineno
            case ast.Attribute(attr="json", value=ast.Name(id="request" | "response" | "reply")):
                yield node.lineno
            case _:
                pass


@pytest.mark.requirement("json.one-decoder")
def test_only_one_module_decodes_json() -> None:
    assert [f"{name}:{line}" for name, tree in TREES.items() if name != DECODER for line in decoders(tree)] == []
    assert list(decoders(TREES[DECODER])), "the check itself finds no decoder where one is"


def test_modules_have_docstrings() -> None:
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_names_say_what_a_module_holds() -> None:
    assert [name for name in TREES if VAGUE & set(Path(name).with_suffix("").parts)] == []


def test_files_are_short() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): path.read_bytes().count(b"\n") for path in SOURCES}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_functions_are_short() -> None:
    assert {where: size for where, node in functions() if (size := length(node)) > LONGEST_FUNCTION} == {}


def length(node: Function) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0]
    documented = ast.get_docstring(node) is not None
    doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (node.end_lineno or 0) - node.lineno + 1 - doc


def test_functions_take_few_parameters() -> None:
    assert {where: len(names) for where, node in functions() if len(names := parameters(node)) > MOST_PARAMETERS} == {}


def parameters(node: Function) -> list[str]:
    arguments = node.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if each.arg not in {"self", "cls"}]


# Spelled in pieces, so that this file does not hold what it looks for.
FOREIGN = re.compile(
    "|".join(("pypi" + r"\.org", "pythonhosted" + r"\.org", "registry" + r"\.npmjs", "/wo" + "rk/", "/ro" + "ot/", r"\.\./sha" + "red"))
)


def test_no_file_names_a_registry_host_or_this_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    texts = {name: (ROOT / name).read_bytes().decode(errors="replace") for name in listed if name and (ROOT / name).is_file()}
    assert [(name, found[0]) for name, text in texts.items() if (found := FOREIGN.search(text))] == []


SCRIPTS = [path for path in (*sorted((ROOT / "scripts").iterdir()), ROOT / ".ci" / "run") if path.is_file() and not path.suffix]


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_scripts_are_sound_shell_and_can_be_run(script: Path) -> None:
    assert os.access(script, os.X_OK)
    checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
