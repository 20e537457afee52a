"""Events of a Responses server, as it spells them."""

import json
from typing import Any

from antiphon.protocol import sse
from antiphon.protocol.event_views import RUN_MARKS, Event, Run, of_frame

Json = dict[str, Any]


def event(type: str, **members: Any) -> Event:
    """An event of our own making."""
    return Event.made(type, members)


def frame(type: str, **members: Any) -> bytes:
    return f"event: {type}\ndata: {json.dumps({'type': type, **members}, separators=(',', ':'))}\n\n".encode()


def arrived(data: bytes, *, runs: bool = False) -> list[Event | Run]:
    """Events as they come over the wire; `runs`: deltas of one kind together."""
    frames = sse.Decoder(runs=RUN_MARKS if runs else ()).feed(data)
    return [Run(each) if isinstance(each, sse.Run) else of_frame(each) for each in frames]


def read(event: Event) -> Json:
    return json.loads(bytes(event))
