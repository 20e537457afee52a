"""The embedded model: small pinned weights and llama.cpp's own HTTP server, in a process of its own.

What Antiphon falls back to when no model server runs on this machine. Not a model server of its own making: `weights` gets one file,
`server` starts and stops one process, `settings` is what it is told. Above: `cli`, which names the data folder. To the rest of Antiphon
this is an upstream like any other; nothing else knows that it is ours.
"""

from pathlib import Path

from antiphon.local_model.failure import Unavailable
from antiphon.local_model.server import LocalModel, launch
from antiphon.local_model.settings import EMBEDDED, OTHER
from antiphon.local_model.weights import SMOLLM2, Progress, get

__all__ = ["LocalModel", "Unavailable", "ensure"]


def ensure(gguf: Path | None, folder: Path, *, progress: Progress) -> LocalModel:
    """Starts the model of that file, with the chat template that the file brings; None: the pinned weights, got first where they are missing."""
    if gguf is None:
        return launch(get(SMOLLM2, folder, progress=progress), EMBEDDED, folder)
    return launch(gguf, OTHER, folder)
