"""`antiphon dialects`: the table of model servers, as the code has it."""

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import click
import msgspec

from antiphon.protocol import json
from antiphon.translation.dialect import ChatRules, Dialect, ResponsesRules
from antiphon.translation.presets import DIALECTS

APIS: tuple[tuple[str, str, type[msgspec.Struct]], ...] = (
    ("chat", "Chat Completions", ChatRules),
    ("responses", "Responses", ResponsesRules),
)
"""The two sets of rules that a dialect has: field, name, struct."""


@click.command()
@click.argument("name", required=False, type=click.Choice(list(DIALECTS)), metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def dialects(name: str | None, *, as_json: bool) -> None:
    """List the kinds of model servers that are known, or all rules of one: those with a * are other than usual.

    Every rule can be changed in antiphon.toml, for an upstream in [upstreams.NAME.chat] or [upstreams.NAME.responses], for some of its models in
    [models."NAME".chat] or [models."NAME".responses].
    """
    if as_json:
        shown = DIALECTS[name] if name else list(DIALECTS.values())
        click.echo(json.encode(builtins(shown)))
        return
    for line in _of_one(DIALECTS[name]) if name else _of_all():
        click.echo(line)


def builtins(shown: Any) -> Any:
    """A dialect, or several, in what JSON has."""
    return msgspec.to_builtins(
        shown, enc_hook=_pattern, order="deterministic"
    )  # sets in an order of their own, so that two listings compare


def _pattern(wording: re.Pattern[str]) -> str:
    return wording.pattern


def _of_all() -> Iterator[str]:
    width = max(map(len, DIALECTS))
    return (f"{one.name:{width}}  {one.prefers:9}  {one.note}" for one in DIALECTS.values())


def _of_one(dialect: Dialect) -> Iterator[str]:
    yield f"{dialect.name}: {dialect.note}"
    yield f"prefers {dialect.prefers}; reasoning efforts: {spelled(dialect.efforts) or 'not known'}"
    yield from (f"with models like {name}: {spelled(rules)}" for name, rules in dialect.models.items())
    yield from (f"failure of its own: {row.name}" for row in dialect.failures)
    for field, title, shape in APIS:
        yield f"\n{title}"
        usual = shape()
        for name, meaning in meanings(shape).items():
            value = getattr(getattr(dialect, field), name)
            yield f"{'*' if value != getattr(usual, name) else ' '} {name} = {spelled(value) or 'none'}\n      {meaning}"


def spelled(value: Any) -> str:
    """A rule's value in words."""
    match value:
        case bool():
            return "yes" if value else "no"
        case frozenset():
            return ", ".join(sorted(map(spelled, value)))  # pyright: ignore[reportUnknownArgumentType]
        case tuple() | list():
            return ", ".join(map(spelled, value))  # pyright: ignore[reportUnknownArgumentType]
        case dict():
            return json.encode(builtins(value)).decode() if value else ""
        case _:
            return str(value)


def meanings(shape: type) -> dict[str, str]:
    """The strings that stand behind the fields of a struct, each in one line."""
    tree = ast.parse(inspect.getsource(shape)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for field, doc in pairwise(tree.body):
        match field, doc:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split())
            case _:
                pass
    return found
