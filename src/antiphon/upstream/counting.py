"""How many tokens a prompt has, asked of the server that will read it. None where it does not say."""

from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.errors import UpstreamError
from antiphon.upstream.client import Client

SECONDS = 20.0


async def count(client: Client, way: str, *, chat: Document, responses: Document) -> int | None:
    """The count, in the way of the server's dialect; the request is there in both of its forms."""
    ask = _WAYS.get(way)
    if ask is None:
        return None
    try:
        return await ask(client, chat, responses)
    except UpstreamError:
        return None


async def _openai(client: Client, chat: Document, responses: Document) -> int | None:
    return _number(await _asked(client, "/responses/input_tokens", responses, root=False), "input_tokens")


async def _vllm(client: Client, chat: Document, responses: Document) -> int | None:
    return _number(await _asked(client, "/tokenize", _prompt(chat, "model")), "count")


async def _llama(client: Client, chat: Document, responses: Document) -> int | None:
    prompt = (await _asked(client, "/apply-template", _prompt(chat))).text("prompt")
    if prompt is None:
        return None
    asked = Document.of({"content": prompt, "add_special": True, "parse_special": True})
    tokens = (await _asked(client, "/tokenize", asked)).elements("tokens")
    return len(tokens) or None


_WAYS: dict[str, Callable[[Client, Document, Document], Coroutine[Any, Any, int | None]]] = {
    "openai": _openai,
    "vllm": _vllm,
    "llama.cpp": _llama,
}


def _prompt(chat: Document, *also: str) -> Document:
    """Of a chat request what its prompt is made of."""
    return Document.of({name: value for name, value in chat.members.items() if name in ("messages", "tools", *also)})


async def _asked(client: Client, path: str, body: Document, *, root: bool = True) -> Document:
    """The object that a server answers with; empty where it does not."""
    status, answer = await client.ask(path, bytes(body), seconds=SECONDS, root=root)
    return Document(answer) if status == 200 and json.is_object(answer.lstrip()) else Document(b"{}")


def _number(told: Document, name: str) -> int | None:
    found = told.get(name)
    return found if isinstance(found, int) and found >= 0 else None
