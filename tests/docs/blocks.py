"""The fenced blocks of the Markdown pages, and the commands in the ones that a person types."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[\w+-]*)[^\n]*\n(?P<text>.*?)^(?P=indent)(?P=fence) *$", re.MULTILINE | re.DOTALL
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
PROMPT = "$ "


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: where it begins, its language and its text without the indent of the fence."""

    where: str
    language: str
    text: str


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        inside = "\n".join(each.removeprefix(found["indent"]) for each in found["text"].splitlines())
        yield Block(f"{page.relative_to(ROOT)}:{line}", found["language"], inside)


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block as argument lists; of a console block only what stands behind a prompt."""
    text = block.text.replace("\\\n", " ")
    lines = text.splitlines()
    if block.language == "console":
        lines = [line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)]
    for words in _statements("\n".join(lines)):
        command = [*words]
        while command and ASSIGNMENT.match(command[0]):
            command.pop(0)
        if command:
            yield command


def _statements(text: str) -> Iterator[list[str]]:
    """Words of a shell text, cut where one command ends and the next begins; comments and redirections left out."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|<>()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    for word in lexer:
        if word.startswith("#"):
            while "\n" not in (lexer.get_token() or "\n"):
                pass
        if word in {">", ">>", "<"}:
            lexer.get_token()
        elif word.startswith("#") or not word.strip(";&|\n()"):
            yield words
            words = []
        else:
            words.append(word)
    yield words
