"""A real Codex turn on the embedded model, through the gateway: the answer is the model's own."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from antiphon.local_model import LocalModel
from tests.matrix import events
from tests.matrix.codex import Done, run

pytestmark = [pytest.mark.real, pytest.mark.slow]

QUESTION = "What is the capital of France?"


@pytest.mark.requirement("codex.embedded")
def test_codex_shows_the_embedded_models_answer(embedded_model: LocalModel, codex_binary: Path, tmp_path: Path) -> None:
    async def turn() -> Done:
        for name in ("home", "codex", "cwd"):
            (tmp_path / name).mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        homes = {"HOME": str(tmp_path / "home"), "CODEX_HOME": str(tmp_path / "codex"), "ANTIPHON_HOME": str(tmp_path / "antiphon")}
        own = {"ANTIPHON_CODEX": str(codex_binary), "ANTIPHON_PORT": "9", "ANTIPHON_UPSTREAM": embedded_model.url, "TERM": "xterm"}
        command = [sys.executable, "-m", "antiphon", "codex", "exec", "--json", "--skip-git-repo-check", QUESTION]
        return await run(command, seconds=280, env=kept | homes | own, cwd=tmp_path / "cwd")

    done = asyncio.run(turn())
    shown = events.parsed(done.output)
    assert done.exit == 0, done.output + done.errors
    assert "Paris" in events.last_message(shown)
    assert events.usage(shown)["input_tokens"] > 3000, "not the prompt of a real Codex"
