"""Calls and outputs in the order that strict servers want, as tables: what comes in, what goes out, what is told."""

import json
from typing import Any

import pytest

from antiphon.history.pairing import Lowered, Pairing, paired
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Note

Item = dict[str, Any]


def call(id: str) -> Item:
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}


def output(id: str | None, body: Any = "done") -> Item:
    return {"type": "function_call_output", "output": body, **({} if id is None else {"call_id": id})}


def message(role: str, text: str) -> Item:
    return {"type": "message", "role": role, "content": text}


def user(*parts: Item) -> Item:
    return {"type": "message", "role": "user", "content": list(parts)}


def text(words: str) -> Item:
    return {"type": "input_text", "text": words}


THOUGHT = {"type": "reasoning", "summary": []}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
BEHIND = text("[1 image(s): see the next user message]")
ABOVE = text("The image(s) from the tool output above:")


def run(items: list[Item], *, images_in_outputs: bool = False) -> tuple[list[Item], list[Note]]:
    pairing = Pairing(images_in_outputs)
    lowered = [
        Lowered(
            item["type"],
            Document(json.dumps(item).encode()),
            f"input[{at}]",
            role=item.get("role", ""),
            call_id=item.get("call_id"),
        )
        for at, item in enumerate(items)
    ]
    return [json.loads(bytes(item.document)) for item in paired(lowered, pairing)], pairing.notes


ROWS: dict[str, tuple[list[Item], list[Item], list[str]]] = {
    "in order already": (
        [message("user", "go"), call("a"), call("b"), output("a"), output("b")],
        [message("user", "go"), call("a"), call("b"), output("a"), output("b")],
        [],
    ),
    "outputs come out in call order": ([call("a"), call("b"), output("b"), output("a")], [call("a"), call("b"), output("a"), output("b")], []),
    "a call after an output begins another block": (
        [call("a"), output("a"), call("b"), output("b")],
        [call("a"), output("a"), call("b"), output("b")],
        [],
    ),
    "what people say waits for the outputs": (
        [call("a"), message("developer", "hurry"), call("b"), output("b"), message("user", "and?"), output("a")],
        [call("a"), output("a", "aborted"), message("developer", "hurry"), call("b"), output("b"), message("user", "and?"), user(
            text("Output of a, received outside its call:"), text("done"))],
        ["repaired input[0]", "changed input[5]"],
    ),
    "a message between two outputs": (
        [call("a"), call("b"), output("a"), message("user", "and?"), output("b")],
        [call("a"), call("b"), output("a"), output("b"), message("user", "and?")],
        [],
    ),
    "reasoning between calls": ([call("a"), THOUGHT, call("b"), output("a"), output("b")], [call("a"), THOUGHT, call("b"), output("a"), output("b")], []),
    "no output at the end": ([call("a"), call("b"), output("b")], [call("a"), call("b"), output("a", "aborted"), output("b")], ["repaired input[0]"]),
    "interrupted, then another turn": (
        [call("a"), message("user", "stop"), message("assistant", "ok")],
        [call("a"), output("a", "aborted"), message("user", "stop"), message("assistant", "ok")],
        ["repaired input[0]"],
    ),
    "an output without its call": ([output("x"), message("user", "go")], [message("user", "go")], ["dropped input[0]"]),
    "an output that comes too late": (
        [call("a"), message("user", "stop"), message("assistant", "ok"), output("a")],
        [call("a"), output("a", "aborted"), message("user", "stop"), message("assistant", "ok"), user(
            text("Output of a, received outside its call:"), text("done"))],
        ["repaired input[0]", "changed input[3]"],
    ),
    "a second output": (
        [call("a"), output("a"), output("a", [text("more")])],
        [call("a"), output("a"), user(text("Output of a, received outside its call:"), text("more"))],
        ["changed input[2]"],
    ),
    "an output that stands for itself": (
        [message("user", "go"), {**output(None), "name": "clock"}],
        [message("user", "go"), user(text("Output of clock, received outside its call:"), text("done"))],
        ["changed input[1]"],
    ),
    "one call_id twice": (
        [call("a"), call("a"), output("a", "one"), output("a", "two")],
        [call("a"), call("a_2"), output("a", "one"), output("a_2", "two")],
        ["repaired input[1]"],
    ),
    "one call_id again in a later round": (
        [call("a"), output("a"), call("a"), output("a"), call("a_2"), output("a_2")],
        [call("a"), output("a"), call("a_2"), output("a_2"), call("a_2_2"), output("a_2_2")],
        ["repaired input[2]", "repaired input[4]"],
    ),
    "calls without an id": (
        [call(""), {**call(""), "call_id": None}, output("", "one"), output(None, "two"), call("call"), output("call")],
        [call("call"), call("call_2"), output("call", "one"), output("call_2", "two"), call("call_3"), output("call_3")],
        ["repaired input[0]", "repaired input[1]", "repaired input[4]"],
    ),
    "an output that stands for itself while a call without an id is open": (
        [call(""), {**output(None), "name": "clock"}, output("", "one")],
        [call("call"), output("call", "one"), user(text("Output of clock, received outside its call:"), text("done"))],
        ["repaired input[0]", "changed input[1]"],
    ),
    "an image moves behind the block": (
        [call("a"), call("b"), output("a", [text("see"), IMAGE]), output("b")],
        [call("a"), call("b"), output("a", [text("see"), BEHIND]), output("b"), user(ABOVE, IMAGE)],
        [],
    ),
    "images before what people said": (
        [call("a"), call("b"), output("a", [IMAGE]), message("user", "look"), output("b")],
        [call("a"), call("b"), output("a", [BEHIND]), output("b"), user(ABOVE, IMAGE), message("user", "look")],
        [],
    ),
}  # fmt: skip


@pytest.mark.requirement("chat.pairing")
@pytest.mark.parametrize(("items", "sent", "told"), ROWS.values(), ids=ROWS)
def test_every_output_stands_right_behind_its_calls(items: list[Item], sent: list[Item], told: list[str]) -> None:
    out, notes = run(items)
    assert out == sent
    assert [f"{note.kind} {note.where}" for note in notes] == told


@pytest.mark.requirement("chat.images")
def test_images_stay_where_the_dialect_takes_them() -> None:
    items = [call("a"), output("a", [text("see"), IMAGE])]
    assert run(items, images_in_outputs=True) == (items, [])


def test_what_is_in_order_keeps_its_bytes() -> None:
    spelled = [b'{"type": "function_call", "call_id":"a", "x":1.0}', b'{"type":"function_call_output","call_id":"a", "output": "1"}']
    items = [
        Lowered(kind, Document(raw), "", call_id="a") for kind, raw in zip(("function_call", "function_call_output"), spelled, strict=True)
    ]
    assert [bytes(item.document) for item in paired(items, Pairing(images_in_outputs=False))] == spelled
