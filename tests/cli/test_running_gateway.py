"""Who counts as a running gateway, against prepared answers."""

import socket
import threading

import pytest

from antiphon.cli.running_gateway import NoGateway, address, fetch, is_running
from tests.cli.stub_gateway import ANTIPHON, answering

pytestmark = pytest.mark.requirement("cli.codex-overrides")

OTHERS = {
    "another server": {"/health": b'{"status":"ok"}'},
    "another name": {**ANTIPHON, "/version": b'{"version":"0.1"}'},
    "no JSON": {**ANTIPHON, "/version": b"<html>"},
    "no object": {**ANTIPHON, "/version": b'["antiphon"]'},
    "not healthy": {"/version": ANTIPHON["/version"]},
}


def test_antiphon_is_recognised() -> None:
    with answering() as url:
        assert is_running(url)
        assert fetch(url, "/v1/models").elements("data")


@pytest.mark.parametrize("pages", OTHERS.values(), ids=OTHERS)
def test_others_are_not(pages: dict[str, bytes]) -> None:
    with answering(pages) as url:
        assert not is_running(url)


def test_nobody_is_not() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = address("127.0.0.1", taken.getsockname()[1])
        assert not is_running(url)
        with pytest.raises(NoGateway, match="no gateway answers at"):
            fetch(url, "/v1/models")


@pytest.mark.parametrize(
    "bytes_", [b"", b"no http\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"], ids=["closed", "no HTTP", "cut"]
)
def test_what_breaks_off_is_not(bytes_: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(bytes_)

        answering_once = threading.Thread(target=answer)
        answering_once.start()
        assert not is_running(address("127.0.0.1", listening.getsockname()[1]))
        answering_once.join(10)


def test_an_ipv6_address_is_put_in_brackets() -> None:
    assert address("::1", 8787) == "http://[::1]:8787"
