"""Who takes part in a comparison: gateways, each with how it is started in front of the scripted upstream. A row is one party.

Rivals come from the package index, each into a virtual environment of its own in `.cache/rivals`, when they are first wanted; nothing else needs
them. They run with their own defaults, one process, as their own documentation starts them in front of one server.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.process import ROOT, Command, antiphon, free_port, module

RIVALS = ROOT / ".cache" / "rivals"
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
TERMINALS = {"chat": b"[DONE]", "responses": b'"response.completed"'}


@dataclass(frozen=True, slots=True)
class Party:
    """`api`: what it speaks to the upstream. `path`: what the client asks it for. `package`: what must be installed for it, pinned."""

    name: str
    api: str
    command: Callable[[str], Command]
    """The upstream's address without `/v1` → how to start it."""
    path: str = PATHS["responses"]
    package: str = ""

    @property
    def terminal(self) -> bytes:
        """What its streams end with."""
        return TERMINALS["chat" if self.path == PATHS["chat"] else "responses"]

    @property
    def version(self) -> str:
        """What is measured of a rival."""
        return self.package.partition("==")[2]


def _plain(upstream: str) -> Command:
    return module("bench.plain_relay", f"{upstream}/v1")


def gateway(api: str, dialect: str) -> Callable[[str], Command]:
    """Antiphon, told what the upstream is."""
    return lambda upstream: antiphon("--upstream", f"{upstream}/v1", "--api", api, "--dialect", dialect)


def _venv(name: str) -> Path:
    return RIVALS / name


def _litellm(upstream: str) -> Command:
    served = {"model": "openai/bench-*", "use_chat_completions_api": True, "api_base": f"{upstream}/v1", "api_key": "none"}
    config = _venv("litellm") / "config.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": "bench-*", "litellm_params": served}]}))
    port = free_port()
    return Command(
        (str(_venv("litellm") / "bin" / "litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)),
        url=f"http://127.0.0.1:{port}",
        health="/health/liveliness",
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"},
    )


def _agentic(upstream: str) -> Command:
    port = free_port()
    program = str(_venv("agentic-api") / "bin" / "agentic-api")
    return Command(
        (program, "serve", "--vllm-base-url", upstream, "--host", "127.0.0.1", "--port", str(port)),
        url=f"http://127.0.0.1:{port}",
        env={"OPENAI_API_KEY": "none"},
    )


PLAIN = Party("plain relay", "chat", _plain, path=PATHS["chat"])
CHAT = Party("Antiphon, chat upstream", "chat", gateway("chat", "chat"))
RESPONSES = Party("Antiphon, Responses upstream", "responses", gateway("responses", "responses"))
PASSED = Party("Antiphon, passed on", "responses", gateway("responses", "openai"))
LITELLM = Party("LiteLLM's bridge", "chat", _litellm, package="litellm[proxy]==1.106.2")
AGENTIC = Party("agentic-api", "responses", _agentic, package="agentic-api==0.9.0")

OURS = (PLAIN, CHAT, RESPONSES, PASSED)
THEIRS = (LITELLM, AGENTIC)


async def install(party: Party) -> None:
    """Make a rival's environment, unless it is there."""
    venv = _venv(party.package.partition("[")[0].partition("==")[0])
    stamp = venv / "installed"
    if stamp.is_file() and stamp.read_text() == party.package:
        return
    print(f"bench: installing {party.package} into {venv.relative_to(ROOT)}", file=sys.stderr)
    await _succeed(sys.executable, "-m", "venv", "--clear", str(venv))
    await _succeed(str(venv / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check", party.package)
    stamp.write_text(party.package)


async def _succeed(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    if await process.wait():
        raise RuntimeError(f"failed: {' '.join(command)}")
