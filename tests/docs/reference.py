"""The pages of docs/reference, written out of the tables that the code itself walks: `python -m tests.docs.reference` writes them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click
import msgspec

from antiphon.cli.dialects import APIS, meanings, spelled
from antiphon.cli.main import main
from antiphon.config import SETTINGS, Setting
from antiphon.protocol.failures import ROWS, Row
from antiphon.translation.presets import DIALECTS
from antiphon.upstream_settings import SHARED, ModelSettings, UpstreamSettings
from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "reference"
WRITTEN = "<!-- Written by `python -m tests.docs.reference`; change the table in the code instead. -->\n"


def settings() -> str:
    """Every setting, under each of its names."""
    rows = [(f"`{one.name}`", f"`ANTIPHON_{one.name.upper()}`", _flag(one), _default(one), _help(one)) for one in SETTINGS]
    upstream, model = (
        [(f"`{field.name}`", _own_default(field), meanings(shape)[field.name]) for field in msgspec.structs.fields(shape)]
        for shape in (UpstreamSettings, ModelSettings)
    )
    return "\n".join(
        (
            "# Settings",
            WRITTEN,
            "A flag of `antiphon serve` wins over its environment variable, and that over the key in `antiphon.toml`.\n",
            *_table(("key", "variable", "flag", "default", "what it does"), rows),
            "\nSeveral upstreams live in the file, each in a table `[upstreams.NAME]` with these keys; `chat` and `responses` override single rules of",
            "its [dialect](dialects.md):\n",
            *_table(("key", "default", "what it does"), upstream),
            '\nWhat is so for some models only lives in tables `[models."NAME"]` with these keys. NAME is the model\'s name there, or `UPSTREAM/NAME`, and may',
            "hold `*`; where several fit, the later one wins, and over `[upstreams.NAME]` in any case. `dialect` gives such a model the rules of another",
            "kind of server:\n",
            *_table(("key", "default", "what it does"), model),
            "\n`[aliases]` maps a name that clients use to the model it stands for; `[[failures]]` adds rows to the [failures](failures.md).\n",
        )
    )


def _own_default(field: Any) -> str:
    return "the general setting" if field.name in SHARED else _value(field.default)


def _flag(one: Setting) -> str:
    return f"`--{one.name.replace('_', '-')}`" if one.flag else ""


def _default(one: Setting) -> str:
    return f"`{one.default}`" if one.default != "" else ""


def _help(one: Setting) -> str:
    choices = ", ".join(f"`{choice}`" for choice in one.choices if choice)
    return f"{one.help} One of {choices}." if choices else one.help


def dialect_pages() -> str:
    """Every dialect and what it does otherwise than the generic one."""
    parts = [
        "# Dialects",
        WRITTEN,
        "What a model server can do and how it spells it. `--dialect NAME` names one; without it Antiphon finds out.",
        "Every rule can be changed in `antiphon.toml`, for an upstream in `[upstreams.NAME.chat]` or `[upstreams.NAME.responses]`, for some models in",
        '`[models."NAME".chat]` or `[models."NAME".responses]`. `antiphon dialects NAME` prints the rules of one.\n',
    ]
    parts += _table(("name", "prefers", "for"), [(f"`{one.name}`", one.prefers, one.note) for one in DIALECTS.values()])
    for rules, title, shape in APIS:
        parts.append(f"\n## Rules of {title}\n")
        parts += _table(("rule", "meaning", "generic", "otherwise"), _rules(shape, rules))
    parts.append("\n## Models with rules of their own\n")
    own = [(f"`{one.name}`", f"`{name}`", _value(rules)) for one in DIALECTS.values() for name, rules in one.models.items()]
    parts += _table(("dialect", "models like", "rules of Chat Completions"), own)
    return "\n".join(parts) + "\n"


def _rules(shape: type[msgspec.Struct], name: str) -> Iterator[tuple[str, ...]]:
    usual = shape()
    for rule, meaning in meanings(shape).items():
        default = getattr(usual, rule)
        others = {one.name: getattr(getattr(one, name), rule) for one in DIALECTS.values()}
        differing = (f"`{dialect}`: {_rule_value(value, default)}" for dialect, value in others.items() if value != default)
        yield f"`{rule}`", meaning, _value(default), "<br>".join(differing)


def _rule_value(value: Any, default: Any) -> str:
    """A value; of a set that only has more than usual, what it has more."""
    if isinstance(value, frozenset) and isinstance(default, frozenset) and default and default < value:
        return f"also {_value(value - default)}"
    return _value(value) or "none"


def failures() -> str:
    """Every row of the failure table."""
    sections = [
        "# Failures",
        WRITTEN,
        "What an upstream's refusal becomes. The first row that fits decides; where none fits, the upstream's own status, code and",
    ]
    sections.append("message are kept. Rows of `[[failures]]` in `antiphon.toml` come first, then the dialect's.\n")
    sections += _table(("row", "upstream status", "wording", "becomes", "code"), (_failure(one) for one in ROWS))
    for dialect in DIALECTS.values():
        if dialect.failures:
            sections.append(f"\n## {dialect.name}\n")
            sections += _table(("row", "upstream status", "wording", "becomes", "code"), (_failure(one) for one in dialect.failures))
    return "\n".join(sections) + "\n"


def _failure(one: Row) -> tuple[str, ...]:
    wording = f"`` {one.wording.pattern} ``" if one.wording else ""
    return (
        one.name,
        _ranges(sorted(one.statuses)),
        wording,
        str(one.becomes.status or "as it was"),
        f"`{one.becomes.code}`" if one.becomes.code else "as it was",
    )


def _ranges(numbers: Iterable[int]) -> str:
    """`500-599` for a run of numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def commands() -> str:
    """The help of every command."""
    sections = (f"## {name}\n\n```text\n{text}\n```\n" for name, text in _helps(main, "antiphon"))
    return "\n".join(("# Commands", WRITTEN, *sections))


def _helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100, **main.context_settings)
    command._help_option = None  # click keeps the one it made for whoever asked first
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _helps(found, f"{name} {child}")


def _value(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case frozenset():
            return ", ".join(f"`{one}`" for one in sorted(map(spelled, value))) or "none"
        case tuple() | list():
            return ", ".join(f"`{spelled(one)}`" for one in value) or "none"
        case _:
            return f"`{spelled(value)}`" if spelled(value) else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings,
    "dialects.md": dialect_pages,
    "failures.md": failures,
    "commands.md": commands,
}


def write() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    write()
