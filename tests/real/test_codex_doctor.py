"""Codex's own check of its provider, on the gateway."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.matrix.codex import Done, run
from tests.wires.gateway import gateway
from tests.wires.upstream import Upstream


@pytest.mark.real
@pytest.mark.requirement("http.routes")
def test_codex_doctor_finds_nothing_wrong_with_its_provider(codex_binary: Path, tmp_path: Path) -> None:
    async def doctor() -> Done:
        async with Upstream() as upstream, gateway(upstream.url, api="chat") as url:
            provider = f'model_providers.antiphon={{name="Antiphon", base_url="{url}/v1", wire_api="responses", env_key="ANY_KEY"}}'
            flags = ("-c", provider, "-c", 'model_provider="antiphon"', "-c", 'model="m"')
            nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}  # it asks for newer versions of itself
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "CODEX_HOME": str(tmp_path),
                "ANY_KEY": "any",
                "TERM": "xterm",
                **nowhere,
            }
            return await run([str(codex_binary), "doctor", "--json", *flags], seconds=60, env=env, cwd=tmp_path)

    done = asyncio.run(doctor())
    checks: dict[str, Any] = json.loads(done.output)["checks"]
    reached = checks["network.provider_reachability"]
    assert reached["status"] == "ok", reached
    assert "route exists (HTTP 200)" in reached["details"]["antiphon API route probe"]
    assert {name: check["status"] for name, check in checks.items() if check["status"] == "fail"} == {}
