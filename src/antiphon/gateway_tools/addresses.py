"""Where a URL that came from outside may lead: to public addresses, by HTTP, and nowhere else. Pure.

What a request, a model or a page names must not reach the machine the gateway runs on, its network, or a cloud's metadata service. A name says
nothing of where it leads, and may lead elsewhere at the next look; so the URL is judged by `checked`, and every address that is about to be
connected to by `is_public`. URLs that stand in the configuration are the user's own and are not judged.

Not here: resolving, connecting, redirects (`fetch`).
"""

import re
import unicodedata
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

SCHEMES = frozenset({"http", "https"})
LONGEST = 8_192
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = IPv6Network("::/96")
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
"""Of special use, though Python's `is_global` says otherwise of some of their addresses; a cloud has its metadata service in one."""
_NUMBERS = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}\.?", re.IGNORECASE)
_OUTSIDE = re.compile(r"[\x00-\x20\x7f\\]")


class NotAllowed(ValueError):
    """A URL or an address that nobody outside may send the gateway to; the message says why, without what else the URL holds."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, however it is wrapped."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return _is_public(found)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        special, inner = any(address in network for network in _SPECIAL), []
    else:
        special, inner = address.is_site_local, _inside(address)
    return address.is_global and not (special or address.is_multicast or address.is_reserved) and all(map(_is_public, inner))


def _inside(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for: mapped, compatible, translated, or tunnelled to."""
    last = IPv4Address(int(address) & 0xFFFFFFFF)
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        found.append(last)
    return [one for one in found if one is not None]


def checked(url: str) -> SplitResult:
    """The parts of a URL that may be followed, as far as the URL itself can tell. Raises NotAllowed."""
    if len(url) > LONGEST:
        raise NotAllowed(f"a URL of more than {LONGEST} characters")
    if _OUTSIDE.search(url):
        raise NotAllowed("a URL with blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise NotAllowed("not a URL") from None
    if parts.scheme not in SCHEMES:
        raise NotAllowed("only http and https URLs are followed")
    if "@" in parts.netloc:
        raise NotAllowed("a URL with a user name or password in it")
    if not host:
        raise NotAllowed("a URL without a host")
    _check_host(host)
    return parts


def _check_host(host: str) -> None:
    name = unicodedata.normalize("NFKC", host).rstrip(".").lower()
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal", ".home.arpa", ".onion")):
        raise NotAllowed("a name of this machine or its own network")
    if ":" in name or _NUMBERS.fullmatch(name):  # an address: as such, or in a spelling that only resolvers read (0x7f.1, 2130706433)
        if not is_public(name):
            raise NotAllowed("an address that is not public, or is spelled in an unusual way")
    elif "." not in name:
        raise NotAllowed("a name without a domain")
