"""The `antiphon` command. Parses arguments and nothing more; each command is loaded only when it is called, so that `serve` starts fast."""

from importlib import import_module
from typing import Any

import click

from antiphon import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("antiphon.cli.serve", "Run the gateway."),
    "codex": ("antiphon.cli.codex", "Run Codex on the gateway."),
    "setup": ("antiphon.cli.setup", "Write Antiphon into a client's own configuration, or take it out again."),
    "ask": ("antiphon.cli.ask", "Ask one question through a running gateway."),
    "dialects": ("antiphon.cli.dialects", "List the kinds of model servers that are known, and their rules."),
    "keys": ("antiphon.cli.keys", "Keys for clients: make, list, revoke."),
    "store": ("antiphon.cli.store", "What is kept: its size, pruning, taking out and in."),
    "unknown": ("antiphon.cli.unknown", "List what clients sent and this version does not know."),
    "schema": ("antiphon.cli.schema", "The JSON Schemas of the parameters by which clients resume threads."),
    "model": ("antiphon.cli.model", "The embedded model: get its weights, see them."),
}
"""Command → its module and its one line of help; the module has the click command under the command's name."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = COMMANDS.get(cmd_name)
        return None if known is None else getattr(import_module(known[0]), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in COMMANDS.items()])


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="antiphon")
def main(**_: Any) -> None:
    """Codex, and any other client of the OpenAI Responses API, on any model."""


if __name__ == "__main__":
    main()
