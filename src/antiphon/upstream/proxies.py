"""Which proxy stands on the way to a server, as settings and environment say. Pure.

The environment is read as other programs read it: small letters before capitals, `all_proxy` behind the proxy of the scheme, `no_proxy` by name,
by domain, by address or by network. This machine's own loopback is never reached through a proxy, whatever it says.
"""

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit


def proxy(url: str, setting: str, environ: Mapping[str, str]) -> str:
    """The proxy's URL; empty: none."""
    at = urlsplit(url)
    host = (at.hostname or "").rstrip(".")
    if setting == "none" or is_loopback(host):
        return ""
    if setting != "environment":
        return setting
    if _bypassed(host, at.port or {"http": 80, "https": 443}[at.scheme], _named("no_proxy", environ)):
        return ""
    found = _named(f"{at.scheme}_proxy", environ) or _named("all_proxy", environ)
    return (found if "://" in found else f"http://{found}") if found else ""


def named(environ: Mapping[str, str]) -> str:
    """The variable that names a proxy; empty: there is none."""
    names = (f"{scheme}_proxy" for scheme in ("https", "http", "all"))
    return next((spelled for name in names for spelled in (name, name.upper()) if environ.get(spelled)), "")


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this very machine."""
    return host.lower() == "localhost" or host.lower().endswith(".localhost") or _in_network(host, "127.0.0.0/8") or host == "::1"


def _named(name: str, environ: Mapping[str, str]) -> str:
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def _bypassed(host: str, port: int, no_proxy: str) -> bool:
    return any(_fits(host.lower(), port, entry.lower()) for entry in no_proxy.replace(",", " ").split())


def _fits(host: str, port: int, entry: str) -> bool:
    """Whether a `no_proxy` entry speaks of a host: `*`, a name and all names below it, an address, a network; each may have a port."""
    if entry == "*" or _in_network(host, entry):
        return True
    name, colon, only = entry.rpartition(":")
    if colon and only.isdigit() and ":" not in name.strip("[]"):
        return int(only) == port and _fits(host, port, name)
    name = entry.strip("[]").removeprefix("*").removeprefix(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _in_network(host: str, network: str) -> bool:
    try:
        return ip_address(host) in ip_network(network, strict=False)
    except ValueError:
        return False
