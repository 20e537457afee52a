"""Real Codex, unmodified, searches the web through the gateway; its next turn still knows what was found, in another gateway process too."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.loop.model import Model, Round, serving
from tests.loop.web import Web, hit
from tests.matrix import events
from tests.matrix.codex import Done, run
from tests.wires.gateway import gateway

pytestmark = [pytest.mark.real, pytest.mark.anyio]

SEARCHES = Round("Let me look.", [("web_search", {"query": "quokka"})])
ANSWERS = Round("It weighs 3 kg.")
EXEC = ("exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-c", 'web_search="live"')


@asynccontextmanager
async def serve(root: Path, model: Model, web: Web) -> AsyncIterator[str]:
    async with serving(model) as upstream:
        file = root / "antiphon.toml"
        file.write_text(f'[web_search]\nprovider = "searxng"\nurl = "{web.url}"\n')
        async with gateway(upstream.url, api="chat", file=file, environ={"ANTIPHON_HOME": str(root / "antiphon")}) as url:
            yield url


async def codex(program: Path, root: Path, url: str, *arguments: str, **provider: Any) -> Done:
    for name in ("codex", "home", "cwd"):
        (root / name).mkdir(exist_ok=True)
    told = {"name": "Own", "base_url": f"{url}/v1", "wire_api": "responses", "model_catalog_url": f"{url}/v1/models"}
    told |= {"experimental_bearer_token": "none", **provider}
    spelled = ", ".join(f"{name} = {json.dumps(value)}" for name, value in told.items())
    command = [str(program), *arguments[:1], "-c", 'model="m"', "-c", 'model_provider="own"', "-c", f"model_providers.own={{{spelled}}}"]
    env = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "CODEX_HOME": str(root / "codex"), "TERM": "xterm"}
    return await run([*command, *EXEC[1:], *arguments[1:]], seconds=60, env=env, cwd=root / "cwd")


@pytest.mark.requirement("loop.rounds", "loop.memory")
async def test_codex_searches_and_remembers(codex_binary: Path, tmp_path: Path) -> None:
    async with Web({"quokka": [hit("Quokka", "https://quokka.example.org/", "It weighs 3 kg.")]}) as web:
        first, later = Model("chat", [SEARCHES, ANSWERS, Round("Yes.")]), Model("chat", [Round("Still yes.")])
        async with serve(tmp_path, first, web) as url:
            one = await codex(codex_binary, tmp_path, url, "exec", "How heavy is a quokka?")
            two = await codex(codex_binary, tmp_path, url, "exec", "resume", "--last", "Sure?")
        async with serve(tmp_path, later, web) as url:  # another process with the same key
            three = await codex(codex_binary, tmp_path, url, "exec", "resume", "--last", "Really?")
    shown = events.parsed(one.output)
    assert [item["type"] for item in events.completed(shown)] == ["agent_message", "web_search", "agent_message"], one.output + one.errors
    assert events.last_message(shown) == "It weighs 3 kg."
    assert events.last_message(events.parsed(two.output)) == "Yes.", two.errors
    assert events.last_message(events.parsed(three.output)) == "Still yes.", three.errors
    assert len(web.searches) == 1
    prompts = [*first.prompts(), *later.prompts()]
    for before, after in pairwise(prompts):
        assert after[: len(before)] == before, "the prompt's beginning moved"
    assert "It weighs 3 kg." in json.dumps([message for message in prompts[-1] if message["role"] == "tool"])


@pytest.mark.requirement("loop.standalone-search")
async def test_codex_searches_by_itself(codex_binary: Path, tmp_path: Path) -> None:
    calls = Round("", [("web__run", {"search_query": [{"q": "quokka"}]})])
    async with Web({"quokka": [hit("Quokka", "https://quokka.example.org/", "It weighs 3 kg.")]}) as web:
        model = Model("chat", [calls, ANSWERS])
        async with serve(tmp_path, model, web) as url:
            flags = ("exec", "--enable", "standalone_web_search", "How heavy is a quokka?")
            done = await codex(codex_binary, tmp_path, url, *flags, supports_standalone_web_search=True)
    assert events.last_message(events.parsed(done.output)) == "It weighs 3 kg.", done.output + done.errors
    assert len(web.searches) == 1
    assert "It weighs 3 kg." in json.dumps(model.prompts()[1])
