"""One model list, rendered for OpenAI's clients and for Codex in the same body. Pure.

Codex decides by it which tools to offer and how long a thread may grow, so each entry says what the upstream *and* Antiphon can really do. Codex
rejects the whole list for one bad entry; slugs must be unique. Not here: asking upstreams (`upstream.probe`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from antiphon.base_instructions import BASE_INSTRUCTIONS
from antiphon.protocol import json

CONTEXT_FIELDS = ("max_model_len", "context_length", "loaded_context_length", "max_context_length", "context_window", "n_ctx")
"""Where servers tell a model's context length in their own model list: what is loaded before what could be."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model that can be asked for."""

    id: str
    created: int = 0
    owned_by: str = "antiphon"
    context: int | None = None
    images: bool | None = None
    efforts: tuple[str, ...] = ()
    described: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What a server says of itself, for models of which its list says less."""

    context: int | None = None
    images: bool | None = None
    efforts: tuple[str, ...] = ()


def read(listed: Iterable[Any], known: Known) -> list[Model]:
    """The models of an upstream's own list."""
    entries = map(json.an_object, listed)
    return unique(_model(entry, known) for entry in entries if isinstance(entry.get("id"), str) and entry["id"])


def unique(models: Iterable[Model]) -> list[Model]:
    """The models, each name once: Codex takes no list in which one is there twice. The first is the one that is asked."""
    first: dict[str, Model] = {}
    for model in models:
        first.setdefault(model.id, model)
    return list(first.values())


def _model(entry: dict[str, Any], known: Known) -> Model:
    told = {**json.an_object(entry.get("meta")), **entry}
    length = next((told[name] for name in CONTEXT_FIELDS if isinstance(told.get(name), int) and told[name] > 0), None)
    created = entry.get("created")
    return Model(
        id=entry["id"],
        created=created if isinstance(created, int) else 0,
        owned_by=str(entry.get("owned_by") or "upstream"),
        # What a server was started with is less than what its model was trained for.
        context=known.context or length,
        images=_sees(entry, known),
        efforts=known.efforts,
    )


def _sees(entry: dict[str, Any], known: Known) -> bool | None:
    modalities = (json.an_object(entry.get("architecture")) or entry).get("input_modalities")
    return "image" in modalities if isinstance(modalities, list) else known.images


def aliased(models: list[Model], aliases: dict[str, str]) -> list[Model]:
    """The list with its aliases, each with what its target can do."""
    by_id = {model.id: model for model in models}
    extra: list[Model] = []
    for name, target in aliases.items():
        known = by_id.get(target) or by_id.get(target.partition("/")[2])
        if name not in by_id:
            base = known or Model(target)
            extra.append(Model(name, base.created, base.owned_by, base.context, base.images, base.efforts, f"alias of {target}"))
    return [*models, *extra]


def render(models: list[Model], *, deferred_tools: bool = False) -> dict[str, Any]:
    """Both lists in one body: `data` for OpenAI's clients, `models` for Codex. `deferred_tools`: whether Codex may keep tools back."""
    return {
        "object": "list",
        "data": [{"id": m.id, "object": "model", "created": m.created, "owned_by": m.owned_by} for m in models],
        "models": [
            codex_entry(model, priority=number) | {"supports_search_tool": deferred_tools} for number, model in enumerate(models, 1)
        ],
    }


def codex_entry(model: Model, *, priority: int) -> dict[str, Any]:
    """What Codex needs to know of a model."""
    entry: dict[str, Any] = {
        "slug": model.id,
        "display_name": model.id,
        "description": model.described or f"served by {model.owned_by}",
        "supported_reasoning_levels": [{"effort": effort, "description": effort.capitalize()} for effort in model.efforts],
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": True,
        "priority": priority,
        "support_verbosity": False,
        "supports_reasoning_summary_parameter": True,
        "default_reasoning_summary": "auto",
        "apply_patch_tool_type": "freeform",
        "truncation_policy": {"mode": "bytes", "limit": 10_000},
        "input_modalities": ["text"] if model.images is False else ["text", "image"],
        "experimental_supported_tools": [],
        "base_instructions": BASE_INSTRUCTIONS,
    }
    if model.efforts:
        entry["default_reasoning_level"] = "medium" if "medium" in model.efforts else model.efforts[0]
    if model.context:
        entry |= {"context_window": model.context, "max_context_window": model.context}
    return entry
