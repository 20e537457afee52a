"""A gateway as far as commands look at one: who it is and which models it has. On a socket, with the bytes a test gives it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODELS = b'{"object":"list","data":[{"id":"small"},{"id":"large"}],"models":[{"slug":"small"},{"slug":"large"}]}'
ANTIPHON: Mapping[str, bytes] = {
    "/version": b'{"name":"antiphon","version":"0"}',
    "/health": b'{"status":"ok"}',
    "/v1/models": MODELS,
}


@contextmanager
def answering(pages: Mapping[str, bytes] = ANTIPHON) -> Iterator[str]:
    """Its URL, for as long as the context is open."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.end_headers()
            self.wfile.write(page or b"{}")

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            serving.join()
