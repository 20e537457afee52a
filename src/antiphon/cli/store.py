"""`antiphon store`: what is kept, how large it is, taken out and taken in."""

import sys
import time
from typing import BinaryIO

import click

from antiphon import config
from antiphon.cli.kept_state import options, running
from antiphon.http.background import DAY
from antiphon.loop.ports import Store
from antiphon.store import lines


@click.group()
def store() -> None:
    """Responses, conversations and keys that are kept."""


@store.command()
@options
@running
async def size(store: Store) -> None:
    """Say how much is kept."""
    for name, count in (await store.size()).items():
        click.echo(f"{count:>12,} {name}")


@store.command()
@click.option(
    "--days", type=click.IntRange(0), default=None, help="Take away what nobody has used for so long; as configured, where not said."
)
@options
@running
async def prune(store: Store, *, days: int | None) -> None:
    """Take away responses that nobody has continued for long. Conversations stay until they are deleted."""
    kept = config.load().keep_days if days is None else days
    now = int(time.time())
    if not kept and days is None:
        raise click.UsageError("keep_days is 0: everything is kept. Say --days N to prune all the same.")
    for name, count in (await store.prune(before=now - kept * DAY + 1, events_before=now - min(kept, 1) * DAY)).items():
        click.echo(f"{count:>12,} {name}")


@store.command()
@click.argument("file", type=click.File("wb"), default="-")
@options
@running
async def export(store: Store, *, file: BinaryIO) -> None:
    """Write all that is kept to FILE (or standard output) as JSON lines. Responses that still run are left out."""
    count = 0
    async for line in store.export():
        file.write(lines.write(line))
        count += 1
    click.echo(f"{count} lines", err=True)


@store.command(name="import")
@click.argument("file", type=click.File("rb"), default="-")
@options
@running
async def import_lines(store: Store, *, file: BinaryIO) -> None:
    """Take in what `export` wrote, from FILE or standard input. What is there already stays as it is."""
    known: dict[int, int] = {}
    taken = left = 0
    for number, line in enumerate(file, 1):
        try:
            new = await store.add(lines.read(line), known)
        except (ValueError, KeyError, TypeError) as bad:
            raise click.ClickException(f"line {number} is none of an export: {bad}") from None
        taken, left = taken + new, left + (not new)
    click.echo(f"{taken} lines taken in, {left} were there", err=True)
    sys.stderr.flush()
