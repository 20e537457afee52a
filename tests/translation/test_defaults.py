"""What a model is asked for where the client says nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from antiphon import config
from antiphon.config import BadConfig
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.translation import defaults
from tests.wires.client import fetch
from tests.wires.gateway import gateway
from tests.wires.upstream import Upstream, chat, named, responses_events, streaming

pytestmark = pytest.mark.requirement("models.defaults")

GIVEN = {"temperature": 0.2, "reasoning": {"effort": "low", "summary": "auto"}, "top_k": 40, "chat_template_kwargs": {"a": 1, "b": 2}}
ASKED: dict[str, tuple[str, str]] = {
    "nothing said": ('{"model":"m"}', '{"model":"m","temperature":0.2,"reasoning":{"effort":"low","summary":"auto"}}'),
    "said": (
        '{"temperature":1.0,"reasoning":{"effort":"high","summary":"x"}}',
        '{"temperature":1.0,"reasoning":{"effort":"high","summary":"x"}}',
    ),
    "null is nothing": (
        '{"temperature":null,"reasoning":null}',
        '{"temperature":0.2,"reasoning":{"effort":"low","summary":"auto"}}',
    ),
    "a part said": ('{"temperature":0,"reasoning":{"effort": "high"}}', '{"temperature":0,"reasoning":{"effort":"high","summary":"auto"}}'),
    "of another shape": ('{"temperature":"hot","reasoning":"deep"}', '{"temperature":"hot","reasoning":"deep"}'),
}


@pytest.mark.parametrize(("said", "asked"), ASKED.values(), ids=ASKED)
def test_settings_of_the_api_are_asked_where_the_client_leaves_them(said: str, asked: str) -> None:
    assert json.loads(bytes(defaults.asked(Document(said.encode()), GIVEN))) == json.loads(asked)


def test_where_all_is_said_the_bytes_stay() -> None:
    said = Document(b'{"temperature" : 1e0,"reasoning":{"effort":"x","summary":"y"}, "top_k":null}')
    assert defaults.asked(said, GIVEN) is said
    assert defaults.asked(said, {}) is said
    assert defaults.sent(said, {}) is said


def test_other_fields_are_the_servers_own() -> None:
    sent = json.loads(bytes(defaults.sent(Document(b'{"top_k":5,"chat_template_kwargs":{"b":null,"c":3}}'), GIVEN)))
    assert sent == {"top_k": 5, "chat_template_kwargs": {"a": 1, "b": 2, "c": 3}}


def test_only_what_the_client_said_is_told_as_lost() -> None:
    notes = [Note(Kind.DROPPED, where, "") for where in ("temperature", "reasoning.summary", "reasoning.effort", "text", "tools[0].x")]
    request = Document(b'{"reasoning":{"effort":"high"},"text":{}}')
    assert [note.where for note in defaults.told(notes, request, GIVEN)] == ["reasoning.effort", "text", "tools[0].x"]
    assert defaults.told(notes, request, {}) == notes


async def asked(folder: Path, api: str, tables: str, **said: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """What the upstream was sent, the response that the client got, and its headers."""
    script = chat() if api == "chat" else streaming(named(*responses_events()))
    file = folder / "antiphon.toml"
    strict = said.pop("strict", False)
    async with Upstream(script) as upstream:
        file.write_text(f'strict = {str(strict).lower()}\n[upstreams.one]\nurl = "{upstream.url}"\napi = "{api}"\n{tables}')
        async with gateway(file=file) as url:
            reply = await fetch(url, {"model": "m", "input": "hi", "stream": True, **said})
        return json.loads(upstream.posts[0].body), reply.events[-1]["response"], reply.headers


TABLES = """
[models."*".defaults]
temperature = 0.7
max_output_tokens = 100
top_k = 40
service_tier = "flex"
[models."one/m".defaults]
temperature = 0.2
chat_template_kwargs = { enable_thinking = false }
"""


@pytest.mark.anyio
async def test_a_chat_server_is_asked_by_its_own_names_and_the_client_is_told_of_no_loss(tmp_path: Path) -> None:
    sent, shown, headers = await asked(tmp_path, "chat", TABLES)
    assert (sent["temperature"], sent["max_tokens"], sent["top_k"]) == (0.2, 100, 40)
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}
    assert "service_tier" not in sent  # this dialect does not take it, and the client never asked for it
    assert (shown["temperature"], shown["max_output_tokens"]) == (0.2, 100)
    assert "x-antiphon-dropped" not in headers


@pytest.mark.anyio
async def test_a_client_that_says_otherwise_is_heard(tmp_path: Path) -> None:
    said = {"temperature": 1.5, "max_output_tokens": 7, "service_tier": "flex"}
    sent, shown, headers = await asked(tmp_path, "chat", TABLES, **said)
    assert (sent["temperature"], sent["max_tokens"], sent["top_k"]) == (1.5, 7, 40)
    assert (shown["temperature"], shown["max_output_tokens"]) == (1.5, 7)
    assert headers["x-antiphon-dropped"] == "service_tier; count=1"


@pytest.mark.anyio
async def test_a_responses_server_is_asked_too(tmp_path: Path) -> None:
    sent, _, headers = await asked(tmp_path, "responses", TABLES)
    assert (sent["temperature"], sent["max_output_tokens"], sent["top_k"]) == (0.2, 100, 40)
    assert "x-antiphon-dropped" not in headers


@pytest.mark.anyio
async def test_a_default_is_no_reason_to_refuse(tmp_path: Path) -> None:
    sent, _, _ = await asked(tmp_path, "chat", TABLES, strict=True)
    assert sent["top_k"] == 40


@pytest.mark.parametrize("name", ["model", "input", "stream", "tools", "store"])
def test_what_a_request_is_about_is_no_default(tmp_path: Path, name: str) -> None:
    file = tmp_path / "antiphon.toml"
    file.write_text(f'upstream = "http://h"\n[models.m.defaults]\n{name} = "x"\n')
    with pytest.raises(BadConfig, match=f"'{name}' is what a request is about"):
        config.load(file=str(file), environ={})
