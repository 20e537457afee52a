"""Items with members missing, or of another type: a request is refused by the path of what is wrong, or it is one that a strict server takes."""

import json
import random
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.protocol.item_views import ITEMS
from antiphon.translation import chat, responses
from antiphon.translation.dialect import ChatRules, ResponsesRules
from tests.histories import Item
from tests.long_histories import ASIDE, BODIES, CALLS, DECLARED, FOUND
from tests.scripted import chat_rules

TEXT, SAID = {"type": "input_text", "text": "x"}, {"type": "output_text", "text": "y", "annotations": []}
ODD: list[Any] = [
    *(None, "", 0, 1.5, True, [], {}, "x", ["a"], {"a": 1}, "😀", "\x00", [None]),
    [{"type": "input_text"}], [{"type": "input_text", "text": None}], [{"text": "hi"}], [{"type": "refusal", "refusal": "no"}],
    [{"type": "input_image"}], [{"type": "input_image", "image_url": {"url": "http://x/y.png"}}], [{"type": "input_image", "file_id": "f"}],
    [{"type": "input_file", "file_url": "http://x"}], [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}],
    [{"type": "weird", "x": 1}],
]  # fmt: skip
IDS = ["a", "b", "", None, "a b", "é", "x" * 70, "functions.exec:0"]
MEMBERS = ("id", "status", "call_id", "name", "namespace", "content", "output", "role", "phase", "summary")
EVERY = 400


def an_item(chance: random.Random) -> Item:
    outputs = [type for type in ITEMS if type.endswith("_output")]
    output = {
        "type": chance.choice(outputs),
        "call_id": chance.choice(IDS),
        "output": chance.choice(BODIES),
        "execution": "client",
        "tools": FOUND,
    }
    message = {
        "type": "message",
        "role": chance.choice(["user", "assistant", "developer"]),
        "content": chance.choice(["hi", [TEXT], [SAID]]),
    }
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}], "content": None}
    call = {**chance.choice(CALLS), "call_id": chance.choice(IDS)}
    return mutated(chance.choice([call, output, message, thought, chance.choice(ASIDE)]), chance)


def mutated(item: Item, chance: random.Random) -> Item:
    """The item with up to two members taken away or replaced, more often with none."""
    item = dict(item)
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        name = chance.choice([*item, *MEMBERS])
        if chance.random() < 0.3:
            item.pop(name, None)
        else:
            item[name] = chance.choice(ODD)
    return item


def asked(chance: random.Random) -> bytes:
    items = [an_item(chance) for _ in range(chance.randint(1, 12))]
    tools = chance.choice([DECLARED, [], [mutated(tool, chance) for tool in DECLARED]])
    return json.dumps({"model": "m", "input": items, "tools": tools, "tool_choice": chance.choice(["auto", "required", "none"])}).encode()


def made(body: bytes, rules: ChatRules | ResponsesRules) -> Document | str:
    """What becomes of a request; the path at which it is refused."""
    document, _ = request.open_body(body)
    try:
        view = request.view(document)
        return (chat.translate(document, rules) if isinstance(rules, ChatRules) else responses.translate(document, view, rules)).body
    except InvalidRequest as refused:
        return refused.failure.param or "it does not say where"


@pytest.mark.requirement("items.odd")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rules", [ChatRules(), ResponsesRules()], ids=["chat", "responses"])
def test_an_odd_item_is_refused_by_path_or_made_fit(rules: ChatRules | ResponsesRules, seed: int) -> None:
    chance = random.Random(seed)
    became = [made(asked(chance), rules) for _ in range(EVERY)]
    taken = [json.loads(bytes(one)) for one in became if isinstance(one, Document)]
    assert len(taken) > EVERY / 20
    assert [where for where in became if isinstance(where, str) and not where.startswith(("input", "tools"))] == []
    assert [chat_rules.refusal(one) for one in taken if one.get("messages")] == [None for one in taken if one.get("messages")]
