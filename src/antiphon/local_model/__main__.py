"""The process that holds llama.cpp: `python -m antiphon.local_model ROW GGUF`. Started by `server`, not by hand.

Says in one JSON line on stdout where it listens, or why it cannot, and ends when its stdin does. llama.cpp's own log is on stderr.
"""

import importlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from antiphon.child import when_parent_ends
from antiphon.local_model.settings import ROWS, Settings, cores
from antiphon.protocol import json


def main(row: str, gguf: Path) -> int:
    """Serve that model until the parent is gone; the exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever llama.cpp prints is log
    # No tidying up: llama.cpp's threads would not let the interpreter end while they work.
    when_parent_ends(lambda: os._exit(0))
    try:
        serving = _serve(ROWS[row], gguf)
    except Exception as failed:  # noqa: BLE001 - whatever it is, the parent has to hear of it
        _say(parent, {"error": str(failed) or type(failed).__name__})
        return 1
    _say(parent, {"url": serving.listening_address})
    threading.Event().wait()
    return 0


def _say(parent: int, what: dict[str, str]) -> None:
    os.write(parent, json.encode(what) + b"\n")


def _serve(settings: Settings, gguf: Path) -> Any:
    llama: Any = importlib.import_module("xllamacpp")  # an optional extra, without type stubs
    told = llama.CommonParams()
    told.model.path = str(gguf)
    told.model_alias = {gguf.stem}
    told.n_ctx = settings.context
    told.n_predict = settings.answer
    told.cpuparams.n_threads = settings.writing_threads or cores()
    told.cpuparams_batch.n_threads = cores()
    told.cache_ram_mib = settings.cache_mib
    if settings.template is not None:
        told.chat_template = settings.template.read_text("utf-8")
    if settings.temperature is not None:
        told.sampling.temp = settings.temperature
        told.sampling.seed = 1  # repeats exactly
    told.ui = False
    told.endpoint_slots = False  # what others asked is not shown
    told.cors_origins = ""  # no web page reads from here
    told.cors_credentials = False
    told.verbosity = 2
    return llama.Server(told)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
