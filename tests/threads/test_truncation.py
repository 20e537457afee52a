"""The rows were measured with Codex 0.169.0, byte for byte."""

import re
from typing import Any

import pytest
from msgspec import Raw

from antiphon.protocol import json
from antiphon.threads.truncation import BUNDLED_MODEL, UNKNOWN_MODEL, Limit, shortened

SMALL = Limit("tokens", 100)
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


def words(*texts: str) -> list[dict[str, str]]:
    return [{"type": "input_text", "text": text} for text in texts]


def runs(text: str) -> str:
    """Long runs of one character as `a*6000`."""
    return re.sub(r"(.)\1{9,}", lambda run: f"{run[1]}*{len(run[0])}", text)


@pytest.mark.requirement("threads.truncation")
@pytest.mark.parametrize(
    ("output", "limit", "expected"),
    [
        ("a" * 12_000, UNKNOWN_MODEL, "a*12000"),
        ("a" * 12_001, UNKNOWN_MODEL, "a*6000…1 chars truncated…a*6000"),
        ("a" * 90_006, UNKNOWN_MODEL, "a*6000…78006 chars truncated…a*6000"),
        ("x" + "é" * 9_000, UNKNOWN_MODEL, "xé*2999…3001 chars truncated…é*3000"),
        ("😀" * 5_000, UNKNOWN_MODEL, "😀*1500…2000 chars truncated…😀*1500"),
        ("a" * 90_006, BUNDLED_MODEL, "a*24000…10502 tokens truncated…a*24000"),
        ("x" + "é" * 9_000, SMALL, "xé*119…4381 tokens truncated…é*120"),
        (
            words("a" * 7_000, "b" * 7_000, "c"),
            UNKNOWN_MODEL,
            ["a*7000", "b*2500…2000 chars truncated…b*2500", "[omitted 1 text items ...]"],
        ),
        ([*words("a" * 7_000), PICTURE, *words("b")], SMALL, ["a*240…1630 tokens truncated…a*240", PICTURE, "[omitted 1 text items ...]"]),
        (words("", "q"), UNKNOWN_MODEL, ["q"]),
        ([], UNKNOWN_MODEL, []),
    ],
)
def test_outputs_are_cut_as_codex_cuts_them(output: Any, limit: Limit, expected: Any) -> None:
    cut = json.value(shortened(Raw(json.encode(output)), limit.with_allowance()))
    shown = runs(cut) if isinstance(cut, str) else [runs(part["text"]) if "text" in part else part for part in cut]
    assert shown == expected


@pytest.mark.requirement("threads.truncation")
@pytest.mark.parametrize("output", ["short", words("a", "b"), [PICTURE], {"body": "x"}])
def test_what_fits_keeps_its_bytes(output: Any) -> None:
    spelled = Raw(json.encode(output))
    assert shortened(spelled, SMALL) is spelled
