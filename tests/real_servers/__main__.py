"""Installs real model servers, asks them all kinds of things through the gateway, and prints what came of it: scripts/real-upstreams --help."""

import argparse
import asyncio
import sys
from pathlib import Path

import click

from tests.matrix.gateway import gateway
from tests.real_servers.questions import QUESTIONS, Asking
from tests.real_servers.servers import SERVERS, Server, running


def main() -> int:
    """Runs the servers that were named, and prints a table; 1 where a question was answered wrongly."""
    parser = argparse.ArgumentParser(
        prog="scripts/real-upstreams", description="Real model servers behind Antiphon, asked one question after the other."
    )
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=f"any of {', '.join(SERVERS)}; without: all that are quick to install")
    parser.add_argument(
        "--folder", type=Path, default=Path.home() / ".cache" / "antiphon-real-upstreams", help="where servers are installed"
    )
    asked = parser.parse_args()
    if unknown := set(asked.servers) - SERVERS.keys():
        parser.error(f"no such server: {', '.join(sorted(unknown))}")
    names = asked.servers or [name for name, server in SERVERS.items() if not server.heavy]
    folder = asked.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    columns = {f"{name} {api}": asyncio.run(interviewed(SERVERS[name], api, folder)) for name in names for api in SERVERS[name].apis}
    return show(columns)


async def interviewed(server: Server, api: str, folder: Path) -> dict[str, str]:
    """The verdict on each question."""
    with running(server, folder) as url:
        root = folder / f"{server.name}-{api}"
        root.mkdir(exist_ok=True)
        async with gateway(f"{url}/v1", ("--api", api), key="none", root=root) as at:
            asking = Asking(at.url, server.model)
            verdicts: dict[str, str] = {}
            for name, question in QUESTIONS.items():
                verdicts[name] = await asyncio.to_thread(asking.verdict, question, server.cannot.get(name, ""))
                click.echo(f"{server.name} {api}: {name}: {verdicts[name]}")
            return verdicts


def show(columns: dict[str, dict[str, str]]) -> int:
    """The table, in Markdown."""
    lines = [["", *columns], ["---"] * (len(columns) + 1)]
    lines += [[name, *(verdicts[name] for verdicts in columns.values())] for name in QUESTIONS]
    click.echo("\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
    return int(any(verdict.startswith("WRONG") for verdicts in columns.values() for verdict in verdicts.values()))


if __name__ == "__main__":
    sys.exit(main())
