"""Histories as chat messages: the prefix law, and what strict servers refuse, over random threads."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.translation import chat, responses
from antiphon.translation.dialect import DIALECTS, ChatRules
from tests.histories import TOOLS, History, histories
from tests.scripted import chat_rules

RULES = {
    **{name: dialect.chat for name, dialect in DIALECTS.items()},
    "reasoning back": ChatRules(reasoning_back="reasoning_content"),
    "images in outputs": ChatRules(images_in_outputs=True),
    "no images": ChatRules(images=False),
}
STRICT = {name: rules for name, rules in RULES.items() if rules.late_developer == "user" and not rules.images_in_outputs}
PAIRING = {name: dialect.responses for name, dialect in DIALECTS.items() if dialect.responses.pairs}
LAW = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def asked(items: list[dict[str, Any]]) -> Document:
    return Document(json.dumps({"model": "m", "instructions": "Be brief.", "tools": TOOLS, "input": items, "stream": True}).encode())


def spelled(items: list[dict[str, Any]], rules: ChatRules) -> dict[str, Any]:
    return json.loads(bytes(chat.translate(asked(items), rules).body))


@pytest.mark.requirement("chat.prefix")
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@LAW
@given(history=histories())
def test_what_is_rendered_of_a_beginning_does_not_change(rules: ChatRules, history: History) -> None:
    whole = spelled(history.items, rules)
    for count in history.requests:
        beginning = spelled(history.items[:count], rules)
        assert whole["messages"][: len(beginning["messages"])] == beginning["messages"]
        assert beginning["tools"] == whole["tools"]


@pytest.mark.requirement("chat.parallel-calls", "chat.pairing", "chat.developer", "chat.images", "chat.parameters")
@pytest.mark.parametrize("rules", STRICT.values(), ids=STRICT)
@LAW
@given(history=histories())
def test_strict_servers_take_every_history(rules: ChatRules, history: History) -> None:
    for count in history.requests:
        body = spelled(history.items[:count], rules)
        known = {name: value for name, value in body.items() if name in chat_rules.FIELDS}
        refused = chat_rules.refusal(known)
        assert refused is None, refused.message


@pytest.mark.parametrize("name", PAIRING)
@LAW
@given(history=histories())
def test_the_prefix_law_holds_for_lowered_responses_requests(name: str, history: History) -> None:
    def lowered(items: list[dict[str, Any]]) -> dict[str, Any]:
        document = asked(items)
        return json.loads(bytes(responses.translate(document, request.view(document), PAIRING[name]).body))

    whole = lowered(history.items)
    for count in history.requests:
        beginning = lowered(history.items[:count])
        assert whole["input"][: len(beginning["input"])] == beginning["input"]
        assert (beginning["instructions"], beginning["tools"]) == (whole["instructions"], whole["tools"])
