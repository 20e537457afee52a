"""Which messages Codex itself put into a thread, as opposed to what somebody said: tables, and the two questions asked of them.

A user message that holds any of Codex's own texts begins no turn, is not repeated after a compaction, and goes with the turn before which it
stands when that is rolled back. The tables are what Codex 0.169.0 was measured to take for its own, which is less than what it has ever written.
Not here: what becomes of the messages (`rebuild`), nor how such texts are worded.
"""

import re
from collections.abc import Iterable
from typing import Final

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.json import BadJson

WRAPPED: Final = (
    ("# agents.md instructions", "</instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<agent_message_board_notification>", "</agent_message_board_notification>"),
)
"""How a text of Codex's own in a user message begins and ends, blanks and capitals aside."""

SHAPED: Final = (
    re.compile(r"\s*<external_([^>]*)>.*</external_\1>\s*", re.DOTALL),
    re.compile(r'\s*<codex_internal_context source="[a-z][a-z0-9_]*">.*</codex_internal_context>\s*', re.DOTALL),
    re.compile(
        r"""\s*<hook_prompt\s(?:[^<>]*\s)?hook_run_id=(?:"[^"<]*[^"<\s][^"<]*"|'[^'<]*[^'<\s][^'<]*')[^<>]*>(?:[^&]|&\w+;)*</hook_prompt>.*""",
        re.DOTALL,
    ),
    re.compile(r"\s*Warning: The maximum number of unified exec processes you can keep open is.*", re.DOTALL),
    re.compile(r"\s*Warning: Your account was flagged for potentially high-risk cyber activity.*", re.DOTALL),
    re.compile(r"\s*Warning: apply_patch was requested via .*Use the apply_patch tool instead of exec_command\.\s*", re.DOTALL),
)
"""The same, where two words do not say it."""

DEVELOPER: Final = (
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<multi_agent_role>",
    "<realtime_conversation>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<environments_instructions>",
    "<managed_developer_instructions>",
    "<git_attribution>",
    "<personality_spec>",
    "<persistent_mode>",
    "<token_budget>",
    "<rollout_budget>",
    "<context_window>",
    "<context_window_guidance>",
    "<tools>",
)
"""How a text of Codex's own in a developer message begins; what a developer says otherwise stays when a turn is rolled back."""

COMMUNICATION: Final = ("author", "recipient", "content", "trigger_turn")
"""The members of a message between agents, which older versions wrote as JSON into an assistant's message."""


def is_own(text: str) -> bool:
    """Whether a text in a user message is one of Codex's own."""
    plain = text.strip()
    head, tail = plain[:48].lower(), plain[-48:].lower()
    if any(head.startswith(start) and tail.endswith(end) for start, end in WRAPPED):
        return True
    return head.startswith(("<external_", "<codex_internal_context ", "<hook_prompt", "warning: ")) and any(
        shape.fullmatch(text) for shape in SHAPED
    )


def is_own_developer(text: str) -> bool:
    """Whether a text in a developer message is one of those that belong to the turn behind them."""
    return text.lstrip()[:48].lower().startswith(DEVELOPER)


def is_context(item: Document) -> bool:
    """Whether a message is Codex's, and goes with the turn before which it stands."""
    match item.text("role"):
        case "user":
            return any(is_own(text) for text in texts(item, "input_text"))
        case "developer":
            return any(is_own_developer(text) for text in texts(item, "input_text"))
        case _:
            return False


def begins_turn(item: Document) -> bool:
    """Whether a turn begins with it: something a user said, or an agent to another."""
    type = item.text("type") or "message"
    if type == "agent_message":
        return True
    if type != "message":
        return False
    role = item.text("role")
    return (role == "user" and not is_context(item)) or (role == "assistant" and _is_communication(item))


def texts(item: Document, *types: str) -> Iterable[str]:
    """The texts of a message's parts of those types."""
    for part in map(Document, filter(json.is_object, item.elements("content"))):
        if part.text("type") in types and (text := part.text("text")) is not None:
            yield text


def _is_communication(item: Document) -> bool:
    said = list(texts(item, "input_text", "output_text"))
    if len(said) != 1 or len(item.elements("content")) != 1 or not said[0].lstrip().startswith("{"):
        return False
    try:
        told = Document(json.check(said[0].encode())[0])
        return all(name in told for name in COMMUNICATION)
    except (BadJson, json.WrongType):
        return False
