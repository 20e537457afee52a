import json

import pytest
from click.testing import CliRunner

from antiphon.cli.main import main


@pytest.mark.requirement("resume.schemas")
@pytest.mark.parametrize(("arguments", "title"), [([], "ThreadResumeParams"), (["v1"], "ResumeConversationParams")])
def test_schemas_are_printed(arguments: list[str], title: str) -> None:
    told = CliRunner().invoke(main, ["schema", *arguments])
    assert told.exit_code == 0
    assert json.loads(told.output)["title"] == title


def test_other_generations_are_named() -> None:
    told = CliRunner().invoke(main, ["schema", "v3"])
    assert told.exit_code == 2
    assert "v2-february" in told.output
