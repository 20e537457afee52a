"""What scripts/run does once all is installed: serve, ask one question through the gateway, say what to type next, stay up."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import click

from antiphon.cli.ask import Gateway

ANTIPHON = Path(sys.executable).with_name("antiphon")
QUESTION = "What is the capital of France?"
LISTENING = re.compile(r"antiphon: listening on (http://\S+)")
PORT = 8787
PATIENCE = 100.0


def main(arguments: Sequence[str]) -> int:
    """Serve with these flags, ask, tell, wait; the exit status."""
    once = "--once" in arguments
    flags = [argument for argument in arguments if argument != "--once"]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Lines about each request would stand in the middle of the answer.
    env = {"ANTIPHON_LOG_LEVEL": "warning", **os.environ}
    serving = subprocess.Popen([ANTIPHON, "serve", *flags, *_port(flags)], stdout=subprocess.PIPE, text=True, env=env)
    assert serving.stdout is not None
    try:
        url = _listening(serving.stdout)
        if url is None:
            return serving.wait() or 1
        model = Gateway(url, PATIENCE).first_model()
        asked = _ask(url, model)
        if once or asked:
            return asked
        print(_next_steps(url, model), flush=True)
        return _follow(serving, serving.stdout)
    except KeyboardInterrupt:
        return 0
    except click.ClickException as failed:
        failed.show()
        return 1
    finally:
        _stop(serving)


def _port(flags: Sequence[str]) -> list[str]:
    """A free port in place of the usual one where that is taken and the user has asked for none."""
    if any(flag.split("=")[0] in {"--port", "--config"} for flag in flags) or "ANTIPHON_PORT" in os.environ:
        return []
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            print(f"Port {PORT} is taken; using a free one.", flush=True)
            return ["--port", "0"]
    return []


def _listening(lines: IO[str]) -> str | None:
    """Where the gateway listens; None where it ended before it did."""
    for line in lines:
        print(line, end="", flush=True)
        if found := LISTENING.search(line):
            return found[1]
    return None


def _ask(url: str, model: str) -> int:
    print(f"\n> {QUESTION}", flush=True)
    return subprocess.run([ANTIPHON, "ask", "--url", url, "--model", model, "--timeout", str(PATIENCE), QUESTION], check=False).returncode


def _next_steps(url: str, model: str) -> str:
    codex = "" if shutil.which("codex") else "   (first: npm install -g @openai/codex)"
    base = "" if url.endswith(f":{PORT}") else f" --url {url}"
    antiphon = ANTIPHON.relative_to(Path.cwd())
    return f"""
The gateway is up at {url}. In another terminal:

  Codex on it         {antiphon} codex{base}{codex}
  one question        {antiphon} ask{base} "Write a haiku about rivers"
  curl                curl {url}/v1/responses -H 'content-type: application/json' -d '{{"model": "{model}", "input": "Hello"}}'
  the OpenAI SDK      openai.OpenAI(base_url="{url}/v1", api_key="none").responses.create(model="{model}", input="Hello")
  a real model        scripts/run --upstream http://127.0.0.1:8000/v1

Ctrl-C stops it."""


def _follow(serving: "subprocess.Popen[str]", lines: IO[str]) -> int:
    for line in lines:
        print(line, end="", flush=True)
    return serving.wait()


def _stop(serving: "subprocess.Popen[str]") -> None:
    serving.terminate()
    try:
        serving.wait(10)
    except subprocess.TimeoutExpired:
        serving.kill()
        serving.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
