"""`antiphon keys`: who may use a gateway. A key is shown once, when it is made; what is kept of it is a hash."""

import secrets
import time

import click
from rich.console import Console
from rich.table import Table

from antiphon import config
from antiphon.cli.kept_state import options, running
from antiphon.http.keyring import hashed
from antiphon.loop.ports import Key, Store
from antiphon.store import sealing_keys


@click.group()
def keys() -> None:
    """Keys for clients: once one exists, every request needs one."""


@keys.command()
@click.argument("name")
@click.option(
    "--models", default="", help="Models it may use, separated by commas; * stands for any part of a name. All, where none is named."
)
@click.option("--per-minute", type=click.IntRange(0), default=0, help="The most requests in a minute; 0: any number.")
@click.option("--at-once", type=click.IntRange(0), default=0, help="The most requests under way at once; 0: any number.")
@options
@running
async def add(store: Store, *, name: str, models: str, per_minute: int, at_once: int) -> None:
    """Make a key for NAME, and print it: it cannot be shown again."""
    secret = f"sk-antiphon-{secrets.token_urlsafe(32)}"
    allowed = tuple(one for one in models.replace(",", " ").split() if one)
    key = Key(f"key_{secrets.token_hex(6)}", name, hashed(secret), int(time.time()), allowed, per_minute, at_once)
    await store.add_key(key)
    click.echo(f"{key.id} for {name}; this is shown once:", err=True)
    click.echo(secret)


@keys.command(name="list")
@options
@running
async def list_keys(store: Store) -> None:
    """List all keys, revoked ones too."""
    table = Table(box=None)
    for title in ("key", "name", "made", "models", "per minute", "at once", "revoked"):
        table.add_column(title, no_wrap=title in ("key", "made", "revoked"))
    for key in await store.keys():
        table.add_row(
            key.id, key.name, _day(key.created_at), " ".join(key.models) or "all", str(key.per_minute or ""), str(key.at_once or ""),
            _day(key.revoked_at),
        )  # fmt: skip
    Console().print(table)


@keys.command()
@click.argument("key")
@options
@running
async def revoke(store: Store, *, key: str) -> None:
    """End KEY (as `list` shows it); running gateways refuse it within seconds. What was kept for it stays."""
    if not await store.revoke_key(key, int(time.time())):
        raise click.ClickException(f"there is no key {key} in force; antiphon keys list shows them")
    click.echo(f"{key} is revoked")


@keys.command()
def rotate_sealing() -> None:
    """Make a new key for sealed envelopes; those that the old ones sealed stay readable. Running gateways take it at their next start."""
    id = sealing_keys.rotate(config.data_folder())
    click.echo(f"{config.data_folder() / sealing_keys.FILE}: {id} seals from now on")


def _day(at: int | None) -> str:
    return "" if at is None else time.strftime("%Y-%m-%d", time.localtime(at))
