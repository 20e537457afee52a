"""Whose request it is: the thread that it belongs to, as far as the client says. Pure.

Requests of one thread begin alike, so the server that answered the last one answers the next one sooner; and where requests must wait, threads
take turns. Codex names its thread in a header; its title request, its sub-agents and its reviews are threads of their own.
"""

from collections.abc import Mapping

HEADERS = ("thread-id", "session-id", "session_id", "conversation_id", "x-session-id")
"""Tried in this order; the older ones name a session, which is the next best thing."""
LONGEST = 200


def key(headers: Mapping[str, str], cache_key: str = "") -> str:
    """The thread's name; empty where the client gives none. The body's `prompt_cache_key` stands behind the first header, before the rest."""
    first, *older = HEADERS
    named = (headers.get(first), cache_key, *(headers.get(name) for name in older))
    return next((name for name in named if name), "")[:LONGEST]
