"""The how-to of each client: its programs run as they stand there, over both kinds of upstream, with the versions that it names."""

import asyncio
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients import programs
from tests.clients.outcomes import served
from tests.clients.programs import LOCK, NoClientError
from tests.clients.scenarios import BOTH
from tests.clients.tap import Tap
from tests.docs.blocks import ROOT, blocks_of
from tests.matrix.codex import Done, run

PAGES = ("openai-python", "openai-node", "agents", "langchain", "pydantic-ai", "vercel-ai", "curl")
GATEWAY, MODEL = "http://127.0.0.1:8787", "your-model"
ASKED = {"Say hello": "You said: Say hello", "How is the weather": "It is: Sunny in Paris.", "Who wrote": "Ada"}
"""What a program asks, and what it then shows."""
SECONDS = 60


class Program(NamedTuple):
    """A block of a page."""

    where: str
    language: str
    text: str


def found() -> Iterator[Program]:
    for page in PAGES:
        for block in blocks_of(ROOT / "docs" / "howto" / f"{page}.md"):
            commands = [line.removeprefix("$ ") for line in block.text.splitlines() if line.startswith("$ curl")]
            if block.language != "console":
                yield Program(block.where, block.language, block.text)
            elif commands:
                yield Program(block.where, "curl", "\n".join(commands))


PROGRAMS = {program.where: program for program in found()}
RUNS = [(where, upstream) for where, program in PROGRAMS.items() for upstream in BOTH if upstream == "chat" or "/chat/" not in program.text]
FILES = {"python": "howto.py", "js": "howto.mjs", "curl": "howto.sh"}


async def shown(program: Program, upstream: str, folder: Path) -> Done:
    """What the program does with a gateway of the test's own."""
    async with served(folder, Tap()) as url:
        text = program.text.replace(GATEWAY, url.removesuffix("/v1")).replace(MODEL, f"{upstream}/howto")
        return await run(await _command(program.language, text, folder), seconds=SECONDS, env=dict(os.environ), cwd=folder)


async def _command(language: str, text: str, folder: Path) -> list[str]:
    file = folder / FILES[language]
    file.write_text(text, "utf-8")
    match language:
        case "python":
            return [str(await programs.interpreter()), str(file)]
        case "js":
            (folder / "node_modules").symlink_to(await programs.packages() / "node_modules")
            return ["node", str(file)]
        case _:
            return ["bash", "-eu", str(file)]


@pytest.mark.real
@pytest.mark.requirement("clients.howtos")
@pytest.mark.parametrize(("where", "upstream"), RUNS)
def test_a_program_of_a_page_runs(where: str, upstream: str, tmp_path: Path) -> None:
    program = PROGRAMS[where]
    try:
        done = asyncio.run(shown(program, upstream, tmp_path))
    except NoClientError as why:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(why))
    assert done.exit == 0, done.errors[-3000:]
    assert done.errors == ""
    missing = [answer for question, answer in ASKED.items() if question in program.text and answer not in done.output]
    assert missing == [], done.output[-3000:]


NAMED = re.compile(r"(@?[\w/-]+) (\d+\.\d+\.\d+)")


def locked() -> dict[str, str]:
    """The version of every package of the clients."""
    python = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK.read_text("utf-8"), re.MULTILINE))
    packages = json.loads((programs.HERE / "node" / "package-lock.json").read_text("utf-8"))["packages"]
    return python | {f"npm:{path.removeprefix('node_modules/')}": package["version"] for path, package in packages.items() if path}


@pytest.mark.requirement("clients.howtos")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_the_versions_that_its_programs_run_with(page: str) -> None:
    text = (ROOT / "docs" / "howto" / f"{page}.md").read_text("utf-8")
    told = next(line for line in text.splitlines() if line.startswith("*Ran on"))
    versions = locked()
    named = NAMED.findall(told)
    assert named or page == "curl"
    for package, version in named:
        assert version in (versions.get(package), versions.get(f"npm:{package}")), f"{package} is not at {version}"
