"""`antiphon dialects`: what it prints is the table that requests are translated by."""

import json

import msgspec
import pytest
from click.testing import CliRunner

from antiphon.cli.dialects import APIS, meanings
from antiphon.cli.main import main
from antiphon.translation.dialect import ChatRules
from antiphon.translation.presets import DIALECTS

pytestmark = pytest.mark.requirement("dialects.printed")


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["dialects", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_all_in_one_list() -> None:
    assert [line.split()[0] for line in printed().splitlines()] == list(DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_one_with_every_rule_and_its_meaning(name: str) -> None:
    lines = printed(name)
    for api, _, shape in APIS:
        assert meanings(shape).keys() == set(shape.__struct_fields__)
        for rule, meaning in meanings(shape).items():
            other = getattr(getattr(DIALECTS[name], api), rule) != getattr(shape(), rule)
            assert f"{'*' if other else ' '} {rule} = " in lines
            assert meaning in lines


def test_json_holds_what_the_table_holds() -> None:
    listed = json.loads(printed("--json"))
    assert [one["name"] for one in listed] == list(DIALECTS)
    for one in listed:
        assert msgspec.convert(one["chat"], ChatRules) == DIALECTS[one["name"]].chat
    assert json.loads(printed("vllm", "--json")) == next(one for one in listed if one["name"] == "vllm")


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    refused = CliRunner().invoke(main, ["dialects", "klingon"])
    assert refused.exit_code == 2
    assert "'llama.cpp'" in refused.output
