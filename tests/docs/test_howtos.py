"""Each kind of model server has a how-to, and each how-to says truly in its first line whether it was run."""

import pytest

from antiphon.translation.presets import DIALECTS, GENERIC
from tests.docs.blocks import ROOT

HOWTOS = ROOT / "docs" / "howto"
NAMES = [name for name in DIALECTS if name not in {one.name for one in GENERIC}]


@pytest.mark.requirement("dialects.howtos")
@pytest.mark.parametrize("name", NAMES)
def test_a_how_to_says_whether_it_was_run(name: str) -> None:
    first = (HOWTOS / f"{name.replace('.', '-')}.md").read_text("utf-8").split("\n\n")[1]
    assert first.startswith(("*Ran with ", "*Ran on ", "*Not run here"))
    assert first.startswith("*Ran") or "published wire shapes" in " ".join(first.split()) or name == "openai"


@pytest.mark.requirement("dialects.howtos")
def test_all_are_on_one_page() -> None:
    page = (HOWTOS / "model-servers.md").read_text("utf-8")
    assert [name for name in NAMES if f"]({name.replace('.', '-')}.md) | `{name}` |" not in page] == []
