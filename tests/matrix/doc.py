"""The results of the matrix as a page of the documentation: written, and read again, so that some cells can be run anew. Not here: running anything."""

import re
from collections.abc import Iterable, Iterator, Mapping

from tests.matrix.cell import UPSTREAMS, Cell
from tests.matrix.meanings import MEANINGS
from tests.matrix.rows import ROWS
from tests.matrix.versions import VERSIONS, Version, adapted, known

HEAD = """# Codex versions and scenarios

Written by `scripts/codex-matrix --versions all --doc docs/reference/codex-matrix.md`; do not edit it.

Each cell is a run of the real Codex CLI. `direct` is Codex on a scripted Responses server without Antiphon; the other
columns are scripted servers behind Antiphon. `ok`: Codex showed what the scenario asks for, and the same as directly.
`–`: this version of Codex lacks it. `WRONG`: it should be right, and is not.
A number is a `prefix_stable_ratio` below 1: the smallest part of a prompt, rendered by a chat template, that stayed
where it was in the next request of the same conversation. Where there is no number it was 1.

## How each version is told of a model

| Codex | how |
|---|---|
"""
OK, LACKS, WRONG = "ok", "–", "WRONG"

Words = dict[tuple[str, str], str]
"""What the page says of one version, by row and upstream."""


def word(cell: Cell) -> str:
    if cell.lacking:
        return LACKS
    told = WRONG if cell.problems else OK
    ratio = cell.prefix_stable_ratio
    return told if ratio is None or ratio == 1.0 else f"{told} {ratio:.4f}"


def words(found: Iterable[Cell]) -> Words:
    return {(cell.row.name, cell.upstream): word(cell) for cell in found}


def read(page: str) -> dict[str, Words]:
    """What a page says, by version."""
    _, *parts = re.split(r"^## (\d+\.\d+\.\d+)$", page, flags=re.MULTILINE)
    return {version: dict(_read_table(section)) for version, section in zip(parts[::2], parts[1::2], strict=True)}


def _read_table(section: str) -> Iterator[tuple[tuple[str, str], str]]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    (_, *upstreams), _, *rows = lines
    for row, *told in rows:
        yield from (((row, upstream), word) for upstream, word in zip(upstreams, told, strict=True) if word)


def _table(told: Words) -> list[str]:
    upstreams = [name for name in UPSTREAMS if any(place[1] == name for place in told)]
    rows = [row.name for row in ROWS if any(place[0] == row.name for place in told)]
    lines = [f"| scenario | {' | '.join(upstreams)} |", "|---" * (len(upstreams) + 1) + "|"]
    return lines + [f"| {row} | {' | '.join(told.get((row, name), '') for name in upstreams)} |" for row in rows]


def _switches(version: Version) -> Iterator[str]:
    for row, differs in version.differs.items():
        if differs.how:
            yield f"- `{row}`: switched on by {differs.how}"


def _moves(version: Version) -> Iterator[str]:
    for row in ROWS:
        for upstream, moved in adapted(row, version).moved.items() if row.name not in version.lacks else ():
            yield f"- `{row.name}-{upstream}`: the prompt moves, because {moved.why}"


def _lacks(version: Version) -> Iterator[str]:
    for row, reason in version.lacks.items():
        yield f"- `{row}`: {reason}"


def write(told: Mapping[str, Words]) -> str:
    """The whole page."""
    order = [*(number for number in VERSIONS if number in told), *(number for number in told if number not in VERSIONS)]
    lines = [f"| {number} | {known(number).how} |" for number in order]
    lines += [
        "",
        "## Scenarios",
        "",
        "| scenario | what happens |",
        "|---|---|",
        *(f"| {row} | {about} |" for row, about in MEANINGS.items()),
    ]
    for number in order:
        lines += ["", f"## {number}", "", *_table(told[number])]
        for notes in (_switches, _moves, _lacks):
            if found := list(notes(known(number))):
                lines += ["", *found]
    return HEAD + "\n".join(lines) + "\n"
