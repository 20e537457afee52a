"""Looks for model servers on this machine, on the ports they use when nobody says otherwise."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.protocol.errors import UpstreamError
from antiphon.upstream.access import Access
from antiphon.upstream.client import Client, Limits

SECONDS = 0.5


class Place(NamedTuple):
    """A port, and whose it usually is."""

    port: int
    server: str


PLACES = (Place(8080, "llama.cpp"), Place(8000, "vLLM"), Place(11434, "Ollama"), Place(1234, "LM Studio"), Place(30000, "SGLang"))


async def discover(*, not_port: int, places: Sequence[Place] = PLACES) -> tuple[Place, str] | None:
    """The first place where a model server answers, with its URL."""
    places = [place for place in places if place.port != not_port]
    found = await asyncio.gather(*(_answers(place) for place in places))
    return next(((place, url) for place, url in zip(places, found, strict=True) if url), None)


async def _answers(place: Place) -> str:
    url = f"http://127.0.0.1:{place.port}/v1"
    client = Client(Access(url), Limits(SECONDS, SECONDS))
    try:
        status, body = await client.get("/models", seconds=SECONDS)
        return url if status == 200 and b'"data"' in body else ""
    except UpstreamError:
        return ""
    finally:
        await client.close()
