"""`antiphon codex [args…]`: the real Codex on the gateway, told so by `-c` overrides and by nothing else.

The user's home, configuration, logins, caches, MCP servers, AGENTS.md and threads are used as they are. Approval review is the gateway's
business (`review_model`), and nothing is said of it here. What the user writes comes after what we say, so it wins.
"""

import os
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from antiphon import config
from antiphon.cli import codex_program, codex_settings, running_gateway
from antiphon.cli.codex_program import Program
from antiphon.cli.codex_settings import Settings
from antiphon.cli.foreground import become, run_and_wait
from antiphon.protocol.document import Document

# Commands of Codex that ask no model.
WITHOUT_MODEL = {"completion", "features", "help", "login", "logout", "mcp", "plugin", "update", "--help", "--version", "-h", "-V"}


class Passing(click.Command):
    """Antiphon's own options stand first; from the first word that is none of them on, everything is Codex's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Splits where Codex's part begins, and lets click read ours."""
        own = {name: option for option in self.get_params(ctx) if isinstance(option, click.Option) for name in option.opts}
        split = 0
        while split < len(args) and args[split].partition("=")[0] in own:
            option = own[args[split].partition("=")[0]]
            split += 1 if option.is_flag or "=" in args[split] else 2
        theirs = args[split + 1 :] if args[split : split + 1] == ["--"] else args[split:]
        return super().parse_args(ctx, [*args[:split], "--", *theirs])


@click.command(cls=Passing)
@click.option("--isolated", is_flag=True, help="Use a CODEX_HOME of Antiphon's own instead of the user's.")
@click.option("--print-config", is_flag=True, help="Print what to paste into config.toml, and run nothing.")
@click.option("--url", help="The gateway; else the one at the configured address, else one is started.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def codex(arguments: tuple[str, ...], url: str | None, *, isolated: bool, print_config: bool) -> None:
    """Run Codex on the gateway. ARGUMENTS are Codex's own: antiphon codex exec "What does this project do?"

    Antiphon's options stand first; `--` ends them.
    """
    try:
        if print_config:
            click.echo(pasted(url), nl=False)
        else:
            sys.exit(run(arguments, url, isolated=isolated))
    except (config.BadConfig, codex_program.NoCodex, running_gateway.NoGateway) as failed:
        raise click.ClickException(str(failed)) from None


def configured(url: str | None) -> str:
    """The address of the gateway that ought to be running, without `/v1`."""
    if url is not None:
        return (url if "://" in url else f"http://{url}").rstrip("/").removesuffix("/v1")
    settings = config.load()
    return running_gateway.address(settings.host, settings.port)


def pasted(url: str | None) -> str:
    """Lines for `config.toml`, with the model of the gateway if it is up."""
    gateway = configured(url)
    if running_gateway.is_running(gateway):
        model = codex_settings.first_model(running_gateway.fetch(gateway, "/v1/models"))
        return codex_settings.toml(Settings(base_url=f"{gateway}/v1", model=model, catalogue_url=True))
    missing = f'# model = "…": the gateway at {gateway} is not running, so its models are not known here\n'
    return missing + codex_settings.toml(Settings(base_url=f"{gateway}/v1", model=None, catalogue_url=True))


def run(arguments: Sequence[str], url: str | None, *, isolated: bool) -> int:
    """Runs Codex; its exit status. Does not return where Codex can take our place."""
    program = codex_program.find()
    environment = _environment(isolated=isolated)
    if arguments and arguments[0] in WITHOUT_MODEL:
        return become([str(program.launcher), *arguments], environment)
    gateway = configured(url)
    with ExitStack() as stack:
        is_ours = url is None and not running_gateway.is_running(gateway)
        if is_ours:
            _tell(f"no gateway at {gateway}: starting one for this run")
            gateway = stack.enter_context(running_gateway.started(_folder()))
        settings = _settings(gateway, program, arguments, isolated=isolated)
        if is_ours and settings.catalogue_file is not None:
            stack.callback(settings.catalogue_file.unlink, missing_ok=True)
        command = [str(program.launcher), *codex_settings.overrides(settings), *arguments]
        return run_and_wait(command, environment) if is_ours else become(command, environment)


def _folder() -> Path:
    return config.data_folder().absolute()


def _environment(*, isolated: bool) -> dict[str, str]:
    if not isolated:
        return dict(os.environ)
    home = _folder() / "codex" / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {**os.environ, "CODEX_HOME": str(home)}


def _settings(gateway: str, program: Program, arguments: Sequence[str], *, isolated: bool) -> Settings:
    models = running_gateway.fetch(gateway, "/v1/models")
    model = None if codex_settings.names_model(arguments) else codex_settings.first_model(models)
    settings = Settings(base_url=f"{gateway}/v1", model=model, key_env=running_gateway.KEY if running_gateway.authorization() else "")
    match _way(program, codex_settings.IN_OWN_HOME if isolated else codex_settings.IN_USERS_HOME):
        case codex_settings.BY_URL:
            return replace(settings, catalogue_url=True)
        case codex_settings.BY_FILE:
            return replace(settings, catalogue_file=_catalogue(gateway, models))
        case _:
            _tell("this Codex takes no list of models and falls back on general assumptions; a newer one takes it")
            return settings


def _way(program: Program, ways: Sequence[str]) -> str | None:
    """How the program can be told of the models. A setting it does not know does no harm, so the older is tried where we cannot see."""
    if program.native is None:
        return codex_settings.BY_FILE
    return next(filter(program.knows, ways), None)


def _catalogue(gateway: str, models: Document) -> Path | None:
    """The list as a file of Antiphon's own. Codex does not start with a list it cannot read, so an empty one is not written."""
    data = codex_settings.catalogue(models)
    if data is None:
        return None
    path = _folder() / "codex" / "catalogues" / f"{re.sub(r'[^A-Za-z0-9.-]', '_', gateway)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(data)
    scratch.replace(path)
    return path


def _tell(sentence: str) -> None:
    click.echo(f"antiphon: {sentence}", err=True)
