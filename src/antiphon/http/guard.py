"""Who may speak to the gateway at all: no web page may, and nothing that reached it by a name that is not its own.

A page in the user's browser can send requests to loopback, and by a name that it points there itself it could read the answers too. So a request
with an `Origin` or `Referer` or from another site is refused, and so is a `Host` that is not loopback or the address listened on. Who listens beyond
loopback is called by names of all kinds, and asks for a key instead.
"""

from functools import lru_cache
from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.http import problems
from antiphon.protocol.errors import Forbidden

_TELLTALE = frozenset({b"origin", b"referer", b"sec-fetch-site"})
_FOREIGN_SITES = frozenset({"cross-site", "same-site"})


class Guard:
    """An ASGI app in front of another. `host` is the address listened on."""

    def __init__(self, app: ASGIApp, *, host: str) -> None:
        self._app = app
        self._host = host
        self._any_name = not is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await problems.answer(refusal.failure, {"connection": "close"})(scope, receive, send)

    def _refusal(self, scope: Scope) -> Forbidden | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _TELLTALE}
        host, *others = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"] or [""]
        if others or not self._is_own(_name_of(host)):
            return Forbidden(f"Host '{host[:100]}' is not this gateway's: use 127.0.0.1 or localhost.")
        origin = headers.get(b"origin")
        if origin is not None and origin.partition("://")[2] != host:
            return Forbidden("Requests from web pages are refused (Origin).")
        referrer = headers.get(b"referer")
        if referrer is not None and referrer.partition("://")[2].partition("/")[0] != host:
            return Forbidden("Requests from web pages are refused (Referer).")
        if headers.get(b"sec-fetch-site", "").lower() in _FOREIGN_SITES:
            return Forbidden("Requests from web pages are refused (Sec-Fetch-Site).")
        return None

    def _is_own(self, name: str) -> bool:
        return self._any_name or is_loopback(name) or name == self._host


@lru_cache(maxsize=256)
def is_loopback(name: str) -> bool:
    """Whether a host name or address means this very machine."""
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host
