"""The rows were measured with Codex 0.169.0: which texts it takes for its own."""

import pytest

from antiphon.protocol.document import Document
from antiphon.threads.context import begins_turn, is_context, is_own
from tests.threads.samples import said

OWN = [
    "<environment_context>x</environment_context>",
    "  <ENVIRONMENT_CONTEXT>x</environment_context>  ",
    "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
    "<skill>\nx\n</skill>",
    "<user_shell_command>x</user_shell_command>",
    "<turn_aborted>x</turn_aborted>",
    "<subagent_notification>x</subagent_notification>",
    "<goal_context>x</goal_context>",
    "<recommended_plugins>x</recommended_plugins>",
    "<external_foo-1>x</external_foo-1>",
    " <external_>x</external_>",
    '<codex_internal_context source="a_b1">\nx\n</codex_internal_context>',
    '<hook_prompt hook_run_id="a" b="c">x</hook_prompt>',
    "<hook_prompt hook_run_id='a'>x</hook_prompt> t",
    "Warning: The maximum number of unified exec processes you can keep open is 3",
    "Warning: apply_patch was requested via shell. Use the apply_patch tool instead of exec_command.",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
]
SAID = [
    "hello",
    "<user_instructions>x</user_instructions>",
    "<environment_context>x",
    "<environment_context>x</environment_context> tail",
    "# AGENTS.md instructions x",
    "<skill name='a'>x</skill>",
    "<external_foo>x</external_bar>",
    "<external_foo>x",
    "<external_foo>x</external_foo> t",
    '<codex_internal_context source="Goal">x</codex_internal_context>',
    '<codex_internal_context source="">x</codex_internal_context>',
    '<codex_internal_context source="goal" b>x</codex_internal_context>',
    "<goal_context>x",
    '<hook_prompt hook_run_id="">x</hook_prompt>',
    '<hook_prompt hook_run_id="a">a & b</hook_prompt>',
    "<hook_prompt>x</hook_prompt>",
]


@pytest.mark.requirement("threads.context")
@pytest.mark.parametrize("text", OWN)
def test_texts_of_codex_are_known(text: str) -> None:
    assert is_own(text)
    assert is_context(Document.of(said("user", text)))
    assert not begins_turn(Document.of(said("user", "and a question", text)))


@pytest.mark.requirement("threads.context")
@pytest.mark.parametrize("text", SAID)
def test_what_only_looks_like_them_is_said_by_the_user(text: str) -> None:
    assert not is_own(text)
    assert begins_turn(Document.of(said("user", text)))


@pytest.mark.requirement("threads.context")
@pytest.mark.parametrize(
    ("item", "context", "begins"),
    [
        (said("developer", "<permissions instructions>x"), True, False),
        (said("developer", "  <MODEL_SWITCH>x"), True, False),
        (said("developer", "be brief"), False, False),
        (said("developer", "<model_switch"), False, False),
        (said("assistant", "hello"), False, False),
        (said("assistant", '{"author":"/lead","recipient":"/lead/a","content":"go","trigger_turn":true}'), False, True),
        (said("assistant", '{"author":"/lead"}'), False, False),
        ({"type": "agent_message", "author": "a", "recipient": "b", "content": []}, False, True),
        ({"type": "function_call", "name": "n", "arguments": "{}", "call_id": "c"}, False, False),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}, False, True),
    ],
    ids=["permissions", "capitals", "developer", "cut tag", "answer", "communication", "json", "agent", "call", "picture"],
)
def test_other_items(item: dict[str, object], context: bool, begins: bool) -> None:
    assert (is_context(Document.of(item)), begins_turn(Document.of(item))) == (context, begins)
