"""The command line of the matrix: runs the cells that were asked for, prints the table and what is wrong.

Exit 0 when every cell is as its row says, 1 on any mismatch, 2 when there is no Codex to run.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.matrix import doc
from tests.matrix.cell import DIRECT, UPSTREAMS, Cell, Runner
from tests.matrix.codex import VERSION, NoCodexError, find
from tests.matrix.row import Row
from tests.matrix.rows import BY_NAME, ROWS
from tests.matrix.versions import VERSIONS, known

APIS = {
    "direct": (DIRECT,),
    "chat": tuple(name for name in UPSTREAMS if name == DIRECT or "chat" in name),
    "responses": tuple(name for name in UPSTREAMS if "chat" not in name),
    "both": tuple(UPSTREAMS),
}


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="codex-matrix", description="The real Codex CLI through Antiphon against scripted model servers.")
    parser.add_argument("--api", choices=APIS, default="both", help="which upstreams (default: both; direct: without Antiphon)")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=BY_NAME, default=list(BY_NAME), help="only these rows")
    parser.add_argument("--codex", metavar="PATH", type=Path, help="a Codex program instead of the ones npm installs")
    parser.add_argument("--versions", nargs="+", metavar="V", default=[VERSION], help=f"versions of Codex, or `all` ({VERSION})")
    parser.add_argument("--jobs", type=int, default=2, help="cells at a time (default: 2)")
    parser.add_argument("--patience", type=float, default=1.0, metavar="N", help="wait N times as long, on a busy machine (default: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", dest="report", help="write all that was seen to a file")
    parser.add_argument("--doc", type=Path, metavar="FILE", help="write the results into a Markdown page; cells that were not run stay")
    return parser.parse_args(given)


def chosen(rows: Iterable[Row], upstreams: Iterable[str]) -> list[tuple[Row, str]]:
    """The cells of some rows and columns; a row is run directly whatever upstreams it names."""
    wanted = tuple(upstreams)
    return [(row, name) for row in rows for name in wanted if name == DIRECT or name in row.upstreams]


async def cells(runner: Runner, wanted: Iterable[tuple[Row, str]], jobs: int) -> list[Cell]:
    """All cells, so many at a time; in the order in which they were wanted, whatever ends first."""
    free = asyncio.Semaphore(jobs)

    async def one(row: Row, upstream: str) -> Cell:
        async with free:
            return await runner.cell(row, upstream)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(row, name)) for row, name in wanted]
    return [task.result() for task in tasks]


def mark(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.lacking:
        return "[dim]lacks it[/]"
    word = "[red]WRONG[/]" if cell.problems else "[green]ok[/]"
    return f"{word} {cell.ran.seconds:.1f}s {ratio(cell)}".rstrip() if cell.ran else word


def ratio(cell: Cell) -> str:
    """The cell's prefix_stable_ratio, where it has one."""
    stable = cell.prefix_stable_ratio
    return "" if stable is None else "1.0" if stable == 1.0 else f"{stable:.4f}"


def show(console: Console, version: str, found: Iterable[Cell]) -> None:
    """One line per row, one column per upstream; then every problem in full."""
    by_place = {(cell.row.name, cell.upstream): cell for cell in found}
    upstreams = [name for name in UPSTREAMS if any(place[1] == name for place in by_place)]
    table = Table(title=f"Codex {version} (seconds, prefix_stable_ratio)", title_justify="left")
    for heading in ("row", *upstreams):
        table.add_column(heading, no_wrap=True)
    for row in dict.fromkeys(place[0] for place in by_place):
        table.add_row(row, *(mark(by_place.get((row, name))) for name in upstreams))
    console.print(table)
    for cell in by_place.values():
        for problem in cell.problems:
            console.print(f"{cell.name}: {problem}", markup=False, highlight=False, soft_wrap=True)


def document(cell: Cell) -> dict[str, object]:
    ran = asdict(cell.ran) if cell.ran else None
    return {
        "row": cell.row.name,
        "upstream": cell.upstream,
        "problems": cell.problems,
        "ran": ran,
        "prefix_stable_ratio": cell.prefix_stable_ratio,
    }


async def matrix(given: argparse.Namespace, console: Console) -> bool:
    """Whether every cell of every version is as it should be."""
    wanted = chosen((row for row in ROWS if row.name in given.only), APIS[given.api])
    results: dict[str, list[Cell]] = {}
    versions = list(VERSIONS) if given.versions == ["all"] else given.versions
    for version in [str(given.codex)] if given.codex else versions:
        program = given.codex.absolute() if given.codex else await find(version)
        results[version] = await cells(Runner(program, known(version), patience=given.patience), wanted, given.jobs)
        show(console, version, results[version])
    if given.report:
        documents = {version: [document(cell) for cell in found] for version, found in results.items()}
        given.report.write_text(json.dumps(documents, indent=1, ensure_ascii=False, default=repr))
    if given.doc:
        told = doc.read(given.doc.read_text("utf-8")) if given.doc.exists() else {}
        now = {version: told.get(version, {}) | doc.words(found) for version, found in results.items()}
        given.doc.write_text(doc.write(told | now), "utf-8")
    return not any(cell.problems for found in results.values() for cell in found)


def main() -> int:
    console = Console(width=250)  # a table that is cut says nothing
    try:
        return 0 if asyncio.run(matrix(arguments(), console)) else 1
    except NoCodexError as error:
        console.print(f"codex-matrix: {error}", markup=False, highlight=False)
        return 2
