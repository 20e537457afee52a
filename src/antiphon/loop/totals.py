"""What several model calls come to: their usage as one, results cut to what a model may be shown, an item's events in its place. Pure."""

from collections.abc import Sequence
from typing import Any

from antiphon.protocol import json
from antiphon.protocol.document import Document


def within(output: Any, most: int) -> Any:
    """A text of the model's that is not too long; what is left out is said in its place."""
    if not isinstance(output, str) or len(output.encode("utf-8", "replace")) <= most:
        return output
    data = output.encode("utf-8", "replace")
    kept = data[:most].decode("utf-8", "ignore")
    return f"{kept}\n[{len(data) - len(kept.encode())} more bytes left out]"


def total(usage: Sequence[Document]) -> Any:
    """Usage of several model calls as one; None where none was told."""
    counts: dict[str, Any] = {}
    for one in usage:
        _add(counts, json.an_object(json.value(one.raw)))
    return counts or None


def _add(total: dict[str, Any], counts: dict[str, Any]) -> None:
    for name, count in counts.items():
        if isinstance(count, dict):
            _add(total.setdefault(name, {}), json.an_object(count))
        elif isinstance(count, int | float) and not isinstance(count, bool):
            total[name] = total.get(name, 0) + count
        else:
            total.setdefault(name, count)
