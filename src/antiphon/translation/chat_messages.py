"""The message list of Chat Completions as a fold over paired items.

One system message of the instructions and the *leading* developer messages; one assistant message for all that the model said in a round, its
parallel calls together; tool messages right behind. A message that has been let out is never touched again: two answers that touch, because a
prompt ended with the first of them, stay two. Not here: which order the items have (`history.pairing`), the rest of the request (`chat`).
"""

import hashlib
from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from antiphon.history.pairing import Lowered
from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.item_views import Part
from antiphon.protocol.notes import Kind, Note
from antiphon.translation.dialect import ChatRules
from antiphon.translation.thinking import CLOSE, OPEN

TEXT_PARTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"})
BETWEEN = "Understood."
"""What the model seems to have said between two messages that may not touch."""
_DETAILS = {"original": "high"}
"""Image details that only the Responses API has."""
GO_ON: dict[str, Any] = {"role": "user", "content": "Go on."}
"""What stands between two answers: many servers take no two in a row, and some none at the end."""


def messages(instructions: str | None, items: Iterable[Lowered], rules: ChatRules, notes: list[Note]) -> list[dict[str, Any]]:
    """The whole list."""
    fold = _Fold(rules, notes)
    if instructions:
        fold.system.append(instructions)
    for item in items:
        fold.feed(item)
    return fold.finish()


class _Fold:
    def __init__(self, rules: ChatRules, notes: list[Note]) -> None:
        self.rules = rules
        self.notes = notes
        self.system: list[str] = []
        self.out: list[dict[str, Any]] = []
        self._said: _Said | None = None
        self._leading = True

    def feed(self, item: Lowered) -> None:
        if item.is_models:
            self._leading = False
            self._hear(item)
            return
        self._close()
        if item.type == "function_call_output":
            self._put({"role": "tool", "tool_call_id": call_id(item, self.rules), "content": self._tool_content(item)})
        elif item.role in ("developer", "system") and self._leading:
            self.system.append(self.words(item))
        else:
            self._leading = False
            self._person(item)

    def _hear(self, item: Lowered) -> None:
        if self._said is not None and self._said.answer and item.answer not in ("", self._said.answer):
            self._close()
            self._go_on(item.where)
        self._said = self._said or _Said()
        self._said.add(item, self)

    def _go_on(self, where: str) -> None:
        if self.out and self.out[-1]["role"] == "assistant":
            self.notes.append(Note(Kind.REPAIRED, where, "an answer behind an answer: parted by a message that says to go on"))
            self.out.append(GO_ON)

    def finish(self) -> list[dict[str, Any]]:
        self._close()
        if not self.rules.ends_with_answer:
            self._go_on("input")
        head = [{"role": "system", "content": "\n\n".join(text for text in self.system if text)}] if any(self.system) else []
        return [*head, *self.out]

    def words(self, item: Lowered) -> str:
        """The text of a message that can only be text."""
        where = f"{item.where}.content"
        return "\n\n".join(self.texts(item_views.parts(item.document.members.get("content", Raw(b"")), where), where))

    def texts(self, parts: Iterable[Part], where: str) -> list[str]:
        """The texts among some parts; the others are told."""
        kept: list[str] = []
        for number, part in enumerate(parts):
            if part.type in TEXT_PARTS:
                kept.append(part.text or part.refusal or "")
            else:
                self.notes.append(Note(Kind.DROPPED, f"{where}[{number}]", f"{part.type} cannot stand there"))
        return kept

    def _close(self) -> None:
        if self._said is not None and (message := self._said.message(self.rules)) is not None:
            self._put(message)
        self._said = None

    def _put(self, message: dict[str, Any]) -> None:
        if self.out and (self.out[-1]["role"], message["role"]) in self.rules.apart:
            self.out.append({"role": "assistant", "content": BETWEEN})
        self.out.append(message)

    def _person(self, item: Lowered) -> None:
        role = self.rules.late_developer if item.role in ("developer", "system") else "user"
        if item.role not in ("developer", "system", "user"):
            self.notes.append(Note(Kind.CHANGED, f"{item.where}.role", "not known there, shown as a user's"))
        where = f"{item.where}.content"
        content = _content(item_views.parts(item.document.members.get("content", Raw(b"")), where), where, self)
        # A message with nothing left in it stays: it parts two answers of the model, and what stands apart once must stand apart for ever.
        self._put({"role": role, "content": content or ""})

    def _tool_content(self, item: Lowered) -> Any:
        body = item.document.members["output"]
        if json.is_text(body):
            return body
        where = f"{item.where}.output"
        found = item_views.parts(body, where)
        if self.rules.images_in_outputs and any(part.type == "input_image" for part in found):
            return _content(found, where, self)
        return "\n".join(self.texts(found, where))


class _Said:
    """One assistant message under way; `answer` is the one it is part of, where that is known."""

    def __init__(self) -> None:
        self.answer = ""
        self.texts: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.thoughts: list[str] = []

    def add(self, item: Lowered, fold: _Fold) -> None:
        self.answer = self.answer or item.answer
        match item.type:
            case "function_call":
                members = item.document.members
                function = {"name": members["name"], "arguments": _arguments(members["arguments"], item.where, fold)}
                self.calls.append({"id": call_id(item, fold.rules), "type": "function", "function": function})
            case "reasoning":
                self.thoughts += _thoughts(item) if fold.rules.reasoning_back else ()
            case _:
                self.texts.append(fold.words(item))

    def message(self, rules: ChatRules) -> dict[str, Any] | None:
        text = "\n\n".join(text for text in self.texts if text)
        if not text and not self.calls:
            return None
        message: dict[str, Any] = {"role": "assistant", **_content_of_answer(text, rules)}
        if self.calls:
            message["tool_calls"] = self.calls
        # Only what stands in this very message decides, so that a later turn never changes an earlier one.
        thoughts = "\n\n".join(self.thoughts) or (rules.reasoning_filler if self.calls else "")
        if thoughts and rules.reasoning_back and (self.calls or rules.reasoning_always):
            message |= _thinking(rules.reasoning_back, thoughts, text)
        return message


def _content_of_answer(text: str, rules: ChatRules) -> dict[str, Any]:
    return {"content": text} if text else _NO_TEXT[rules.no_text]


_NO_TEXT: dict[str, dict[str, Any]] = {"null": {"content": None}, "empty": {"content": ""}, "absent": {}}


def _thinking(place: str, thoughts: str, text: str) -> dict[str, Any]:
    match place:
        case "<think>":
            return {"content": f"{OPEN}\n{thoughts}\n{CLOSE}\n\n{text}"}
        case "thinking":
            said = [{"type": "text", "text": text}] if text else []
            return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": thoughts}]}, *said]}
        case _:
            return {place: thoughts}


def call_id(item: Lowered, rules: ChatRules) -> str | None:
    """The id of a call as the server takes it: a function of the client's id alone, so that call and output agree."""
    given, limit = item.call_id, rules.call_id_limit
    if given is None or not limit:
        return given
    fits = len(given) == limit and given.isascii() and given.isalnum() if rules.call_ids_exact else len(given) <= limit
    return given if fits else hashlib.sha256(given.encode("utf-8", "backslashreplace")).hexdigest()[:limit]


def _thoughts(item: Lowered) -> list[str]:
    view = item_views.read(item.document, item.where)
    if not isinstance(view, item_views.Reasoning):
        return []
    return [part.text for part in (view.content or view.summary) if part.text]


def _arguments(spelled: Raw, where: str, fold: _Fold) -> Raw | str:
    """Arguments as strict servers want them: a string that holds a JSON object. What a model got wrong once must not end its thread."""
    text = json.text(spelled)
    if not text.strip():
        return "{}"
    try:
        json.fields(text.encode())
    except ValueError:
        fold.notes.append(Note(Kind.REPAIRED, f"{where}.arguments", "not a JSON object"))
        return json.encode({"arguments": text}).decode()
    return spelled


def _content(parts: list[Part], where: str, fold: _Fold) -> str | list[dict[str, Any]]:
    """A person's message: the parts that the dialect takes, and plain text where nothing else is left."""
    made: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        if (one := _part(part, fold.rules)) is not None:
            made.append(one)
        else:
            fold.notes.append(Note(Kind.DROPPED, f"{where}[{number}]", f"{part.type} cannot stand there"))
    if all(one["type"] == "text" for one in made):
        return "\n\n".join(one["text"] for one in made if one["text"])
    return made


def _part(part: Part, rules: ChatRules) -> dict[str, Any] | None:
    match part.type:
        case kind if kind in TEXT_PARTS:
            return {"type": "text", "text": part.text or part.refusal or ""}
        case "input_image" if rules.images and (url := _image_url(part, rules)):
            detail = _DETAILS.get(part.detail or "", part.detail)
            return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}
        case "input_file" if rules.files and (part.file_data or part.file_id):
            named = {"file_data": part.file_data, "file_id": part.file_id, "filename": part.filename}
            return {"type": "file", "file": {name: value for name, value in named.items() if value}}
        case "input_audio" if rules.audio and len(memoryview(part.input_audio)):
            return {"type": "input_audio", "input_audio": part.input_audio}
        case _:
            return None


def _image_url(part: Part, rules: ChatRules) -> Raw | None:
    """The image's address, if it is of a kind that the server takes; some clients wrap it in an object as Chat Completions does."""
    given = part.image_url
    if len(memoryview(given)) and json.is_object(given):
        given = Document(given).members.get("url", Raw(b""))
    if not len(memoryview(given)) or not json.is_text(given):
        return None
    beginning = bytes(memoryview(given)[1:_LONGEST_SCHEME]).decode(errors="replace").lower()
    return given if beginning.startswith(rules.image_urls) else None


_LONGEST_SCHEME = 64
