"""What a client sends that nobody has a name for is answered all the same, told in the head, and listed by `antiphon unknown` with who sent it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from antiphon.cli.unknown import unknown
from tests.wires.client import fetch
from tests.wires.gateway import NO_FILE, gateway
from tests.wires.upstream import Upstream, chat, named, responses_events, streaming

pytestmark = pytest.mark.anyio

CODEX = "codex_exec/0.177.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.177.0)"
SECRET = "sk-very-secret"
BODY: dict[str, Any] = {
    "model": "m",
    "stream": True,
    "tools": [{"type": "teleport", "name": "there", "token": SECRET}, {"type": "web_search"}, {"type": "function", "name": "f"}],
    "input": [
        {"role": "user", "content": "hi"},
        {"type": "hologram", "payload": [1, {"key": SECRET}]},
        {"type": "additional_tools", "tools": [{"type": "namespace", "name": "n", "tools": [{"type": "beam", "name": "up"}]}]},
    ],
}


@pytest.mark.requirement("observe.unknown")
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("capture", [False, True], ids=["by shape", "with bodies"])
async def test_what_is_unknown_is_told_and_listed_with_its_client(tmp_path: Path, api: str, *, capture: bool) -> None:
    script = chat() if api == "chat" else streaming(named(*responses_events()))
    around = {**NO_FILE, "ANTIPHON_HOME": str(tmp_path)}
    async with Upstream(script) as upstream, gateway(upstream.url, api=api, environ=around, capture=capture) as url:
        for _ in range(2):
            reply = await fetch(url, BODY, headers={"user-agent": CODEX})
            assert reply.types[-1] == "response.completed"
            assert all(where in reply.headers["x-antiphon-dropped"] for where in ("tools[0]", "input[1]", "input[2].tools[0].tools[0]"))
    listed = CliRunner(env={"ANTIPHON_HOME": str(tmp_path)})
    text = listed.invoke(unknown).output
    lines = [json.loads(line) for line in listed.invoke(unknown, ["--json"]).output.splitlines()]
    assert sorted((one["what"], one["type"]) for one in lines) == [("item", "hologram"), ("tool", "beam"), ("tool", "teleport")]
    assert all(one["client"] == CODEX for one in lines)
    assert text.count("from codex_exec/0.177.0") == 3
    assert {name: one["shape"]["type"] for one in lines if (name := one["type"]) == "hologram"} == {"hologram": "string of 8"}
    assert [one["body"] for one in lines if one["type"] == "hologram"] == [BODY["input"][1]] if capture else SECRET not in f"{lines}{text}"
