"""What Codex is told, as arguments and as TOML: no more than is needed, and the user's words win."""

import tomllib
from pathlib import Path

import pytest

from antiphon.cli.codex_settings import IN_OWN_HOME, IN_USERS_HOME, Settings, catalogue, first_model, names_model, overrides, toml
from antiphon.protocol.document import Document

pytestmark = pytest.mark.requirement("cli.codex-overrides")

SETTINGS = Settings(base_url="http://127.0.0.1:8787/v1", model='a "model"\\x', catalogue_url=True)
PROVIDER = {
    "name": "Antiphon",
    "base_url": "http://127.0.0.1:8787/v1",
    "wire_api": "responses",
    "model_catalog_url": "http://127.0.0.1:8787/v1/models",
    "experimental_bearer_token": "none",
}


def as_codex_reads(arguments: list[str]) -> dict[str, object]:
    assert arguments[::2] == ["-c"] * (len(arguments) // 2)
    return tomllib.loads("\n".join(arguments[1::2]))


def test_overrides_are_toml_values() -> None:
    wanted = {"model_provider": "antiphon", "model": 'a "model"\\x', "model_providers": {"antiphon": PROVIDER}}
    assert as_codex_reads(overrides(SETTINGS)) == wanted


def test_the_pasted_lines_say_the_same() -> None:
    assert tomllib.loads(toml(SETTINGS)) == as_codex_reads(overrides(SETTINGS))


def test_nothing_is_said_of_a_model_that_the_user_names_nor_of_a_list_there_is_not() -> None:
    told = as_codex_reads(overrides(Settings(base_url="http://[::1]:1/v1", model=None)))
    assert told == {
        "model_provider": "antiphon",
        "model_providers": {"antiphon": {"name": "Antiphon", "base_url": "http://[::1]:1/v1", "wire_api": "responses"}},
    }


def test_the_list_as_a_file_is_a_top_level_key(tmp_path: Path) -> None:
    path = tmp_path / "a 'list'.json"
    told = as_codex_reads(overrides(Settings(base_url="http://x/v1", model=None, catalogue_file=path)))
    assert told["model_catalog_json"] == str(path)


def test_the_users_cache_is_spared_where_it_can_be() -> None:
    assert IN_USERS_HOME[0] == "model_catalog_json"
    assert IN_OWN_HOME[0] == "model_catalog_url"


NAMED = (
    "-m x",
    "-mx",
    "--model x",
    "--model=x",
    "-c model=x",
    "-c model='x'",
    "-cmodel=x",
    "--config model=x",
    "--config=model=x",
    "exec -m x hi",
)
NOT_NAMED = (
    "",
    "exec hi",
    "-c model_provider=x",
    "-c model_reasoning_effort=high",
    "exec -- -m",
    "--mcp-thing",
    "-c",
    "exec model=x",
    "-a never",
)


@pytest.mark.parametrize("line", NAMED)
def test_a_model_that_the_user_names_is_seen(line: str) -> None:
    assert names_model(line.split())


@pytest.mark.parametrize("line", NOT_NAMED)
def test_other_arguments_name_no_model(line: str) -> None:
    assert not names_model(line.split())


def test_the_list_for_codex_is_its_part_of_the_gateways_answer() -> None:
    models = Document(b'{"object":"list","data":[{"id":"one"},{"id":"two"}],"models":[{"slug":"one","n":1.0},{"slug":"two"}]}')
    assert catalogue(models) == b'{"models":[{"slug":"one","n":1.0},{"slug":"two"}]}'
    assert first_model(models) == "one"


@pytest.mark.parametrize("body", [b"{}", b'{"data":[],"models":[]}', b'{"data":null,"models":{}}'])
def test_an_empty_list_is_none(body: bytes) -> None:
    assert (catalogue(Document(body)), first_model(Document(body))) == (None, None)
