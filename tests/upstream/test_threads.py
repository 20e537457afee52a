"""Whose request it is, from headers and body."""

import pytest

from antiphon.upstream import threads

NAMED = {
    "Codex of today": ({"thread-id": "t", "session-id": "s"}, "s", "t"),
    "a sub-agent shares the key of its session": ({"thread-id": "t2", "session-id": "s"}, "s", "t2"),
    "only the body": ({}, "key", "key"),
    "the body before a session": ({"session_id": "s"}, "key", "key"),
    "older Codex": ({"conversation_id": "c", "session_id": "s"}, "", "s"),
    "nobody": ({}, "", ""),
    "an empty header": ({"thread-id": ""}, "key", "key"),
    "far too long": ({"thread-id": "x" * 9000}, "", "x" * 200),
}


@pytest.mark.parametrize(("headers", "cache_key", "named"), NAMED.values(), ids=NAMED)
def test_a_requests_thread(headers: dict[str, str], cache_key: str, named: str) -> None:
    assert threads.key(headers, cache_key) == named
