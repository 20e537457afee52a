"""What a 200-delta stream costs in Antiphon, beside a plain relay and, with --rivals, other gateways: in one run and in alternation.

    scripts/bench relay [--rivals] [--seconds S] [--rounds N]

The scripted upstream and all gateways are processes of their own and run all the time. In each round every scenario is asked of every party in
turn for so many seconds (or three answers, whatever is longer).
"""

import argparse
import asyncio
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench import comparison, figures
from bench.parties import OURS, THEIRS, Party, install


async def compare(parties: Sequence[Party], size: comparison.Size) -> figures.Table:
    """Everything about all of them."""
    for party in parties:
        if party.package:
            await install(party)
    start = await comparison.start_seconds(parties)
    samples, memory = await comparison.measure(parties, comparison.SCENARIOS, size)
    return figures.table(samples, memory, start, parties)


def show(found: figures.Table, *, console: Console) -> None:
    """The tables of the figures and of the targets."""
    table = Table("200 deltas a stream", *found)
    for column in table.columns[1:]:
        column.justify = "right"
    for figure in figures.FIGURES:
        table.add_row(figure.title, *(f"{values[figure.name]:.{figure.digits}f}" for values in found.values()))
    console.print(table)
    targets = Table("target", "shall be", "is")
    for target, value in figures.judged(found):
        colour = "green" if target.met(value) else "red"
        targets.add_row(target.title, f"{'≥' if target.at_least else '≤'} {target.limit:g}", f"[{colour}]{value:.2f}[/]")
    console.print(targets)


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(prog="scripts/bench relay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", action="store_true", help="install and measure LiteLLM and agentic-api too")
    parser.add_argument("--seconds", type=float, default=0.7, help="how long a scenario is asked of a party in a round")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    parties = (*OURS, *(THEIRS if arguments.rivals else ()))
    console = Console(width=180)
    found = asyncio.run(compare(parties, comparison.Size(arguments.seconds, arguments.rounds)))
    show(found, console=console)
    machine = figures.machine()
    console.print(f"{machine.taken}, {machine.processor}, {machine.cores} cores, load {machine.load}, Python {machine.python}")


if __name__ == "__main__":
    main()
