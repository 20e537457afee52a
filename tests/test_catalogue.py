"""One model list for OpenAI's clients and for Codex, true to what the server says of itself."""

from typing import Any

import pytest

from antiphon import catalogue
from antiphon.catalogue import Known, Model

# The fields without which Codex 0.169.0 rejects the whole list (measured, each one by leaving it out).
REQUIRED = {
    "slug", "display_name", "supported_reasoning_levels", "shell_type", "visibility", "supported_in_api", "priority",
    "support_verbosity", "truncation_policy", "experimental_supported_tools", "base_instructions",
}  # fmt: skip

LISTED: dict[str, tuple[dict[str, Any], Known, tuple[int | None, bool | None]]] = {
    "says nothing": ({}, Known(), (None, None)),
    "vLLM": ({"max_model_len": 8192}, Known(), (8192, None)),
    "llama.cpp: trained for more than it was started with": ({"meta": {"n_ctx_train": 131072, "n_ctx": 8192}}, Known(context=4096), (4096, None)),
    "LM Studio": ({"max_context_length": 4096, "loaded_context_length": 2048}, Known(), (2048, None)),
    "OpenRouter": ({"context_length": 9, "architecture": {"input_modalities": ["text", "image"]}}, Known(), (9, True)),
    "text only": ({"input_modalities": ["text"]}, Known(images=True), (None, False)),
    "the server's own word": ({}, Known(context=7, images=False), (7, False)),
    "of other types": ({"max_model_len": "8192", "meta": [], "architecture": "x", "created": "now"}, Known(), (None, None)),
    "zero is no length": ({"max_model_len": 0, "n_ctx": 5}, Known(), (5, None)),
}  # fmt: skip


@pytest.mark.requirement("models.catalogue")
@pytest.mark.parametrize(("entry", "known", "told"), LISTED.values(), ids=LISTED)
def test_what_a_server_says_of_a_model(entry: dict[str, Any], known: Known, told: tuple[int | None, bool | None]) -> None:
    (model,) = catalogue.read([{"id": "m", **entry}], known)
    assert (model.context, model.images) == told
    codex = catalogue.codex_entry(model, priority=1)
    assert (codex.get("context_window"), codex.get("max_context_window")) == (told[0], told[0])
    assert ("image" in codex["input_modalities"]) is (told[1] is not False)


@pytest.mark.requirement("models.catalogue")
def test_slugs_are_unique_and_never_empty() -> None:
    listed = [{"id": "a", "n_ctx": 1}, {"id": "a", "n_ctx": 2}, {"id": ""}, {}, "a", None, {"id": 7}, {"id": "b"}]
    told = catalogue.render(catalogue.read(listed, Known()))
    assert [entry["slug"] for entry in told["models"]] == [entry["id"] for entry in told["data"]] == ["a", "b"]
    assert told["models"][0]["context_window"] == 1


@pytest.mark.requirement("models.catalogue")
def test_every_entry_has_what_codex_requires() -> None:
    models = [Model("a"), Model("b", context=9, images=False, efforts=("low", "high"))]
    told = catalogue.render(models)
    for number, entry in enumerate(told["models"], 1):
        assert entry.keys() >= REQUIRED
        assert entry["priority"] == number
        assert entry["apply_patch_tool_type"] == "freeform"
    assert told["object"] == "list"
    assert told["data"][0] == {"id": "a", "object": "model", "created": 0, "owned_by": "antiphon"}


EFFORTS = {"none": ((), None), "with medium": (("low", "medium", "high"), "medium"), "without": (("low", "high"), "low")}


@pytest.mark.requirement("models.catalogue")
@pytest.mark.parametrize(("efforts", "default"), EFFORTS.values(), ids=EFFORTS)
def test_efforts_are_those_the_server_takes(efforts: tuple[str, ...], default: str | None) -> None:
    entry = catalogue.codex_entry(Model("m", efforts=efforts), priority=1)
    assert tuple(level["effort"] for level in entry["supported_reasoning_levels"]) == efforts
    assert all(level["description"] for level in entry["supported_reasoning_levels"])
    assert entry.get("default_reasoning_level") == default


ALIASES = {
    "of a listed model": ({"fast": "real"}, ["real", "fast"], 9),
    "with its upstream's name": ({"fast": "box/real"}, ["real", "fast"], 9),
    "of a model nobody lists": ({"fast": "gone"}, ["real", "fast"], None),
    "as a listed model is called": ({"real": "other"}, ["real"], 9),
}


@pytest.mark.requirement("models.alias", "models.catalogue")
@pytest.mark.parametrize(("aliases", "ids", "context"), ALIASES.values(), ids=ALIASES)
def test_an_alias_is_listed_with_what_its_target_can_do(aliases: dict[str, str], ids: list[str], context: int | None) -> None:
    models = catalogue.aliased([Model("real", context=9, images=False)], aliases)
    assert [model.id for model in models] == ids
    assert models[-1].context == context
