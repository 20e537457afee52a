"""Which lines Codex 0.169.0 reads at all: the others it passes over without a word. Measured; a line that is not in the tables is read.

What Antiphon reads is more. This is for counting as Codex counts, and for telling what it will not see (`check`).
"""

from collections.abc import Callable, Mapping
from typing import Final

from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.threads.line import BLANK, STATE, Era, Line

POLICIES: Final = frozenset({"untrusted", "on-failure", "on-request", "never"})
PARTS: Final[Mapping[str, frozenset[str]]] = {
    "message": frozenset({"input_text", "input_image", "input_audio", "output_text"}),
    "agent_message": frozenset({"input_text", "encrypted_content"}),
}
"""Item type → the types of parts that may be in its `content`; one other part, and the whole item is passed over."""


def undecoded(line: Line) -> str:
    """Why Codex passes over a line; empty where it does not."""
    if not line.type:
        return line.why
    if line.type in (BLANK, STATE):
        return "nothing in it"
    if line.era is not Era.ENVELOPE:
        return "written before September 2025"
    if line.timestamp is None:
        return "no timestamp"
    if not line.is_known:
        return f"a line of type {line.type[:40]!r}"
    rule = RULES.get(line.type)
    return rule(line.payload) if rule is not None else ""


def _item(item: Document) -> str:
    type = item.text("type")
    if type == "ghost_snapshot":
        return "a snapshot"
    if type is None:
        return "an item without a type"
    try:
        item_views.read(item, type)
    except InvalidRequest as wrong:
        return str(wrong)
    parts = PARTS.get(type)
    if parts is not None:
        return _content(item, parts)
    if type.endswith("_call_output") and json.is_object(item.members.get("output", b"")):
        return "an output that is an object"
    return ""


def _content(item: Document, parts: frozenset[str]) -> str:
    if not json.is_array(item.members.get("content", b"")):
        return "content that is no array"
    types = [Document(part).text("type") if json.is_object(part) else None for part in item.elements("content")]
    strange = next((type for type in types if type not in parts), "")
    return f"a part of type {str(strange)[:40]!r}" if strange != "" else ""


def _turn_context(context: Document) -> str:
    policy = context.document("sandbox_policy")
    if policy is None or policy.text("type") is None:
        return "a sandbox policy of before November 2025: the settings of that turn are not restored"
    approval = context.text("approval_policy")
    if approval is not None and approval not in POLICIES:
        return "an approval policy that today's Codex does not know"
    missing = [name for name in ("cwd", "model", "approval_policy") if name not in context]
    return f"no {missing[0]}" if missing else ""


def _event(event: Document) -> str:
    return "" if event.text("type") is not None else "an event without a type"


RULES: Final[Mapping[str, Callable[[Document], str]]] = {
    "response_item": _item,
    "turn_context": _turn_context,
    "event_msg": _event,
}
