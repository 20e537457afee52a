"""`antiphon setup codex` on a home of the test: what lies there before and after, byte for byte."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from antiphon.cli.setup import setup
from tests.cli.stub_gateway import answering

pytestmark = pytest.mark.requirement("cli.setup-undo")

CONFIG = b'# mine\nmodel = "gpt" # best\n\n[mcp_servers.x]\ncommand = "true"\n'
WRITTEN = b"""# mine
model = "small" # best
model_provider = "antiphon"

[mcp_servers.x]
command = "true"

[model_providers.antiphon]
name = "Antiphon"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
model_catalog_url = "http://127.0.0.1:9/v1/models"
experimental_bearer_token = "none"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "codex"
    home.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home))
    monkeypatch.setenv("ANTIPHON_HOME", str(tmp_path / "antiphon"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("ANTIPHON_PORT", "9")  # nobody listens there
    monkeypatch.setenv("PATH", str(tmp_path))  # no Codex either
    yield home
    assert not list(home.glob(".*")), "something unfinished was left"


def said(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(setup, ["codex", *arguments], input=answer)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_set_up_and_undone(home: Path) -> None:
    (home / "config.toml").write_bytes(CONFIG)
    assert said("--yes", "--model", "small").exit_code == 0
    assert files(home) == {"config.toml": WRITTEN, "config.toml.before-antiphon": CONFIG}
    assert said("--yes", "--undo").exit_code == 0
    assert files(home) == {"config.toml": CONFIG}


def test_the_change_is_shown_and_asked_for(home: Path) -> None:
    (home / "config.toml").write_bytes(CONFIG)
    done = said("--model", "small", answer="n\n")
    assert done.exit_code == 1
    assert '-model = "gpt" # best\n+model = "small" # best\n+model_provider = "antiphon"\n' in done.stdout
    assert files(home) == {"config.toml": CONFIG}
    assert said("--model", "small", answer="y\n").exit_code == 0
    assert files(home)["config.toml"] == WRITTEN
    assert said("--undo", answer="n\n").exit_code == 1
    assert files(home)["config.toml"] == WRITTEN


def test_a_file_that_was_not_there_is_removed_again(home: Path) -> None:
    said("--yes", "--model", "small")
    assert set(files(home)) == {"config.toml"}
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    assert said("--yes", "--undo").exit_code == 0
    assert files(home) == {}


def test_an_empty_file_stays_an_empty_file(home: Path) -> None:
    (home / "config.toml").write_bytes(b"")
    said("--yes", "--model", "small")
    said("--yes", "--undo")
    assert files(home) == {"config.toml": b""}


def test_a_file_that_the_user_made_more_of_stays(home: Path) -> None:
    said("--yes", "--model", "small")
    with (home / "config.toml").open("ab") as file:
        file.write(b"\n[mine]\nx = 1\n")
    said("--yes", "--undo")
    assert files(home) == {"config.toml": b"\n[mine]\nx = 1\n"}


def test_what_was_edited_since_is_kept_and_the_rest_as_before(home: Path) -> None:
    (home / "config.toml").write_bytes(CONFIG)
    said("--yes", "--model", "small")
    (home / "config.toml").write_bytes(WRITTEN.replace(b'"true"', b'"false"') + b"\n[mine]\nx = 1\n")
    said("--yes", "--undo")
    assert files(home) == {"config.toml": CONFIG.replace(b'"true"', b'"false"') + b"\n[mine]\nx = 1\n"}


def test_setting_up_again_changes_only_what_is_ours(home: Path) -> None:
    (home / "config.toml").write_bytes(CONFIG)
    said("--yes", "--model", "small")
    again = said("--model", "small")
    assert (again.exit_code, "Nothing to do" in again.stdout) == (0, True)
    said("--yes", "--model", "large")
    assert files(home) == {"config.toml": WRITTEN.replace(b"small", b"large"), "config.toml.before-antiphon": CONFIG}
    said("--yes", "--undo")
    assert files(home) == {"config.toml": CONFIG}


def test_setting_up_again_after_an_edit_remembers_the_edit(home: Path) -> None:
    (home / "config.toml").write_bytes(CONFIG)
    said("--yes", "--model", "small")
    edited = CONFIG + b"\n[mine]\nx = 1\n"
    (home / "config.toml").write_bytes(WRITTEN + b"\n[mine]\nx = 1\n")
    said("--yes", "--model", "large")
    assert files(home)["config.toml.before-antiphon"] == edited
    said("--yes", "--undo")
    assert files(home) == {"config.toml": edited}


OWN = b'# mine\n[model_providers.antiphon]\nname = "Old" # named by hand\nrequest_max_retries = 9\n\n[tui]\nx = 1\n'


def test_a_provider_that_the_user_has_put_there_comes_back(home: Path) -> None:
    (home / "config.toml").write_bytes(OWN)
    assert said("--yes", "--model", "small").exit_code == 0
    assert files(home)["config.toml.before-antiphon"] == OWN
    assert b"request_max_retries = 9" in files(home)["config.toml"]
    assert "set up already" in said("--yes", "--model", "small").output
    assert said("--yes", "--undo").exit_code == 0
    assert files(home) == {"config.toml": OWN}


def as_a_folder(path: Path) -> None:
    path.mkdir()


def as_a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def in_place_of_the_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


@pytest.mark.parametrize("odd", [as_a_folder, as_a_link_to_itself, in_place_of_the_folder])
def test_what_cannot_be_read_is_told_in_a_sentence(home: Path, odd: Callable[[Path], None]) -> None:
    odd(home / "config.toml")
    for arguments in (["--yes", "--model", "small"], ["--yes", "--undo"]):
        refused = said(*arguments)
        assert (refused.exit_code, type(refused.exception)) == (1, SystemExit)
        assert "is as it was." in refused.output


def test_undoing_nothing_is_no_error(home: Path) -> None:
    (home / "config.toml").write_bytes(CONFIG)
    done = said("--undo")
    assert (done.exit_code, "has nothing of Antiphon" in done.stdout) == (0, True)
    assert files(home) == {"config.toml": CONFIG}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"model = = 1\n", "is not valid TOML"),
        (b"# \xff\n", "is not UTF-8"),
        (b'model_providers.antiphon.name = "x"\n', "is written in a way"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(home: Path, data: bytes, why: str) -> None:
    (home / "config.toml").write_bytes(data)
    done = said("--yes", "--model", "small")
    assert done.exit_code == 1
    assert f"{home}/config.toml {why}" in done.stderr
    assert "antiphon codex --print-config" in done.stderr
    assert files(home) == {"config.toml": data}


def test_a_link_is_followed_and_the_mode_kept(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "codex.toml"
    real.parent.mkdir()
    real.write_bytes(CONFIG)
    real.chmod(0o640)
    (home / "config.toml").symlink_to(real)
    said("--yes", "--model", "small")
    assert (home / "config.toml").is_symlink()
    assert real.read_bytes() == WRITTEN
    assert {stat.S_IMODE(path.stat().st_mode) for path in real.parent.iterdir()} == {0o640}
    said("--yes", "--undo")
    assert (home / "config.toml").is_symlink()
    assert files(real.parent) == {"codex.toml": CONFIG}


def test_the_model_is_the_gateways_first(home: Path) -> None:
    with answering() as url:
        assert said("--yes", "--url", url).exit_code == 0
    assert (
        f'model = "small"\n\n[model_providers.antiphon]\nname = "Antiphon"\nbase_url = "{url}/v1"\n'.encode() in files(home)["config.toml"]
    )


def test_without_a_gateway_the_model_has_to_be_named(home: Path) -> None:
    done = said("--yes")
    assert (done.exit_code, files(home)) == (1, {})
    assert "No gateway runs at http://127.0.0.1:9" in done.stderr
    assert "--model" in done.stderr
