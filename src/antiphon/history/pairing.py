"""Calls and outputs in the order that strict servers want: every output right behind its calls, nothing in between, none missing.

A left fold over items that are already lowered to messages, reasoning, function calls and their outputs. While calls are open, what people say
waits; when all are answered, or the model speaks again, the outputs come out in call order. A call without an output is answered `aborted`, as
Codex does itself; an output that comes after that is shown where it stands, as a message; one that answers nothing is left out. No two calls have
one id. So what an item becomes never depends on what comes later, as long as a prompt ends where a model is to speak.

Not here: what a message or tool output looks like upstream (`translation`).
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Raw

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note

ABORTED = Raw(b'"aborted"')
UNNAMED = "call"
"""How the ids begin of calls that have none: searches that a server ran itself."""


class Lowered(NamedTuple):
    """An item in base form: its type, itself, its path in the client's request; a call or output also its `call_id`."""

    type: str
    document: Document
    where: str
    role: str = ""
    call_id: str | None = None
    answer: str = ""
    """Which of the model's answers it was part of, where that is known."""

    @property
    def is_models(self) -> bool:
        """Whether the model said it."""
        return self.type in ("function_call", "reasoning") or self.role == "assistant"


@dataclass(slots=True)
class _Open:
    call: Lowered
    sent_id: str
    output: Lowered | None = None


@dataclass(slots=True)
class Pairing:
    """Feed lowered items, get them in order; `finish` at the end. `images_in_outputs`: whether the upstream takes images in a tool's output."""

    images_in_outputs: bool
    notes: list[Note] = field(default_factory=list[Note])
    _open: list[_Open] = field(default_factory=list[_Open])
    _unanswered: dict[str, deque[_Open]] = field(default_factory=dict[str, deque[_Open]])
    """The open calls of an id that have no output yet."""
    _answered: int = 0
    _waiting: list[Lowered] = field(default_factory=list[Lowered])
    _closed: set[str] = field(default_factory=set[str])
    _sent: dict[str, int] = field(default_factory=dict[str, int])
    """Ids that calls have upstream, each with how many calls were given the like of it."""

    def feed(self, item: Lowered) -> list[Lowered]:
        """What this item lets out."""
        if item.type == "function_call_output":
            return self._answer(item)
        if item.is_models:
            before = self._flush() if self._waiting or self._answered else []
            return [*before, self._call(item) if item.type == "function_call" else item]
        if self._open:
            self._waiting.append(item)
            return []
        return [item]

    def finish(self) -> list[Lowered]:
        """What still waits."""
        return self._flush()

    def _call(self, item: Lowered) -> Lowered:
        sent_id = self._free_id(item.call_id or UNNAMED)
        one = _Open(item, sent_id)
        self._open.append(one)
        self._unanswered.setdefault(item.call_id or "", deque()).append(one)
        if sent_id == item.call_id:
            return item
        self.notes.append(Note(Kind.REPAIRED, item.where, "a call_id used twice" if item.call_id else "a call without an id"))
        return _with_call_id(item, sent_id)

    def _free_id(self, wanted: str) -> str:
        """An id that no call before had: servers and templates find a call by its id."""
        found = wanted
        while found in self._sent:
            self._sent[wanted] += 1
            found = f"{wanted}_{self._sent[wanted]}"
        self._sent[found] = 1
        return found

    def _answer(self, item: Lowered) -> list[Lowered]:
        calls = self._unanswered.get(item.call_id or "")
        if calls and not _stands_alone(item):
            one = calls.popleft()
            one.output = item if one.sent_id == item.call_id else _with_call_id(item, one.sent_id)
            self._answered += 1
            return self._flush() if self._answered == len(self._open) else []
        if not item.call_id or item.call_id in self._closed or item.call_id in self._unanswered:
            return self._late(item)
        self.notes.append(Note(Kind.DROPPED, item.where, "an output without its call"))
        return []

    def _late(self, item: Lowered) -> list[Lowered]:
        """An output that has no place of its own: said by a message, behind whatever is open."""
        self.notes.append(Note(Kind.CHANGED, item.where, "an output outside its place, shown as a message"))
        message = _stand_in(item)
        if self._open:
            self._waiting.append(message)
            return []
        return [message]

    def _flush(self) -> list[Lowered]:
        out: list[Lowered] = []
        images: list[Raw] = []
        for one in self._open:
            output = one.output or self._aborted(one)
            if not self.images_in_outputs:
                output, found = _without_images(output)
                images += found
            out.append(output)
            self._closed.add(one.call.call_id or "")
        if images:
            out.append(_images_message(images, out[-1].where))
        out += self._waiting
        self._open, self._waiting, self._unanswered, self._answered = [], [], {}, 0
        return out

    def _aborted(self, one: _Open) -> Lowered:
        self.notes.append(Note(Kind.REPAIRED, one.call.where, "a call without an output, answered as aborted"))
        document = Document.of({"type": "function_call_output", "call_id": one.sent_id, "output": ABORTED})
        return Lowered("function_call_output", document, one.call.where, call_id=one.sent_id)


def _stands_alone(output: Lowered) -> bool:
    """Whether it answers no call: it has a name in place of an id. Without either it is the next call's that has no id."""
    return not output.call_id and "name" in output.document


def paired(items: Iterable[Lowered], pairing: Pairing) -> Iterator[Lowered]:
    """All items through one pairing."""
    for item in items:
        yield from pairing.feed(item)
    yield from pairing.finish()


def _with_call_id(item: Lowered, call_id: str) -> Lowered:
    return item._replace(document=item.document.but(call_id=call_id), call_id=call_id)


def _without_images(output: Lowered) -> tuple[Lowered, list[Raw]]:
    """The output with its images taken out, and the images."""
    body = output.document.members["output"]
    if not json.is_array(body):
        return output, []
    pieces = json.elements(body)
    images = [piece for piece in pieces if Document(piece).text("type") == "input_image"]
    if not images:
        return output, []
    kept = [piece for piece in pieces if Document(piece).text("type") != "input_image"]
    kept.append(Document.of({"type": "input_text", "text": f"[{len(images)} image(s): see the next user message]"}).raw)
    return output._replace(document=output.document.but(output=kept)), images


def _images_message(images: list[Raw], where: str) -> Lowered:
    words = Document.of({"type": "input_text", "text": "The image(s) from the tool output above:"}).raw
    return _user_message([words, *images], where)


def _stand_in(item: Lowered) -> Lowered:
    name = item.document.text("name") or item.call_id or "a tool"
    words = Document.of({"type": "input_text", "text": f"Output of {name}, received outside its call:"}).raw
    body = item.document.members["output"]
    pieces = json.elements(body) if json.is_array(body) else [Document.of({"type": "input_text", "text": body}).raw]
    return _user_message([words, *pieces], item.where)


def _user_message(content: list[Raw], where: str) -> Lowered:
    document = Document.of({"type": "message", "role": "user", "content": content})
    return Lowered("message", document, where, role="user")
