"""A wire document: JSON that keeps the bytes it came in.

Requests, items, content parts, tools, events, responses: each is edited, never rebuilt. An unedited document is the same bytes; an edited
one is a new document in which every member that was not touched keeps its spelling: unknown fields, explicit nulls, `1.0` and `1e2`.
What Antiphon builds itself is a Document too, so that everything downstream works on one type.

Typed views (`item_views`, `request`, …) are for reading. They are never what is sent on. Below: `json`.
"""

from typing import Any, Final

from msgspec import Raw

from antiphon.protocol import json


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Given to `Document.but`, takes a member away."""


class Document:
    """One JSON object and the bytes it was spelled in."""

    __slots__ = ("_members", "_raw")

    def __init__(self, raw: bytes | Raw) -> None:
        self._raw = raw
        self._members: dict[str, Raw] | None = None

    @classmethod
    def of(cls, members: dict[str, Any]) -> "Document":
        """A document of our own making; values may be Documents, Raw, or plain Python."""
        return cls(json.encode({name: spelled(value) for name, value in members.items()}))

    @property
    def raw(self) -> Raw:
        """The spelling, for use inside another document without a copy."""
        return self._raw if isinstance(self._raw, Raw) else Raw(self._raw)

    def __bytes__(self) -> bytes:
        return bytes(self._raw)

    def __len__(self) -> int:
        return len(memoryview(self._raw))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({bytes(self)!r})"

    @property
    def members(self) -> dict[str, Raw]:
        """Name → spelled value. Opened at the first look; do not change it, use `but`."""
        if self._members is None:
            self._members = json.fields(self._raw)
        return self._members

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def get(self, name: str) -> Any:
        """A member's value in Python's types; None where it is absent or null."""
        raw = self.members.get(name)
        return None if raw is None else json.value(raw)

    def text(self, name: str) -> str | None:
        """A member that is a string; None where it is absent or anything else."""
        raw = self.members.get(name)
        return json.text(raw) if raw is not None and json.is_text(raw) else None

    def document(self, name: str) -> "Document | None":
        """A member that is an object; None where it is absent or anything else."""
        raw = self.members.get(name)
        return Document(raw) if raw is not None and json.is_object(raw) else None

    def elements(self, name: str) -> list[Raw]:
        """The elements of a member that is an array; empty where it is absent or anything else."""
        raw = self.members.get(name)
        return json.elements(raw) if raw is not None and json.is_array(raw) else []

    def objects(self, name: str) -> "list[Document]":
        """The objects among the elements of a member; whatever else stands there means nothing to anybody."""
        return [Document(raw) for raw in self.elements(name) if json.is_object(raw)]

    def but(self, /, **changes: Any) -> "Document":
        """This document with some members set, or taken away with `ABSENT`."""
        members: dict[str, Any] = dict(self.members)
        for name, value in changes.items():
            if value is ABSENT:
                members.pop(name, None)
            else:
                members[name] = spelled(value)
        return Document(json.encode(members))

    def own(self) -> "Document":
        """A copy that pins no larger body: a Raw keeps all the bytes it was cut from alive."""
        return Document(bytes(self._raw))


def spelled(value: Any) -> Any:
    """What the encoder can write: Documents, also inside lists, become their Raw."""
    if isinstance(value, Document):
        return value.raw
    if isinstance(value, list | tuple):
        return [spelled(element) for element in value]  # pyright: ignore[reportUnknownVariableType]
    return value
