"""Once a key exists, every route but `/health` needs one. What is kept belongs to the key that made it.

The key goes no further than this: no upstream, no log and no store ever sees it.
"""

from collections.abc import Set

from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.http import caller, problems
from antiphon.http.caller import Caller
from antiphon.http.keyring import Keyring
from antiphon.http.limits import Limits, Slot
from antiphon.loop.ports import Key, StoreFailed
from antiphon.protocol.errors import AntiphonError, Unauthorized

OPEN = frozenset({"/health"})
_CHALLENGE = {"www-authenticate": "Bearer"}
_NONE = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth"
    " (i.e. Authorization: Bearer YOUR_KEY). Keys are made with: antiphon keys add NAME."
)


class Auth:
    """An ASGI app in front of another. `always`: a key is needed even where none exists; `counted` are the paths whose POSTs count for its limits."""

    def __init__(self, app: ASGIApp, keyring: Keyring, *, always: bool, counted: Set[str]) -> None:
        self._app, self._keyring = app, keyring
        self._always, self._counted = always, counted
        self._limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        try:
            key = await self._key(scope)
            slot = self._limits.admit(key) if key is not None and self._counts(scope) else None
        except (AntiphonError, StoreFailed) as refused:
            failure = problems.told(refused)
            await problems.answer(failure, _CHALLENGE if failure.status == 401 else None)(scope, receive, send)
            return
        if key is not None:
            caller.put(scope, Caller(key.id, key, slot))
        await self._passed(scope, receive, send, slot)

    async def _passed(self, scope: Scope, receive: Receive, send: Send, slot: Slot | None) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            if slot is not None and not slot.outlives:
                slot.free()

    def _counts(self, scope: Scope) -> bool:
        return scope["method"] == "POST" and scope["path"] in self._counted

    async def _key(self, scope: Scope) -> Key | None:
        """The key of a request, taken out of it; None where none is needed. Raises Unauthorized."""
        if not self._keyring.is_fresh:
            await self._keyring.look()
        if self._keyring.is_empty and not self._always:
            return None
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, secret = (given[0] if len(given) == 1 else b"").decode("latin-1").strip().partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise Unauthorized(_NONE, code="missing_api_key")
        key = self._keyring.find(secret.strip())
        if key is None:
            raise Unauthorized("Incorrect API key provided. Keys are listed with: antiphon keys list.")
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
        return key
