"""Requests far beyond the usual: time in proportion to size, memory in proportion to the body."""

import gc
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.translation.presets import DIALECTS
from antiphon.turn import Manner, Target, Turn
from tests.matrix.gateway import gateway
from tests.wires.client import fetch
from tests.wires.upstream import Upstream, completion, response, whole

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("http.large")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": "d" * 40, "parameters": SCHEMA}


def call(id: str, name: str = "f") -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"}


def output(id: str, body: Any = "x") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": body}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def image(bytes: int) -> dict[str, Any]:
    return {"type": "input_image", "image_url": "data:image/png;base64," + "iVBORw0K" * (bytes // 8)}


def searched(count: int) -> dict[str, Any]:
    found = {"type": "tool_search_output", "call_id": "s", "execution": "client", "tools": [function(f"t{n}") for n in range(count)]}
    asked = {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {}}
    return {"input": [user("q"), asked, found], "tools": [{"type": "tool_search", "execution": "client"}]}


Make = Callable[[int], dict[str, Any]]
TOOLS: dict[str, Make] = {
    "tools": lambda count: {"tools": [function(f"t{n}") for n in range(count)]},
    "tools of one name": lambda count: {"tools": [function("t") for _ in range(count)]},
    "tools in a namespace": lambda count: {
        "tools": [{"type": "namespace", "name": "n", "tools": [function(f"t{n}") for n in range(count)]}]
    },
    "tools with long names": lambda count: {"tools": [function("x" * 70 + str(n)) for n in range(count)]},
    "freeform tools": lambda count: {"tools": [{"type": "custom", "name": f"t{n}"} for n in range(count)]},
    "tools of unknown kinds": lambda count: {"tools": [{"type": f"t{n}"} for n in range(count)]},
    "tools that a search found": searched,
}
ITEMS: dict[str, Make] = {
    "turns": lambda count: {"input": [one for n in range(count // 3) for one in (user(f"q{n}"), call(f"c{n}"), output(f"c{n}"))]},
    "calls at once": lambda count: {
        "input": [*(call(f"c{n}") for n in range(count // 2)), *(output(f"c{n}") for n in reversed(range(count // 2)))]
    },
    "calls of one id": lambda count: {"input": [*(call("c") for _ in range(count // 2)), *(output("c") for _ in range(count // 2))]},
    "outputs without calls": lambda count: {"input": [user("q"), *(output(f"c{n}") for n in range(count))]},
    "calls of tools that are gone": lambda count: {
        "input": [one for n in range(count // 2) for one in (call(f"c{n}", f"gone {n}"), output(f"c{n}"))]
    },
    "items of unknown types": lambda count: {"input": [user("q"), *({"type": f"t{n}"} for n in range(count))]},
    "developer messages": lambda count: {"input": [*({"role": "developer", "content": "d"} for _ in range(count)), user("q")]},
    "parts of one message": lambda count: {"input": [user([{"type": "input_text", "text": "a"} for _ in range(count)])]},
}
TARGETS = {"chat": Target("chat", DIALECTS["chat"], "m"), "responses": Target("responses", DIALECTS["vllm"], "m")}
MANNER = Manner(new_id=lambda prefix: prefix, now=lambda: 1)
SMALL, LARGE = 2_000, 16_000
TIMES = 20.0
"""How much longer eight times as much may take: eight, and what a busy machine adds; were it the square, it would be sixty-four."""


def seconds(body: dict[str, Any], target: Target, *, tries: int = 1) -> float:
    """CPU time from the client's bytes to the upstream's, the best of some tries."""
    data = json.dumps({"model": "m", "input": "hi"} | body).encode()
    taken: list[float] = []
    for _ in range(tries):
        gc.collect()
        began = time.process_time()
        document, _ = request.open_body(data)
        Turn(document, request.view(document), target, MANNER)
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize("api", TARGETS)
@pytest.mark.parametrize("row", TOOLS | ITEMS)
def test_time_grows_with_size_and_not_with_its_square(row: str, api: str) -> None:
    make = (TOOLS | ITEMS)[row]
    small, large = seconds(make(SMALL), TARGETS[api], tries=2), seconds(make(LARGE), TARGETS[api])
    assert large < TIMES * max(small, 0.002), f"{small:.4f} s for {SMALL}, {large:.4f} s for {LARGE}"


WHOLE_SIZE: dict[str, Callable[[], dict[str, Any]]] = {
    "10,000 tools": lambda: TOOLS["tools"](10_000),
    "50,000 items": lambda: ITEMS["turns"](50_000),
    "50,000 calls and outputs at once": lambda: ITEMS["calls at once"](50_000),
    "40 MB of images": lambda: {"input": [user([image(1 << 20) for _ in range(40)])]},
    "one image of 40 MB": lambda: {"input": [user([image(40 << 20)])]},
    "an image of 40 MB in an output": lambda: {"input": [user("q"), call("c"), output("c", [image(40 << 20)])]},
}
MOST_SECONDS, MOST_MB = 5.0, 450


def used(pid: int) -> tuple[float, float]:
    """CPU seconds of a process, and the most memory that it ever had, in MB."""
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    peak = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024


@pytest.mark.real
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process's peak memory so")
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_at_full_size_the_answer_comes_in_seconds_and_memory_is_bounded(api: str, tmp_path: Path) -> None:
    flags = ("--api", api, "--dialect", api)
    upstream = Upstream(whole(completion() if api == "chat" else response()))
    async with upstream, gateway(upstream.url, flags, key="k", root=tmp_path) as served:
        url = served.url.removesuffix("/v1")
        for name, make in WHOLE_SIZE.items():
            before, _ = used(served.pid)
            reply = await fetch(url, {"model": "m", "input": "hi"} | make())
            after, peak = used(served.pid)
            assert (reply.status, reply.json["status"]) == (200, "completed"), name
            assert after - before < MOST_SECONDS, f"{name}: {after - before:.1f} s"
            assert peak < MOST_MB, f"{name}: {peak:.0f} MB"
