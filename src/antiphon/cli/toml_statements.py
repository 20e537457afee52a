"""A TOML text as the list of its statements, so that one can be changed and all others keep every byte.

A statement is a header, a key with its value, a comment or an empty line, line end included; joined they are the text again. Not here: what
any of it means to Codex (`codex_config`).
"""

import tomllib
from collections.abc import Mapping
from typing import Any, cast

import tomlkit

Path = tuple[str, ...]


def read(text: str) -> dict[str, Any]:
    """The values. Raises tomllib.TOMLDecodeError."""
    return tomllib.loads(text)


def split(text: str) -> list[str]:
    """The statements of a valid text."""
    found: list[str] = []
    begun = ""
    for line in text.splitlines(keepends=True) if "\r" not in text else _lines(text):
        begun += line
        if _is_whole(begun):
            found.append(begun)
            begun = ""
    return [*found, begun] if begun else found


def _lines(text: str) -> list[str]:
    """Lines that end with LF or CRLF; a lone CR ends none."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])


def _is_whole(statement: str) -> bool:
    """A value that goes on over the line is no TOML until it is complete."""
    try:
        tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return False
    return True


def is_header(statement: str) -> bool:
    """Whether it begins a table."""
    return statement.lstrip().startswith("[")


def keys(statement: str) -> Path:
    """The path of names that it spells, the way down to its value for a key; empty for a comment."""
    found: list[str] = []
    at: Any = tomllib.loads(statement)
    while isinstance(at, dict) and len(cast("dict[str, Any]", at)) == 1:
        ((name, at),) = cast("dict[str, Any]", at).items()
        found.append(name)
    return tuple(found)


def root(statements: list[str]) -> range:
    """Where the keys stand that belong to no table."""
    return range(next((at for at, each in enumerate(statements) if is_header(each)), len(statements)))


def table(statements: list[str], path: Path) -> range:
    """A table's header and all up to its last key; empty where there is none."""
    start = next((at for at, each in enumerate(statements) if is_header(each) and keys(each) == path), None)
    if start is None:
        return range(0)
    end = start + 1
    for at in range(start + 1, len(statements)):
        if is_header(statements[at]):
            break
        end = at + 1 if keys(statements[at]) else end
    return range(start, end)


def key(statements: list[str], within: range, name: str) -> int | None:
    """Where that key stands among them."""
    return next((at for at in within if not is_header(statements[at]) and keys(statements[at])[:1] == (name,)), None)


def with_value(statement: str, path: Path, value: Any) -> str:
    """The statement with another value at that path; its comment stays. None takes the value away."""
    written: Any = tomlkit.parse(statement)
    at = written
    for name in path[:-1]:
        at = at[name]
    if value is None:
        at.remove(path[-1])
    else:
        at[path[-1]] = _item(value)
    return tomlkit.dumps(written)


def assignments(values: Mapping[str, Any], end: str) -> list[str]:
    """A statement for each value."""
    return [tomlkit.dumps({name: _item(value)}).rstrip("\n") + end for name, value in values.items()]


def _item(value: Any) -> Any:
    """Tables inside a value are written inline, on its one line."""
    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    for name, each in cast("Mapping[str, Any]", value).items():
        table.append(name, _item(each))
    return table
