"""How many tokens a prompt may have, without a tokenizer: for servers that do not say. Pure, and no more than a guess."""

from typing import Any

from antiphon.protocol import json
from antiphon.protocol.document import Document

CHARACTERS_A_TOKEN = 3.8
"""Of text in the Latin script and of code; other scripts take about a token for each character."""
AROUND_A_MESSAGE = 4
IMAGE = 765
"""Tokens of an image: what most models make of one of usual size."""


def tokens(chat: Document) -> int:
    """The estimate for a request to Chat Completions."""
    messages = [json.value(message) for message in chat.elements("messages")]
    tools = chat.members.get("tools")
    return round(sum(AROUND_A_MESSAGE + _of(message) for message in messages) + (0 if tools is None else _of_text(bytes(tools).decode())))


def _of(value: Any) -> float:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, list):
        return sum(map(_of, value))  # pyright: ignore[reportUnknownArgumentType]
    part = json.an_object(value)
    if "image_url" in part:
        return IMAGE
    return sum(_of(inner) for name, inner in part.items() if name not in ("role", "type"))


def _of_text(text: str) -> float:
    others = 0 if text.isascii() else sum(ord(c) > 0x2E7F for c in text)
    return (len(text) - others) / CHARACTERS_A_TOKEN + others
