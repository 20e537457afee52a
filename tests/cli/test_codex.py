"""`antiphon codex` as a process, with a program in Codex's place that writes down how it was run."""

import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from antiphon.cli.codex import codex
from tests.cli.stub_gateway import ANTIPHON, MODELS, answering

pytestmark = pytest.mark.requirement("cli.codex-overrides")

# Says that it runs, then ends as it was told: with a status, or when a signal comes.
PROGRAM = """#!{python}
import json, os, pathlib, signal, sys
told = [each.partition("=")[2] for each in sys.argv if each.startswith("model_catalog_json=")]
catalogue = pathlib.Path(json.loads(told[0])).read_text() if told else None
signal.signal(signal.SIGTERM, lambda *_: sys.exit(43))
print(json.dumps({{"arguments": sys.argv[1:], "home": os.environ.get("CODEX_HOME"), "catalogue": catalogue, "pid": os.getpid()}}), flush=True)
if "wait" in sys.argv:
    signal.pause()
sys.exit(42)
"""
NATIVE = b"\x7fELF model_providers model_catalog_json model_catalog_url"
OLDER = b"\x7fELF model_providers model_catalog_json"
OLDEST = b"\x7fELF model_providers"


@dataclass(frozen=True, slots=True)
class Place:
    """A home, a Codex as npm installs it, and nothing else."""

    root: Path

    def install(self, native: bytes | None) -> None:
        launcher = self.root / "npm" / "codex" / "bin" / "codex.js"
        launcher.parent.mkdir(parents=True)
        launcher.write_text(PROGRAM.format(python=sys.executable))
        launcher.chmod(0o755)
        if native is not None:
            path = self.root / "npm" / "codex-any" / "vendor" / "any" / "bin" / "codex"
            path.parent.mkdir(parents=True)
            path.write_bytes(native)

    @property
    def data(self) -> Path:
        return self.root / "data"

    def environment(self, url: str, more: Mapping[str, str]) -> dict[str, str]:
        port = url.rpartition(":")[2]
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
        own = {"ANTIPHON_CODEX": str(self.root / "npm" / "codex" / "bin" / "codex.js"), "ANTIPHON_HOME": str(self.data)}
        return kept | own | {"HOME": str(self.root / "home"), "CODEX_HOME": "/the/users", "ANTIPHON_PORT": port} | dict(more)

    def start(self, url: str, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "antiphon", "codex", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=self.environment(url, more))

    def run(self, url: str, *arguments: str, status: int = 42, **more: str) -> tuple[dict[str, Any], str]:
        """How the program was run, and what Antiphon said."""
        with self.start(url, *arguments, **more) as process:
            shown, said = process.communicate(timeout=60)
        assert process.returncode == status, said
        return json.loads(shown or "{}"), said


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "home").mkdir()
    place = Place(tmp_path)
    place.install(NATIVE)
    return place


def settings(arguments: list[str]) -> dict[str, Any]:
    """What the overrides before the user's arguments say."""
    told = [value for flag, value in pairwise(arguments) if flag == "-c"]
    return tomllib.loads("\n".join(told))


def test_codex_is_told_of_the_running_gateway_and_takes_our_place(place: Place) -> None:
    with answering() as url, place.start(url, "exec", "--json", "hi") as process:
        shown, said = process.communicate(timeout=60)
    seen = json.loads(shown)
    assert (process.returncode, process.pid, said) == (42, seen["pid"], "")
    assert seen["arguments"][-3:] == ["exec", "--json", "hi"]
    assert seen["home"] == "/the/users"
    catalogue = settings(seen["arguments"]).pop("model_catalog_json")
    assert settings(seen["arguments"]) == {
        "model": "small",
        "model_provider": "antiphon",
        "model_catalog_json": catalogue,
        "model_providers": {"antiphon": {"name": "Antiphon", "base_url": f"{url}/v1", "wire_api": "responses"}},
    }
    assert Path(catalogue).is_relative_to(place.data)
    assert seen["catalogue"] == '{"models":[{"slug":"small"},{"slug":"large"}]}'


def test_a_model_that_the_user_names_stays_theirs(place: Place) -> None:
    with answering() as url:
        seen, _ = place.run(url, "-m", "large", "exec", "hi")
    assert "model" not in settings(seen["arguments"][:-4])
    assert seen["arguments"][-4:] == ["-m", "large", "exec", "hi"]


def test_isolated_is_a_home_of_our_own_that_asks_for_the_list_itself(place: Place) -> None:
    with answering() as url:
        seen, _ = place.run(url, "--isolated", "exec", "hi")
    assert seen["home"] == str(place.data / "codex" / "home")
    assert Path(seen["home"]).is_dir()
    told = settings(seen["arguments"])
    assert told["model_providers"]["antiphon"]["model_catalog_url"] == f"{url}/v1/models"
    assert "model_catalog_json" not in told


@pytest.mark.parametrize(("native", "isolated"), [(OLDER, True), (None, True), (None, False)], ids=["older", "hidden, isolated", "hidden"])
def test_a_program_that_knows_no_list_by_url_gets_a_file(tmp_path: Path, native: bytes | None, *, isolated: bool) -> None:
    place = Place(tmp_path)
    place.install(native)
    with answering() as url:
        seen, said = place.run(url, *(["--isolated"] if isolated else []), "exec", "hi")
    assert (seen["catalogue"], said) == ('{"models":[{"slug":"small"},{"slug":"large"}]}', "")


def test_a_program_that_knows_no_list_at_all_is_run_and_it_is_said(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.install(OLDEST)
    with answering() as url:
        seen, said = place.run(url, "exec", "hi")
    assert set(settings(seen["arguments"])) == {"model", "model_provider", "model_providers"}
    assert "takes no list of models" in said


def test_an_empty_list_is_not_given_to_codex(place: Place) -> None:
    with answering({**ANTIPHON, "/v1/models": b'{"object":"list","data":[],"models":[]}'}) as url:
        seen, _ = place.run(url, "exec", "hi")
    assert set(settings(seen["arguments"])) == {"model_provider", "model_providers"}


@pytest.mark.parametrize("arguments", [["--version"], ["login", "status"], ["mcp", "list"]], ids=" ".join)
def test_what_asks_no_model_needs_no_gateway(place: Place, arguments: list[str]) -> None:
    seen, said = place.run("http://127.0.0.1:9", "--", *arguments)
    assert (seen["arguments"], said) == (arguments, "")


def test_everything_behind_the_first_foreign_word_is_codexs(place: Place) -> None:
    with answering() as url:
        seen, _ = place.run("http://127.0.0.1:9", f"--url={url}/v1/", "exec", "--isolated", "--help", "--", "-c", "x")
    assert seen["arguments"][-6:] == ["exec", "--isolated", "--help", "--", "-c", "x"]
    assert seen["home"] == "/the/users"


def test_a_gateway_that_is_named_but_silent_is_an_error(place: Place) -> None:
    _, said = place.run("http://127.0.0.1:9", "--url", "http://127.0.0.1:9", "exec", "hi", status=1)
    assert "no gateway answers at http://127.0.0.1:9" in said


def test_without_codex_it_is_said_how_to_get_it(place: Place) -> None:
    _, said = place.run("http://127.0.0.1:9", "exec", "hi", status=1, ANTIPHON_CODEX="", PATH="/nowhere")
    assert "npm install -g @openai/codex" in said


def test_with_no_gateway_running_one_is_started_for_the_run(place: Place) -> None:
    """What answers at the configured address is something else; the upstream is a server that only lists its models."""
    with answering({"/v1/models": MODELS}) as upstream, answering({"/health": b'{"status":"ok"}'}) as other:
        seen, said = place.run(other, "exec", "hi", ANTIPHON_UPSTREAM=f"{upstream}/v1")
    url = settings(seen["arguments"])["model_providers"]["antiphon"]["base_url"]
    assert f"no gateway at {other}: starting one for this run" in said
    assert url != f"{other}/v1"
    assert [entry["slug"] for entry in json.loads(seen["catalogue"])["models"]] == ["small", "large"]
    assert not list((place.data / "codex" / "catalogues").iterdir())
    assert refused(url)


def refused(url: str) -> bool:
    """Whether nobody listens there any more."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2].partition("/")[0]))) != 0


def test_signals_reach_codex_and_the_started_gateway_ends_with_it(place: Place) -> None:
    with (
        answering({"/v1/models": MODELS}) as upstream,
        place.start("http://127.0.0.1:9", "wait", ANTIPHON_UPSTREAM=f"{upstream}/v1") as process,
    ):
        assert process.stdout is not None
        seen = json.loads(process.stdout.readline())
        assert seen["pid"] != process.pid
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 43
    assert refused(settings(seen["arguments"])["model_providers"]["antiphon"]["base_url"])


def test_a_gateway_that_cannot_start_is_told_with_its_log(place: Place) -> None:
    _, said = place.run("http://127.0.0.1:9", "exec", "hi", status=1, ANTIPHON_GGUF="/nowhere.gguf")
    assert "antiphon serve ended" in said
    assert str(place.data / "logs" / "codex-gateway.log") in said


def test_the_lines_to_paste(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ANTIPHON_HOST", raising=False)
    with answering() as url:
        read = tomllib.loads(CliRunner().invoke(codex, ["--print-config", "--url", url]).stdout)
    assert (read["model"], read["model_provider"]) == ("small", "antiphon")
    assert read["model_providers"]["antiphon"]["model_catalog_url"] == f"{url}/v1/models"
    monkeypatch.setenv("ANTIPHON_PORT", "9")
    shown = CliRunner().invoke(codex, ["--print-config"]).stdout
    assert "http://127.0.0.1:9 is not running" in shown
    assert "model" not in tomllib.loads(shown)
