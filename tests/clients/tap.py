"""Sees what the gateway answers its clients, byte for byte: an ASGI app around the gateway's."""

from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class Reply:
    """One answer. `client` is the key that the client sent: each has its own."""

    client: str
    path: str
    request: bytes = b""
    status: int = 0
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""


@dataclass(slots=True)
class Tap:
    """Keeps all answers."""

    replies: list[Reply] = field(default_factory=list[Reply])

    def around(self, app: ASGIApp) -> ASGIApp:
        async def tapped(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            reply = Reply(Headers(scope=scope).get("authorization", "").removeprefix("Bearer "), scope["path"])
            self.replies.append(reply)

            async def received() -> Message:
                message = await receive()
                reply.request += message.get("body", b"")
                return message

            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start":
                    reply.status, reply.headers = message["status"], Headers(raw=message["headers"])
                reply.body += message.get("body", b"")
                await send(message)

            await app(scope, received, sent)

        return tapped
