"""JSON Schemas of the resume parameters, one for each generation, generated from the types that read them.

They say what is accepted, which is more than what the published schemas of each generation say. Not here: reading (`resume_params`).
"""

from typing import Any, Final

from antiphon.protocol import json
from antiphon.threads.resume_items import ITEMS
from antiphon.threads.resume_params import SHAPES, Generation

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
REFERENCE: Final = "#/$defs/{name}"


def schema(generation: Generation) -> dict[str, Any]:
    """The schema of a generation's parameters."""
    (params, *items), parts = json.schemas((SHAPES[generation], *ITEMS.values()), REFERENCE)
    name = params["$ref"].rpartition("/")[2]
    whole = parts.pop(name)
    unknown = {"type": "object", "required": ["type"], "properties": {"type": {"type": "string", "not": {"enum": sorted(ITEMS)}}}}
    known = [{"$ref": item["$ref"]} for item in items]
    parts["Item"] = {"title": "Item", "description": "An item of a history; one of an unknown type is kept.", "anyOf": [*known, unknown]}
    whole["properties"]["history"] = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Item"}}, {"type": "null"}], "default": None}
    return {"$schema": DIALECT, **whole, "$defs": dict(sorted(parts.items()))}
