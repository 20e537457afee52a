"""Antiphon's few lines in the text of a `config.toml`: put in, found, taken out again. Texts in, texts out; the file itself is `setup`'s.

Everything else keeps its bytes. What was done is checked by reading the result: if any other value changed, nothing is given back but
`CannotEdit`. There is no record of what was written: what is ours is known by the provider's name.
"""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

from antiphon.cli import toml_statements as toml
from antiphon.cli.codex_settings import PROVIDER, Settings

TABLES = "model_providers"
TABLE = (TABLES, PROVIDER)
TOP = ("model_provider", "model")


class CannotEdit(Exception):
    """The text is not TOML, or in a form that cannot be changed safely; the message says which."""


@dataclass(frozen=True, slots=True)
class Lines:
    """What is ours in a text: top-level keys, and the keys of the provider's table."""

    top: Mapping[str, Any]
    provider: Mapping[str, Any]


def of(settings: Settings) -> Lines:
    """What `setup` writes."""
    return Lines(settings.top(), settings.provider())


def found(text: str) -> Lines | None:
    """What is ours in that text. The model is while the provider is chosen, whoever named it: to another provider its name says nothing."""
    read = _read(text)
    provider = _provider(read)
    if provider is None:
        return None
    chosen = read.get("model_provider") == PROVIDER
    return Lines({name: read[name] for name in TOP if chosen and name in read}, provider)


def put(text: str, lines: Lines) -> str:
    """The text with our lines in it."""
    read = _read(text)
    if not isinstance(read.get(TABLES, {}), dict):
        raise CannotEdit(f"has a {TABLES} that is no table")
    wanted = {**read, **lines.top, TABLES: {**read.get(TABLES, {}), PROVIDER: {**(_provider(read) or {}), **lines.provider}}}
    end = "\r\n" if "\r\n" in text else "\n"
    statements = toml.split(text if not text or text.endswith("\n") else text + end)
    _put_keys(statements, toml.root(statements), lines.top, end)
    _put_provider(statements, lines.provider, end)
    return _checked("".join(statements), wanted)


def take_out(text: str, before: str) -> str:
    """The text without our lines, with what `before` had in their place. `before` is the text that they were put into."""
    ours = found(text)
    if ours is None:
        return text
    if _is_put(text, before, ours):
        return before
    wanted = _without(_read(text), ours, _read(before))
    statements, earlier = toml.split(text), toml.split(before)
    inline = _inline(statements)
    if inline is not None:
        statements[inline] = toml.with_value(statements[inline], TABLE, _provider(_read(before)))
    else:
        _restore_table(statements, earlier)
    _restore_keys(statements, earlier, ours.top)
    return _checked("".join(statements), wanted)


def _is_put(text: str, before: str, ours: Lines) -> bool:
    """Whether the text is `before` with our lines and no other change."""
    try:
        return text == put(before, ours)
    except CannotEdit:
        return False


def _without(read: Mapping[str, Any], ours: Lines, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """What the values have to be once ours are out."""
    wanted = {name: value for name, value in read.items() if name not in ours.top}
    wanted |= {name: earlier[name] for name in ours.top if name in earlier}
    was = _provider(earlier)
    wanted[TABLES] = {name: value for name, value in read[TABLES].items() if name != PROVIDER} | ({} if was is None else {PROVIDER: was})
    if not wanted[TABLES] and TABLES not in earlier:
        del wanted[TABLES]
    return wanted


def _put_keys(statements: list[str], within: range, values: Mapping[str, Any], end: str) -> None:
    """Changed where they stand; new ones behind the last key, so that a comment stays with what it is above of."""
    new: dict[str, Any] = {}
    for name, value in values.items():
        at = toml.key(statements, within, name)
        if at is None:
            new[name] = value
        else:
            statements[at] = toml.with_value(statements[at], (name,), value)
    last = max((at for at in within if toml.keys(statements[at])), default=None)
    place = within.start if last is None else last + 1
    gap = [end] if new and last is None and statements[place:] else []
    statements[place:place] = [*toml.assignments(new, end), *gap]


def _put_provider(statements: list[str], provider: Mapping[str, Any], end: str) -> None:
    place = toml.table(statements, TABLE)
    inline = _inline(statements)
    if place:
        _put_keys(statements, place, provider, end)
    elif inline is not None:
        statements[inline] = toml.with_value(statements[inline], TABLE, provider)
    else:
        statements += [end, f"[{TABLES}.{PROVIDER}]{end}", *toml.assignments(provider, end)]


def _inline(statements: list[str]) -> int | None:
    """Where `model_providers = {…}` stands; `model_providers.x = …` is another thing."""
    at = toml.key(statements, toml.root(statements), TABLES)
    return at if at is not None and statements[at].partition("=")[0].strip().strip("\"'") == TABLES else None


def _restore_table(statements: list[str], earlier: list[str]) -> None:
    place, old = toml.table(statements, TABLE), toml.table(earlier, TABLE)
    start = place.start
    if not old and start and not statements[start - 1].strip():
        start -= 1  # the empty line that we put above it
    statements[start : place.stop] = earlier[old.start : old.stop]


def _restore_keys(statements: list[str], earlier: list[str], names: Collection[str]) -> None:
    for name in names:
        at = toml.key(statements, toml.root(statements), name)
        old = toml.key(earlier, toml.root(earlier), name)
        if at is not None:
            statements[at : at + 1] = [] if old is None else [earlier[old].removesuffix("\n") + "\n"]
    had_none = not any(toml.keys(earlier[at]) for at in toml.root(earlier))
    if names and earlier and had_none and statements and not statements[0].strip():
        del statements[0]  # the empty line that we put below them


def _provider(read: Mapping[str, Any]) -> dict[str, Any] | None:
    tables: Any = read.get(TABLES)
    provider: Any = cast("dict[str, Any]", tables).get(PROVIDER) if isinstance(tables, dict) else None
    return cast("dict[str, Any]", provider) if isinstance(provider, dict) else None


def _read(text: str) -> dict[str, Any]:
    try:
        return toml.read(text)
    except tomllib.TOMLDecodeError as bad:
        raise CannotEdit(f"is not valid TOML: {bad}") from None


def _checked(text: str, wanted: Mapping[str, Any]) -> str:
    try:
        same = toml.read(text) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise CannotEdit("is written in a way that cannot be changed without risk")
    return text
