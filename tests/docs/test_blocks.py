"""Every code block of the docs is checked by its language: commands parse, programs compile, data parses, links lead somewhere."""

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import msgspec
import pytest

from antiphon import config
from antiphon.cli.main import main
from tests.docs.blocks import PAGES, ROOT, Block, blocks_of, commands

BLOCKS = [block for page in PAGES for block in blocks_of(page)]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")
CODE = re.compile(r"(`+).*?\1", re.DOTALL)

# Commands of other programs: what they do is theirs to test.
FOREIGN = {"cd", "claude", "codex", "curl", "export", "git", "llama-server", "npm", "ollama", "pip", "pipx", "uv", "vllm"}
# Languages that nothing can run or parse here, and why.
DECLARED = {
    "js": "tests/clients runs it",
    "ini": "a unit of systemd",
    "text": "what a program printed, or a drawing",
    "mermaid": "a diagram",
    "http": "a message on the wire",
}


def check_commands(block: Block, folder: Path) -> None:
    found = list(commands(block))
    assert found, "a shell block without a command: is it `text`?"
    for command in found:
        check_command(command)


def check_command(command: list[str]) -> None:
    program, arguments = command[0].removeprefix(".venv/bin/"), command[1:]
    if program == "antiphon":
        parses(main, program, arguments)
    elif program == "scripts/run":
        parses(main, "antiphon", ["serve", *(each for each in arguments if each != "--once")])
    elif program.startswith(("scripts/", ".ci/")):
        assert os.access(ROOT / program, os.X_OK), f"no such script: {program}"
    else:
        assert program in FOREIGN, f"a command nobody declared: {program}"


def parses(command: click.Command, name: str, arguments: list[str]) -> None:
    """The arguments fit the command, down to the last subcommand; nothing is run."""
    if "--help" in arguments:
        return
    with command.make_context(name, [*arguments]) as context:
        if isinstance(command, click.Group):
            child, found, left = command.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None
            parses(found, child or name, left)


def check_python(block: Block, folder: Path) -> None:
    compile(block.text, block.where, "exec")


def check_json(block: Block, folder: Path) -> None:
    msgspec.json.decode(block.text)


def check_toml(block: Block, folder: Path) -> None:
    """TOML; where it calls itself antiphon.toml its settings are known."""
    tomllib.loads(block.text)
    if "antiphon.toml" in block.text.partition("\n")[0]:
        file = folder / "antiphon.toml"
        file.write_text(block.text, "utf-8")
        config.load(file=str(file), environ={})


CHECKS: dict[str, Callable[[Block, Path], None]] = {
    "console": check_commands,
    "bash": check_commands,
    "sh": check_commands,
    "python": check_python,
    "json": check_json,
    "toml": check_toml,
}


@pytest.mark.parametrize("block", BLOCKS, ids=[block.where for block in BLOCKS])
def test_a_code_block_is_true(block: Block, tmp_path: Path) -> None:
    if block.language not in DECLARED:
        assert block.language in CHECKS, f"`{block.language}` is neither checked nor declared"
        CHECKS[block.language](block, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(CODE.sub("", page.read_text("utf-8")))
    assert [target for target in targets if not (page.parent / target).exists()] == []


UNTRUE = {
    "an unknown flag": Block("here", "console", "$ antiphon serve --prot 1"),
    "an unknown command": Block("here", "bash", "antiphon sevre"),
    "an unknown script": Block("here", "bash", "scripts/nothing"),
    "a program nobody declared": Block("here", "bash", "antiphon serve & wget x"),
    "no command": Block("here", "console", "antiphon: listening"),
    "wrong Python": Block("here", "python", "print("),
    "wrong JSON": Block("here", "json", "{'a': 1}"),
    "wrong TOML": Block("here", "toml", "a = "),
    "an unknown setting": Block("here", "toml", "# antiphon.toml\nprot = 1"),
}


@pytest.mark.parametrize("block", UNTRUE.values(), ids=UNTRUE)
def test_an_untrue_block_is_found(block: Block, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, SyntaxError, ValueError, click.UsageError)):
        CHECKS[block.language](block, tmp_path)
