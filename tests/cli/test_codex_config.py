"""Our lines in the texts of a `config.toml`: put in and taken out, everything else byte for byte."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli import toml_statements
from antiphon.cli.codex_config import CannotEdit, found, of, put, take_out
from antiphon.cli.codex_settings import Settings

pytestmark = pytest.mark.requirement("cli.setup-undo")

OURS = of(Settings(base_url="http://127.0.0.1:8787/v1", model="small", catalogue_url=True))
TABLE = """[model_providers.antiphon]
name = "Antiphon"
base_url = "http://127.0.0.1:8787/v1"
wire_api = "responses"
model_catalog_url = "http://127.0.0.1:8787/v1/models"
experimental_bearer_token = "none"
"""
TEXTS = {
    "empty": "",
    "a comment": "# mine\n",
    "an empty line": "\n",
    "a model": 'model = "gpt" # the best\n',
    "no line end": 'model = "gpt"',
    "keys and tables": '# top\nmodel = "gpt"\n\n# about x\n[mcp_servers.x]\ncommand = "a"\n',
    "tables only": '# head\n\n[mcp_servers.x]\ncommand = "a"\n\n\n',
    "another provider": 'model_provider = "o"\n[model_providers.o]\nname="O"\n[other]\nz=1\n',
    "providers apart": '[model_providers.o]\nname="O"\n[other]\nz=1\n[model_providers.p]\nname="P"\n',
    "providers inline": 'model_providers = { o = { name = "O" } } # c\nx=1\n[t]\ny=2\n',
    "providers dotted": 'model_providers.o.name = "O"\nx=1\n[t]\ny=2\n',
    "providers as keys": '[model_providers]\no = { name = "O" }\n[t]\ny=2\n',
    "arrays of tables": "[[hooks]]\na=1\n\n[[hooks]]\na=2\n",
    "Windows line ends": 'model = "gpt"\r\n\r\n[t]\r\ny=2\r\n',
    "quoted keys": "\"model\" = 'gpt'\n",
    "values over several lines": 'notify = [\n "a",\n  "[b]", # c\n]\ntext = """\n[x]\nmodel = 1\n"""\n[t]\n',
    "a table of that name already": 'model_provider="antiphon"\nmodel="old"\n[model_providers.antiphon]\nname = "Mine" # hi\nbase_url="x"\n',
    "a model elsewhere": '[profiles.x]\nmodel = "y"\n',
}
ADDED = '\n# later\n[added]\nq = 1 # "one"\n'
texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


def whole(text: str) -> str:
    """The text as one to which a line can be added."""
    return text if not text or text.endswith("\n") else text + "\n"


@texts
def test_our_values_and_no_others_are_there(text: str) -> None:
    before, after = tomllib.loads(text), tomllib.loads(put(text, OURS))
    assert after["model_providers"]["antiphon"] == {**before.get("model_providers", {}).get("antiphon", {}), **OURS.provider}
    assert (after["model_provider"], after["model"]) == ("antiphon", "small")
    del after["model_providers"]["antiphon"]
    others = {name: value for name, value in before.get("model_providers", {}).items() if name != "antiphon"}
    assert after["model_providers"] == others
    assert {**after, **dict.fromkeys(("model", "model_provider", "model_providers"))} == {
        **before,
        **dict.fromkeys(("model", "model_provider", "model_providers")),
    }


@texts
def test_taken_out_again_nothing_has_changed(text: str) -> None:
    assert take_out(put(text, OURS), text) == text


@texts
def test_what_the_user_added_since_stays(text: str) -> None:
    assert take_out(put(text, OURS) + ADDED, text) == whole(text) + ADDED


@texts
def test_another_model_chosen_since_goes_with_the_provider(text: str) -> None:
    edited = put(text, OURS).replace('"small"', '"large"') + ADDED
    assert take_out(edited, text) == whole(text) + ADDED


@texts
def test_putting_twice_is_putting_once(text: str) -> None:
    assert put(put(text, OURS), OURS) == put(text, OURS)


def test_where_the_lines_go() -> None:
    text = put(TEXTS["keys and tables"], OURS)
    assert text == f'# top\nmodel = "small"\nmodel_provider = "antiphon"\n\n# about x\n[mcp_servers.x]\ncommand = "a"\n\n{TABLE}'


def test_a_table_in_the_middle_is_taken_out_with_what_was_added_to_it() -> None:
    text = put(TEXTS["a model"], OURS) + "request_max_retries = 9 # more\nhttp_headers = { a = 'b' }\n" + ADDED
    assert take_out(text, TEXTS["a model"]) == TEXTS["a model"] + ADDED


def test_additions_to_our_table_alone_are_no_reason_to_lose_a_byte() -> None:
    text = put(TEXTS["tables only"], OURS) + "http_headers = { a = 'b' }\n"
    assert tomllib.loads(take_out(text, TEXTS["tables only"])) == tomllib.loads(TEXTS["tables only"])


def test_a_provider_that_the_user_has_chosen_since_stays_with_its_model() -> None:
    text = put('model = "gpt"\n', OURS).replace('"antiphon"', '"other"').replace('"small"', '"big"')
    assert take_out(text, 'model = "gpt"\n') == 'model = "big"\nmodel_provider = "other"\n'


def test_without_the_earlier_text_ours_go_and_the_rest_stays() -> None:
    text = put(TEXTS["keys and tables"], OURS)
    assert take_out(text, "") == '# top\n\n# about x\n[mcp_servers.x]\ncommand = "a"\n'


def test_a_text_without_ours_is_left_alone() -> None:
    assert found(TEXTS["another provider"]) is None
    assert take_out(TEXTS["another provider"], "") == TEXTS["another provider"]


UNSAFE = {
    "our table dotted": 'model_providers.antiphon.name = "O"\nx=1\n[t]\ny=2\n',
    "our table inline in its parent": '[model_providers]\nantiphon = { name = "O" }\n',
    "providers no table": "model_providers = 1\n",
    "no TOML": "model = = 1\n",
    "twice": "a = 1\na = 2\n",
}


@pytest.mark.parametrize("text", UNSAFE.values(), ids=UNSAFE)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(CannotEdit):
        put(text, OURS)


LINES = st.lists(
    st.sampled_from([*(each for each in TEXTS.values() if each.endswith("\n")), "# c\n", "\n", "k = 1\n", "s = '''\n[a]\n'''\n", "[z]\n"])
)


@given(LINES)
def test_the_statements_of_a_text_are_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert "".join(toml_statements.split(text)) == text


@given(LINES)
def test_any_text_is_put_and_taken_out_exactly_or_refused(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        after = put(text, OURS)
    except CannotEdit:
        return
    assert take_out(after, text) == text
