"""`antiphon unknown`: what clients sent that this version has no name for."""

import time

import click

from antiphon import config
from antiphon.observe import journal
from antiphon.observe.journal import Journal
from antiphon.protocol import json


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def unknown(*, as_json: bool) -> None:
    """List the tools and items that clients sent and that this version does not know, with their shape."""
    entries = list(Journal(journal.path(config.data_folder()), capture=False).entries())
    for entry in entries:
        if as_json:
            click.echo(json.encode(entry))
            continue
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(int(entry.get("at") or 0)))
        click.echo(f"{at}  {entry.get('what')} {entry.get('type')}  from {entry.get('client') or 'an unnamed client'}")
        click.echo(f"    {json.encode(entry.get('shape')).decode()}")
    if not entries and not as_json:
        click.echo("Nothing unknown was seen.")
