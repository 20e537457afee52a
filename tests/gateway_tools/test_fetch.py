"""What a request, a model or a page may send the gateway to fetch, and what not: each way in that is known, tried."""

import asyncio
import gzip
import socket
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from antiphon.gateway_tools.addresses import NotAllowed, checked, is_public
from antiphon.gateway_tools.fetch import Fetched, Fetcher, FetchFailed, Limits, PublicOnly

pytestmark = pytest.mark.requirement("security.fetch")


REFUSED = [
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/x",
    "http://127.255.255.254/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://127.0.0.1./",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://0xA9FEA9FE/",
    "http://198.18.0.1/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://intranet/",
    "http://１２７.0.0.1/",
    "http://ⓛocalhost/",
    "http://user@8.8.8.8/",
    "http://user:secret@8.8.8.8/",
    "http://8.8.8.8@127.0.0.1/",
    "http://127.0.0.1\\@8.8.8.8/",
    "http://8.8.8.8\t@127.0.0.1/",
    "http://exa mple.com/",
    "http://example.com\r\nHost: 127.0.0.1/",
    "http:///etc/passwd",
    "http://",
    "//127.0.0.1/",
    "file:///etc/passwd",
    "ftp://8.8.8.8/",
    "gopher://127.0.0.1:6379/_INFO",
    "data:text/html,hi",
    "javascript:alert(1)",
    "unix:///var/run/docker.sock",
    "http://example.com:99999/",
    "http://[::1",
    "http://example.com/" + "x" * 9000,
]


class Names(AbstractResolver):
    """A resolver that a test writes: each look at a name takes the next of its answers, the last for ever."""

    def __init__(self, names: Mapping[str, list[list[str]]]) -> None:
        self._names = {name: list(answers) for name, answers in names.items()}
        self.looks: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:
        self.looks.append(host)
        answers = self._names[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        kind = {True: socket.AF_INET6, False: socket.AF_INET}
        return [
            ResolveResult(hostname=host, host=one, port=port, family=kind[":" in one], proto=0, flags=socket.AI_NUMERICHOST)
            for one in found
        ]

    async def close(self) -> None:
        pass


def got(url: str, *, limits: Limits | None = None, allowed: tuple[str, ...] = (), names: Any = None, **asked: Any) -> Fetched:
    async def get() -> Fetched:
        fetcher = Fetcher(limits, allowed=allowed, resolver=None if names is None else Names(names))
        try:
            return await fetcher.get(url, **asked)
        finally:
            await fetcher.close()

    return asyncio.run(get())


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_leads_inside_is_refused_before_anything_is_asked(url: str) -> None:
    with pytest.raises(NotAllowed) as why:
        checked(url)
    assert "secret" not in str(why.value)
    with pytest.raises(FetchFailed, match="not allowed") as refused:  # what the rules let through would find no such name
        got(url, names={})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.1.2.3", "192.168.0.1"], ["169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"], ["fd00::1"]]
)
def test_a_name_that_leads_inside_is_refused(addresses: list[str]) -> None:
    with pytest.raises(FetchFailed, match="not allowed"):
        got("http://rebound.example.com:1/", names={"rebound.example.com": [addresses]})


def test_only_the_public_ones_among_a_names_addresses_are_connected_to() -> None:
    """A name that leads elsewhere at its second look gains nothing: nothing looks a second time."""
    mixed = Names({"mixed.example.com": [["127.0.0.1", "8.8.8.8", "10.0.0.1", "2001:4860:4860::8888", "::1"]]})
    found = asyncio.run(PublicOnly(mixed).resolve("mixed.example.com", 80))
    assert [one["host"] for one in found] == ["8.8.8.8", "2001:4860:4860::8888"]


@pytest.mark.parametrize(
    "place", ["http://127.0.0.1:1/", "http://169.254.169.254/", "file:///etc/passwd", "//[::1]/", "http://user:pw@8.8.8.8/"]
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_judged_like_the_first_url(place: str, status: int) -> None:
    async def redirected() -> None:
        async with _Pages({"/start": _answer(status, b"", location=place)}) as pages:
            fetcher = Fetcher(allowed=[f"{pages.url}/start"])
            try:
                await fetcher.get(f"{pages.url}/start")
            finally:
                await fetcher.close()

    with pytest.raises(FetchFailed, match="not allowed"):
        asyncio.run(redirected())


@pytest.mark.parametrize("path", ["/started", "/start/../secret", "/", "/secret"])
def test_what_is_allowed_is_that_place_and_what_is_below_it(path: str) -> None:
    async def near() -> None:
        async with _Pages({}) as pages:
            fetcher = Fetcher(allowed=[f"{pages.url}/start"])
            try:
                await fetcher.get(f"{pages.url}{path}")
            finally:
                await fetcher.close()

    with pytest.raises(FetchFailed, match="not allowed"):
        asyncio.run(near())


PAGES: dict[str, tuple[bytes, Limits, str]] = {
    "too-large": (b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + b"x" * 5000, Limits(size=1000), "larger than 1000"),
    "bomb": (
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n" + gzip.compress(b"\0" * 50_000_000),
        Limits(size=1_000_000),
        "larger than",
    ),
    "type": (b"HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 1\r\n\r\nx", Limits(), "its type is video/mp4"),
    "no-http": (b"hello there\r\n\r\n", Limits(), "does not answer as HTTP"),
    "cut": (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc", Limits(), "broke off"),
    "silent": (b"", Limits(seconds=0.3), "no answer within"),
    "loop": (b"HTTP/1.1 302 X\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n", Limits(), "more than 5 redirects"),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_is_no_use_ends_in_words(name: str) -> None:
    answer, limits, words = PAGES[name]

    async def get() -> None:
        async with _Pages({f"/{name}": answer}) as pages:
            fetcher = Fetcher(limits, allowed=[pages.url])
            try:
                await fetcher.get(f"{pages.url}/{name}", types=("text/", "application/"))
            finally:
                await fetcher.close()

    with pytest.raises(FetchFailed, match=words):
        asyncio.run(get())


def test_a_page_that_the_configuration_allows_is_fetched_and_its_redirects_followed() -> None:
    async def get() -> Fetched:
        answers = {
            "/a": _answer(302, b"", location="/b?x=1"),
            "/b?x=1": _answer(200, "<p>schön</p>".encode("latin-1"), content_type="text/html; charset=latin-1"),
        }
        async with _Pages(answers) as pages:
            fetcher = Fetcher(allowed=[pages.url])
            try:
                return await fetcher.get(f"{pages.url}/a", types=("text/html",))
            finally:
                await fetcher.close()

    page = asyncio.run(get())
    assert (page.status, page.type, page.charset, page.body.decode(page.charset)) == (200, "text/html", "latin-1", "<p>schön</p>")
    assert page.url.endswith("/b?x=1")


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2001:4860:4860::8888", "2606:4700::1111"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


def _answer(status: int, body: bytes, **headers: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status} X",
        f"content-length: {len(body)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class _Pages:
    """A web server that answers each path with the bytes a test gives, and a silent one with none."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        self._answers = answers
        self.url = ""

    async def __aenter__(self) -> "_Pages":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        answer = self._answers.get(head.split(b" ")[1].decode(), _answer(404, b""))
        writer.write(answer)
        if answer:
            writer.close()
        else:
            await reader.read()
            writer.close()
