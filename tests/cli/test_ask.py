"""`antiphon ask` against prepared bytes on a socket."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from click.testing import CliRunner, Result

from antiphon.cli.ask import ask

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
MODELS = b'{"object":"list","data":[{"id":"small","object":"model"}],"models":[]}'
DELTA = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"%b"}\n\n'
COMPLETED = b'data: {"type":"response.completed","response":{"id":"resp_1","model":"small-1.5"}}\n\n'


def reply(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nconnection: close\r\n\r\n" + body


class Server:
    """Answers one connection after another with the next of its replies; keeps the requests."""

    def __init__(self, replies: tuple[bytes, ...]) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(10)
        self._replies = replies
        self.requests: list[bytes] = []
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def serve(self) -> None:
        with self._listening:
            for each in self._replies:
                connection, _ = self._listening.accept()
                with connection:
                    self.requests.append(self._read(connection))
                    connection.sendall(each)

    @staticmethod
    def _read(connection: socket.socket) -> bytes:
        held = b""
        while b"\r\n\r\n" not in held:
            held += connection.recv(65536)
        head, _, body = held.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        while length and len(body) < int(length[1]):
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body


@contextmanager
def answering(*replies: bytes) -> Iterator[Server]:
    server = Server(replies)
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield server
    thread.join(10)
    assert not thread.is_alive()


def asked(url: str, *flags: str) -> Result:
    return CliRunner().invoke(ask, ["--url", url, *flags, "Who is there?"])


@pytest.mark.requirement("cli.ask")
def test_prints_the_answer_and_who_gave_it() -> None:
    with answering(reply(MODELS), reply(DELTA % b"Hello " + DELTA % b"you" + COMPLETED)) as server:
        result = asked(server.url)
    assert result.stdout == "Hello you\n"
    assert result.stderr == "(answered by small-1.5)\n"
    assert result.exit_code == 0
    assert server.requests[0].startswith(b"GET /v1/models HTTP/1.1\r\n")
    assert server.requests[1].startswith(b"POST /v1/responses HTTP/1.1\r\n")
    assert server.requests[1].endswith(b'{"model":"small","input":"Who is there?","stream":true}')


def test_asks_the_model_that_is_named() -> None:
    with answering(reply(DELTA % b"Yes" + COMPLETED)) as server:
        result = asked(f"{server.url}/v1/", "--model", "large")
    assert result.stdout == "Yes\n"
    assert b'"model":"large"' in server.requests[0]


FAILURES = {
    "refused": (reply(b'{"error":{"message":"no such model","type":"x"}}', b"400 Bad Request"), "HTTP 400: no such model"),
    "not JSON": (reply(b"<h1>Bad gateway</h1>", b"502 Bad Gateway"), "HTTP 502: <h1>Bad gateway</h1>"),
    "failed in the stream": (
        reply(DELTA % b"He" + b'data: {"type":"response.failed","response":{"error":{"code":"x","message":"out of memory"}}}\n\n'),
        "out of memory",
    ),
    "ended early": (reply(DELTA % b"He"), "the stream ended before the answer did"),
    "broken off": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nevent", "the connection broke in the middle of the answer"),
}


@pytest.mark.requirement("cli.ask")
@pytest.mark.parametrize(("answer", "told"), FAILURES.values(), ids=FAILURES)
def test_anything_but_a_whole_answer_is_an_error(answer: bytes, told: str) -> None:
    with answering(answer) as server:
        result = asked(server.url, "--model", "small")
    assert result.exit_code == 1
    assert told in result.stderr


def test_a_cut_answer_says_so() -> None:
    incomplete = (
        b'data: {"type":"response.incomplete","response":{"model":"small","incomplete_details":{"reason":"max_output_tokens"}}}\n\n'
    )
    with answering(reply(DELTA % b"Once upon" + incomplete)) as server:
        result = asked(server.url, "--model", "small")
    assert result.stdout == "Once upon [cut short]\n"
    assert result.exit_code == 0


def test_no_models_is_told() -> None:
    with answering(reply(b'{"object":"list","data":[]}')) as server:
        result = asked(server.url)
    assert "lists no model" in result.stderr


def test_no_gateway_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    result = asked(url)
    assert result.exit_code == 1
    assert "antiphon serve" in result.stderr


@pytest.mark.parametrize("url", ["ftp://x", "http://"])
def test_a_url_that_is_none_is_told(url: str) -> None:
    assert "not an http URL" in asked(url).stderr
