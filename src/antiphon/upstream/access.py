"""How one server is reached: its URL, its proxy, whom it is trusted by, and what it is told with every request.

Built once, out of settings and environment; what cannot be (a certificate that is none) is refused then. Not here: speaking (`client`).
"""

import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlencode, urlsplit, urlunsplit

from antiphon.upstream import proxies
from antiphon.upstream_settings import BadConfig, UpstreamSettings


@dataclass(frozen=True, slots=True)
class Access:
    """The way to a server. `base` is its URL up to and with the version; `key` is what no answer may repeat."""

    base: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    key: str = ""
    proxy: str = ""
    tls: ssl.SSLContext | None = None

    def url(self, path: str, *, root: bool = False) -> str:
        """Where a path is; `root`: beside the version and not below it."""
        base = self.base.removesuffix("/v1") if root else self.base
        return f"{base}{path}?{self.query}" if self.query else f"{base}{path}"


def of(name: str, settings: UpstreamSettings, environ: Mapping[str, str]) -> Access:
    """The access that an upstream's table describes."""
    base, own = split_url(settings.url)
    key = environ.get(settings.key_env, "").strip() if settings.key_env else ""
    at = urlsplit(settings.url)
    return Access(
        base=base,
        query="&".join(filter(None, (own, urlencode(settings.query)))),
        headers={**_basic(at), **settings.headers, **_key_header(settings.key_header, key)},
        key=key or unquote(at.password or ""),
        proxy=_usable(name, proxies.proxy(base, settings.proxy, environ)),
        tls=_tls(name, settings) if base.startswith("https:") else None,
    )


def split_url(url: str) -> tuple[str, str]:
    """An upstream's URL up to and with the version (a bare host means its `/v1`), without a user's name; and the query that stood behind it."""
    at = urlsplit(url)
    path = at.path.rstrip("/") or "/v1"
    return urlunsplit((at.scheme, at.netloc.rpartition("@")[2], path, "", "")), at.query


def _basic(at: SplitResult) -> dict[str, str]:
    """The header for a name and password in a URL."""
    if at.username is None:
        return {}
    pair = f"{unquote(at.username)}:{unquote(at.password or '')}"
    return {"authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _key_header(header: str, key: str) -> dict[str, str]:
    if not key:
        return {}
    return {header: f"Bearer {key}" if header.lower() == "authorization" else key}


def _usable(name: str, proxy: str) -> str:
    kind = urlsplit(proxy).scheme
    if proxy and kind not in ("http", "https"):
        raise BadConfig(f"upstream {name}: the environment's proxy is of the kind {kind!r}; only http and https proxies can be used")
    return proxy


def _tls(name: str, settings: UpstreamSettings) -> ssl.SSLContext | None:
    """None: what everyone trusts."""
    if not (settings.ca_file or settings.client_cert or settings.insecure):
        return None
    context = ssl.create_default_context()
    if settings.ca_file:
        _load(name, "ca_file", settings.ca_file, lambda: context.load_verify_locations(settings.ca_file))
    if settings.client_cert:
        own = (settings.client_cert, settings.client_key or None)
        _load(name, "client_cert", settings.client_cert, lambda: context.load_cert_chain(*own, password=""))
    if settings.insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _load(name: str, setting: str, file: str, load: Callable[[], None]) -> None:
    try:
        load()
    except OSError as bad:  # ssl's own errors are some too
        why = "it is no PEM file that can be used" if isinstance(bad, ssl.SSLError) else bad.strerror
        raise BadConfig(f"upstream {name}: {setting} {file}: {why}") from None
