"""The results of the matrix as a page of the documentation. Not here: running anything."""

from collections.abc import Iterable, Mapping

from tests.matrix.cell import UPSTREAMS, Cell
from tests.matrix.versions import known

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


def word(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.lacking:
        return "–"
    told = "WRONG" if cell.problems else "ok"
    ratio = cell.prefix_stable_ratio
    return told if ratio is None or ratio == 1.0 else f"{told} {ratio:.4f}"


def _table(found: Iterable[Cell]) -> list[str]:
    by_place = {(cell.row.name, cell.upstream): cell for cell in found}
    upstreams = [name for name in UPSTREAMS if any(place[1] == name for place in by_place)]
    lines = [f"| scenario | {' | '.join(upstreams)} |", "|---" * (len(upstreams) + 1) + "|"]
    rows = dict.fromkeys(place[0] for place in by_place)
    return lines + [f"| {row} | {' | '.join(word(by_place.get((row, name))) for name in upstreams)} |" for row in rows]


def _switches(version: str) -> list[str]:
    told = {row: differs.how for row, differs in known(version).differs.items() if differs.how}
    return ["", *(f"- `{row}`: switched on by {how}" for row, how in told.items())] if told else []


def _moves(found: Iterable[Cell]) -> list[str]:
    reasons = {cell.name: cell.row.moved[cell.upstream].why for cell in found if cell.upstream in cell.row.moved and not cell.lacking}
    return ["", *(f"- `{name}`: the prompt moves, because {why}" for name, why in reasons.items())] if reasons else []


def _lacks(found: Iterable[Cell]) -> list[str]:
    reasons = {cell.row.name: cell.lacking for cell in found if cell.lacking}
    return ["", *(f"- `{row}`: {reason}" for row, reason in reasons.items())] if reasons else []


def write(results: Mapping[str, list[Cell]]) -> str:
    """The whole page."""
    lines = [f"| {version} | {known(version).how} |" for version in results]
    for version, found in results.items():
        lines += ["", f"## {version}", "", *_table(found), *_switches(version), *_moves(found), *_lacks(found)]
    return HEAD + "\n".join(lines) + "\n"
