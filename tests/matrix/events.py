"""What Codex showed: the lines of `codex exec --json`, without what differs from run to run."""

import json
import re
from collections.abc import Iterable
from typing import Any

from tests.scripted.script import Json, mapping, objects

DROPPED = ("id", "thread_id")


def parsed(output: str) -> list[Json]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def replaced(value: Any, masks: Iterable[tuple[str, str]]) -> Any:
    """The value with every text in it masked and ids left out."""
    masks = tuple(masks)
    if isinstance(value, str):
        for pattern, text in masks:
            value = re.sub(pattern, lambda _, text=text: text, value)
        return value
    if isinstance(value, dict):
        return {replaced(key, masks): replaced(each, masks) for key, each in mapping(value).items() if key not in DROPPED}
    if isinstance(value, list):
        return [replaced(each, masks) for each in value]
    return value


def _in_order(event: Json) -> Json:
    """The event with its changed files by name: some versions tell them in any order."""
    item = mapping(event.get("item"))
    if not isinstance(item.get("changes"), list):
        return event
    return event | {"item": item | {"changes": sorted(objects(item["changes"]), key=lambda change: str(change.get("path")))}}


def normalised(events: list[Json], masks: Iterable[tuple[str, str]], *, unordered: bool) -> list[Json]:
    shown = [_in_order(replaced(event, masks)) for event in events]
    if not unordered:
        return shown
    items = sorted((event for event in shown if "item" in event), key=lambda event: json.dumps(event, sort_keys=True))
    return [event for event in shown if "item" not in event] + items


def completed(events: list[Json]) -> list[Json]:
    return [mapping(event["item"]) for event in events if event.get("type") == "item.completed"]


def last_message(events: list[Json]) -> str:
    texts = [str(item.get("text")) for item in completed(events) if item.get("type") == "agent_message"]
    return texts[-1] if texts else ""


def failure(events: list[Json]) -> str:
    """Why the turn failed, or nothing."""
    reasons = [str(mapping(event.get("error")).get("message")) for event in events if event.get("type") == "turn.failed"]
    return reasons[-1] if reasons else ""


def usage(events: list[Json]) -> Json:
    given = [mapping(event.get("usage")) for event in events if event.get("type") == "turn.completed"]
    return given[-1] if given else {}
