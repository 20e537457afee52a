"""Random histories of threads as Codex and other clients send them, with the points at which the model is to speak."""

import itertools
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from antiphon.protocol import item_ids

Item = dict[str, Any]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "high"}
TOOLS: list[Item] = [
    {
        "type": "function",
        "name": "exec_command",
        "strict": False,
        "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
    },
    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}},
    {"type": "namespace", "name": "mcp__x", "tools": [{"type": "function", "name": "tool"}, {"type": "custom", "name": "free"}]},
    {"type": "function", "name": "a name that no server takes", "parameters": None},
    {"type": "web_search", "external_web_access": True},
]
"""What the client declares; `gone` below is called without being declared."""

CALLED: list[Item] = [
    {"type": "function_call", "name": "exec_command"},
    {"type": "custom_tool_call", "name": "apply_patch"},
    {"type": "function_call", "name": "tool", "namespace": "mcp__x"},
    {"type": "custom_tool_call", "name": "free", "namespace": "mcp__x"},
    {"type": "function_call", "name": "a name that no server takes"},
    {"type": "function_call", "name": "gone", "namespace": "mcp__y"},
]
ARGUMENTS = st.sampled_from(["{}", '{"cmd":"ls"}', "", "not JSON", '"a string"', '{"cmd":']) | TEXT


PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}


@dataclass
class History:
    """All items, and how many there are at each request: where all calls are answered or given up, and the model speaks next.

    With `ids` the client sends back those that the answers' items had.
    """

    items: list[Item] = field(default_factory=list[Item])
    requests: list[int] = field(default_factory=list[int])
    ids: bool = False
    answers: int = 0

    def add_answer(self, said: list[Item]) -> None:
        """What the model said in one answer."""
        self.answers += 1
        given = itertools.count()
        for one in said if self.ids else ():
            one["id"] = item_ids.made(PREFIXES[one["type"]], f"resp_{self.answers:048x}", next(given))
        self.items += said


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A whole thread: how it begins, then rounds of the model and of what comes back."""
    history = History(ids=draw(st.booleans()))
    history.items += draw(st.lists(said("developer"), max_size=2))
    history.items.append(draw(said("user")))
    unanswered: list[Item] = []
    for number in range(draw(st.integers(0, 5))):
        history.requests.append(len(history.items))
        if history.ids and draw(st.integers(0, 3)) == 0:  # its stream broke off behind these items, and the client asked again
            history.add_answer(draw(st.lists(st.one_of(reasoning(), said("assistant")), max_size=2)))
            history.requests.append(len(history.items))
        calls = draw(spoken(history, number))
        late, unanswered = unanswered, []
        unanswered = draw(answered(history, calls))
        history.items += [output(call, "late") for call in late if draw(st.booleans())]
        if unanswered or not calls or draw(st.booleans()):
            history.items += draw(st.lists(said("developer"), max_size=1))
            history.items.append(draw(said("user")))
    history.requests.append(len(history.items))
    return history


@st.composite
def spoken(draw: st.DrawFn, history: History, number: int) -> list[Item]:
    """What the model says in a round; the calls in it are given back."""
    calls = [draw(call(f"call_{number}_{place}")) for place in range(draw(st.integers(0, 3)))]
    if len(calls) == 3 and draw(st.booleans()):
        calls[2]["call_id"] = calls[0]["call_id"]  # measured: Codex runs both and sends both outputs
    others = draw(st.lists(st.one_of(reasoning(), said("assistant")), min_size=0 if calls else 1, max_size=2))
    history.add_answer(draw(st.permutations([*calls, *others])) if draw(st.booleans()) else [*others, *calls])
    return calls


@st.composite
def answered(draw: st.DrawFn, history: History, calls: list[Item]) -> list[Item]:
    """What comes back: outputs in any order, some of them never, messages in between. The calls without an output are given back."""
    missing = [each for each in calls if draw(st.integers(0, 9)) == 0]
    ids = [each["call_id"] for each in missing]
    given = [each for each in calls if each["call_id"] not in ids]
    back = [output(each, draw(outputs())) for each in draw(st.permutations(given))]
    for message in draw(st.lists(st.one_of(said("developer"), said("user")), max_size=2)) if back else []:
        back.insert(draw(st.integers(0, len(back))), message)
    history.items += back
    return [each for each in calls if each["call_id"] in ids]


def said(role: str) -> st.SearchStrategy[Item]:
    kind = "output_text" if role == "assistant" else "input_text"
    text = st.builds(lambda text: {"type": kind, "text": text}, TEXT)
    part = text if role in ("assistant", "developer") else st.one_of(text, st.just(IMAGE), st.just({"type": "input_file", "file_id": "f"}))
    content = st.one_of(TEXT, st.lists(part, max_size=3))
    return st.builds(lambda content: {"type": "message", "role": role, "content": content}, content)


def reasoning() -> st.SearchStrategy[Item]:
    return st.builds(
        lambda text: {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": text}],
            "content": [{"type": "reasoning_text", "text": text}],
            "encrypted_content": None,
        },
        TEXT,
    )


@st.composite
def call(draw: st.DrawFn, call_id: str) -> Item:
    made = {**draw(st.sampled_from(CALLED)), "call_id": call_id, "status": "completed"}
    return made | ({"input": draw(TEXT)} if made["type"] == "custom_tool_call" else {"arguments": draw(ARGUMENTS)})


def outputs() -> st.SearchStrategy[Any]:
    parts = st.lists(st.one_of(st.just(IMAGE), st.builds(lambda text: {"type": "input_text", "text": text}, TEXT)), max_size=3)
    objects = st.builds(lambda content, success: {"content": content, "success": success}, st.one_of(TEXT, parts), st.booleans())
    return st.one_of(TEXT, parts, objects)


def output(of: Item, body: Any) -> Item:
    return {"type": f"{of['type']}_output", "call_id": of["call_id"], "output": body}
