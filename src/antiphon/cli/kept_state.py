"""The state of a gateway, as commands use it: opened with the same settings as `serve`, its failures told plainly."""

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import click

from antiphon import config
from antiphon.config import BadConfig, Config
from antiphon.http import keyring
from antiphon.http.guard import is_loopback
from antiphon.http.keyring import BadKeys
from antiphon.loop.ports import Key, StoreFailed
from antiphon.store import state
from antiphon.store.state import BadStore, State

T = TypeVar("T")


def options(command: Callable[..., T]) -> Callable[..., T]:
    """The options that say which state is meant."""
    command = click.option("--store", default=None, help="The store, where it is not the configured one.")(command)
    return click.option("--config", "config_file", default="", help="A configuration file to read instead of the usual one.")(command)


def running(work: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., T]:
    """A command whose first argument is the open store, instead of the options that name it."""

    @functools.wraps(work)
    def command(*, store: str | None, config_file: str, **arguments: Any) -> T:
        async def with_store() -> T:
            async with opened(loaded(store, config_file)) as found:
                return await work(found, **arguments)

        try:
            return asyncio.run(with_store())
        except StoreFailed as failed:
            raise click.ClickException(str(failed)) from None

    return command


def loaded(store: str | None, file: str) -> Config:
    """The settings, with another store where one is named."""
    try:
        return config.load({"store": store}, file=file)
    except BadConfig as bad:
        raise click.UsageError(str(bad)) from None


@asynccontextmanager
async def opened(settings: Config) -> AsyncGenerator[State]:
    """The store, open."""
    try:
        found = state.store(settings.store, config.data_folder())
    except BadStore as bad:
        raise click.UsageError(str(bad)) from None
    if found is None or settings.store == "memory":
        raise click.UsageError(f"store {settings.store} keeps nothing beyond a process: name another with --store")
    try:
        await found.open()
        yield found
    except OSError as failed:
        raise StoreFailed(f"The state store cannot be opened: {failed}.") from None
    finally:
        await found.close()


def check(settings: Config, environ: Mapping[str, str]) -> str:
    """Opens the state once before anything listens, and sees that a gateway beyond loopback has keys. What to tell who starts it."""
    place = state.place(settings.store, config.data_folder(environ))
    told = f"state is kept in {place}" if place else "no state is kept: every request must carry its whole history"
    try:
        keys = keyring.of_environment(settings.key_env, environ)
        if settings.store not in ("none", "memory"):
            keys += asyncio.run(_keys(settings))
    except (BadKeys, StoreFailed) as bad:
        raise click.ClickException(str(bad)) from None
    if not keys and not is_loopback(settings.host):
        raise click.UsageError(
            f"refusing to listen on {settings.host} without keys: make one with `antiphon keys add NAME`, or name a variable with --key-env."
        )
    return f"{told}; {len(keys)} key{'s' if len(keys) > 1 else ''}" if keys else told


async def _keys(settings: Config) -> list[Key]:
    async with opened(settings) as found:
        return [key for key in await found.keys() if key.revoked_at is None]
