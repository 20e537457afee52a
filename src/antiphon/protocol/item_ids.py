"""Ids of the items of an answer: each tells which answer it was part of.

A client sends its history back with the ids it got. Where one answer broke off and another followed, only the ids say that a request was made in
between. Ids of other servers say nothing, and many clients send none.
"""

import re

_OURS = re.compile(r"[a-z]+_([0-9a-f]{48})_\d+")


def made(prefix: str, response_id: str, index: int) -> str:
    """The id of an answer's item by its place: `resp_X` has `msg_X_0`."""
    return f"{prefix}_{response_id.removeprefix('resp_')}_{index}"


def answer(id: str | None) -> str:
    """Which answer an item was part of; empty where its id does not say."""
    found = _OURS.fullmatch(id) if id else None
    return found[1] if found is not None else ""
