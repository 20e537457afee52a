"""How sure a chat model was of its words, in the Responses API's form. Not here: where they belong in the stream (`protocol.stream_builder`)."""

from typing import Any

import msgspec
from msgspec import Raw

from antiphon.protocol import json

WISH = "message.output_text.logprobs"
"""The client's word for them in `include`."""


class _Token(msgspec.Struct):
    token: str
    logprob: float
    bytes: list[int] | None = None
    top_logprobs: list["_Token"] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


_READER = json.reader(_Logprobs | None)


def read(spelled: Raw) -> list[dict[str, Any]]:
    """The tokens of a choice; empty where a server tells them in another form."""
    try:
        told = json.view(spelled, _READER)
    except ValueError:
        return []
    return [
        _told(token) | {"top_logprobs": [_told(other) for other in token.top_logprobs or ()]} for token in (told and told.content) or ()
    ]


def _told(token: _Token) -> dict[str, Any]:
    spelled = token.bytes if token.bytes is not None else list(token.token.encode())
    return {"token": token.token, "logprob": token.logprob, "bytes": spelled}
