"""What llama.cpp is told of a model: two rows, one for the embedded weights and one for any other file.

Threads, measured on two cores: reading the prompt on all of them takes half the time and, on a busy machine, no more than on one; a
*small* model writes fastest on one (110 tokens/s against 50 on two). Length: 8192 is what the embedded model was trained for, and holds a
first Codex turn (about 6,500 tokens); llama.cpp lowers the number for a model that was trained on less. Without `answer` a small model
that loops writes until the context is full; it is what holds where a request names no limit of its own.
"""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What differs between models."""

    context: int
    answer: int
    """The longest answer, in tokens, where the request says nothing."""
    writing_threads: int | None
    """None: as many as there are cores."""
    template: Path | None
    """None: the one in the file."""
    temperature: float | None
    """None: llama.cpp's default. Where the request says nothing."""
    cache_mib: int
    """Memory for the prompts of conversations that are not at their turn."""


EMBEDDED = Settings(
    context=8192,
    answer=256,
    writing_threads=1,
    template=Path(__file__).with_name("hermes.jinja"),
    temperature=0.0,
    cache_mib=512,
)
OTHER = Settings(context=32_768, answer=8192, writing_threads=None, template=None, temperature=None, cache_mib=2048)

ROWS = {"embedded": EMBEDDED, "other": OTHER}


def cores() -> int:
    """The cores this process may run on."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
