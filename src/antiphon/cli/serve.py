"""`antiphon serve`: settings → upstreams → app → server."""

import asyncio
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import click

from antiphon import config
from antiphon.config import BadConfig, Config
from antiphon.observe import log

if TYPE_CHECKING:
    from antiphon.cli.http_server import HttpServer


MOST_FILES = 65_536


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    """A flag for each setting that has one, out of the same table as everything else."""
    for setting in reversed([one for one in config.SETTINGS if one.flag]):
        name = f"--{setting.name.replace('_', '-')}"
        kind = click.Choice([choice for choice in setting.choices if choice]) if setting.choices else setting.type
        extra: dict[str, Any] = (
            {"is_flag": True} if setting.type is bool else {"type": kind, "metavar": None if setting.choices else setting.name.upper()}
        )
        shown = f" [default: {setting.default}]" if setting.default not in ("", False) else ""
        command = click.option(name, setting.name, default=None, help=setting.help + shown, **extra)(command)
    return command


@click.command()
@_flags
@click.option("--config", "file", default="", help="A configuration file to read instead of the usual one.")
def serve(file: str, **flags: Any) -> None:
    """Run the gateway. With no upstream it looks for model servers on this machine, else it starts the embedded model."""
    from antiphon.cli import kept_state
    from antiphon.store import state
    from antiphon.store.state import BadStore
    from antiphon.upstream import access

    try:
        settings = config.load(flags, file=file)
        for name, upstream in settings.upstreams.items():
            access.of(name, upstream, os.environ)
        state.store(settings.store, config.data_folder())
    except (BadConfig, BadStore) as bad:
        raise click.UsageError(str(bad)) from None
    if settings.workers > 1 and os.name != "posix":
        raise click.UsageError("several workers need a system that hands listening sockets on, and this one does not: leave out --workers.")
    if settings.workers > 1 and settings.store == "memory":
        raise click.UsageError("several workers share no memory: choose another --store, or leave out --workers.")
    log.set_up(settings.log_level)
    signal.signal(signal.SIGTERM, _end)
    _allow_connections()
    kept = kept_state.check(settings, os.environ)
    with ExitStack() as stack:
        listening = stack.enter_context(listen(settings.host, settings.port))
        if not settings.upstreams:
            settings = _with_upstream(settings, stack)
        for line in _warnings(settings, os.environ):
            _say(f"antiphon: {line}")
        _say(f"antiphon: {kept}")
        with asyncio.Runner(loop_factory=event_loop) as runner:
            runner.run(_run(settings, listening) if settings.workers == 1 else _run_workers(settings, listening))


def _warnings(settings: Config, environ: Mapping[str, str]) -> Iterator[str]:
    """What somebody who starts the gateway should know of its way to the upstreams."""
    from antiphon.upstream import proxies

    for name, upstream in settings.upstreams.items():
        if upstream.key_env and not environ.get(upstream.key_env):
            yield f"{upstream.key_env} is not set: requests to {name} go without a key"
        if upstream.insecure:
            yield f"INSECURE: any certificate is taken for {name}; whoever is on the way can read keys and answers"
        if upstream.proxy == "none" and proxies.proxy(upstream.url, "environment", environ):
            yield f'{proxies.named(environ)} is set, and not used for {name}: proxy = "environment" uses it'


def _with_upstream(settings: Config, stack: ExitStack) -> Config:
    """A configuration without an upstream gets one: a server that runs here, or the embedded model."""
    from antiphon.upstream.discover import discover

    found = None if settings.gguf else asyncio.run(discover(not_port=settings.port))
    if found is not None:
        place, url = found
        _say(f"antiphon: found a model server on port {place.port} (usually {place.server})")
    else:
        url = _embedded(settings, stack)
    return config.with_upstream(settings, "local", url)


def _embedded(settings: Config, stack: ExitStack) -> str:
    from pathlib import Path

    from antiphon import local_model

    _say("antiphon: no model server found; starting the embedded model")
    try:
        gguf = Path(settings.gguf).expanduser() if settings.gguf else None
        return stack.enter_context(local_model.ensure(gguf, config.data_folder().absolute(), progress=_say)).url
    except local_model.Unavailable as why:
        raise click.ClickException(f"{why}\nOr name a model server: antiphon serve --upstream http://localhost:8000/v1") from None


def server(settings: Config, environ: Mapping[str, str]) -> "HttpServer":
    """The gateway, ready to listen. Call it inside the loop that it is to run in."""
    from antiphon.cli.http_server import HttpServer
    from antiphon.cli.own_tools import hosts
    from antiphon.http import keyring
    from antiphon.http.gateway import Gateway
    from antiphon.http.keyring import Keyring
    from antiphon.observe import journal
    from antiphon.observe.journal import Journal
    from antiphon.store import state
    from antiphon.turn import Manner
    from antiphon.upstream.pool import Pool

    manner = Manner(
        new_id=lambda prefix: f"{prefix}_{secrets.token_hex(24)}",
        now=lambda: int(time.time()),
        length_cut=settings.length_cut,
        strict=settings.strict,
        failures=settings.failures,
        retry_after_default=settings.retry_after_default,
    )
    unknown = Journal(journal.path(config.data_folder(environ)), capture=settings.capture)
    kept = state.store(settings.store, config.data_folder(environ))
    own_tools = hosts(settings, config.data_folder(environ), new_id=manner.new_id, environ=environ)
    process = f"{socket.gethostname()}:{secrets.token_hex(8)}"
    gateway = Gateway(settings, Pool(settings, environ=environ), manner, unknown, kept, process, own_tools)
    return HttpServer(gateway, Keyring(kept, keyring.of_environment(settings.key_env, environ)))


async def _run(settings: Config, listening: socket.socket) -> None:
    serving = server(settings, os.environ)
    listens = _listens(listening)
    async with asyncio.TaskGroup() as group:
        group.create_task(serving.serve(sockets=[listening]))
        await serving.listening.wait()
        _say(listens)


async def _run_workers(settings: Config, listening: socket.socket) -> None:
    from antiphon.cli import workers

    listens = _listens(listening)
    await workers.Workers(settings, workers.sockets(listening, settings.workers), lambda: _say(listens)).run()


def _listens(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"antiphon: listening on http://{f'[{host}]' if ':' in host else host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """The listening socket, made before anything else so that a port in use is told plainly."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
        # asyncio sets TCP_NODELAY only where the protocol is named; without it each stream waits 40 ms for a delayed acknowledgement.
        return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=listening.detach())
    except OSError as bad:
        raise click.ClickException(f"cannot listen on {host}:{port}: {bad.strerror}. Choose another --port, or 0 for a free one.") from None


def _allow_connections() -> None:
    """As many open files as the system grants: a stream needs two, and the usual limit to begin with is for a thousand or fewer."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    granted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft < granted:
        with suppress(OSError, ValueError):  # macOS names a limit that it does not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))


def event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed."""
    try:
        import uvloop  # pyright: ignore[reportMissingImports, reportMissingModuleSource]
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


def _end(*_: object) -> None:
    """An end as any other, so that what was started is put away: an embedded model, above all."""
    raise SystemExit(0)


def _say(line: str) -> None:
    print(line, flush=True)
