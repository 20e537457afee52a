"""What a JSON value looks like, without what it says: keys, types and sizes. Fit for a log."""

from typing import Any, cast

from antiphon.protocol import json

KEYS = 40
DEPTH = 6


def shape(value: Any, depth: int = DEPTH) -> Any:
    """The shape of a decoded value; lists show the shapes they hold, each once."""
    if isinstance(value, dict):
        members = json.an_object(value)
        if depth == 0:
            return f"object of {len(members)}"
        shown: dict[str, Any] = {key[:80]: shape(member, depth - 1) for key, member in list(members.items())[:KEYS]}
        return shown if len(members) <= KEYS else {**shown, "…": f"{len(members) - KEYS} more"}
    if isinstance(value, list):
        elements = cast("list[Any]", value)
        seen: list[Any] = []
        for element in elements[:KEYS]:
            if (one := shape(element, depth - 1) if depth else "…") not in seen:
                seen.append(one)
        return [f"array of {len(elements)}", *seen]
    if isinstance(value, str):
        return f"string of {len(value)}"
    return type(value).__name__.replace("NoneType", "null")
