"""Responses for a store, made small."""

import json
from typing import Any

from antiphon.loop.ports import Before, Entry
from antiphon.protocol import response
from antiphon.protocol.document import Document

OWNER = "local"
count = 0


def new_id(prefix: str = "resp") -> str:
    global count  # noqa: PLW0603 - ids of one test run
    count += 1
    return f"{prefix}_{count:032x}"


def said(role: str, text: str, **more: Any) -> bytes:
    return json.dumps({"type": "message", "role": role, "content": text, **more}).encode()


def entry(text: str = "hi", *, behind: Before | None = None, parent: str | None = None, **more: Any) -> Entry:
    """A response that answers `text` with `re: text`."""
    id = more.pop("id", None) or new_id()
    status = more.pop("status", "completed")
    created = more.pop("created_at", 1_790_000_000)
    output = more.pop("output", [said("assistant", f"re: {text}", id=new_id("msg"))])
    request = Document.of(more.pop("request", {"model": "m"}))
    made = response.begun(request, id=id, now=created).but(
        status=status,
        previous_response_id=parent,
        output=[Document(item) for item in output],
        usage={"input_tokens": 3, "output_tokens": 4},
    )
    return Entry(
        id=id, owner=more.pop("owner", OWNER), created_at=created, status=status, input=more.pop("input", [said("user", text)]),
        response=bytes(made), parent=parent, behind=None if behind is None else behind.place, **more,
    )  # fmt: skip


def texts(before: Before | None) -> list[str]:
    assert before is not None
    return [json.loads(item.data)["content"] for item in before.items]
