"""Many streams at once through a gateway process, some of which nobody reads to their end. At a size that any machine can do; no time is asserted."""

import sys

import pytest

from bench import streams
from bench.streams import Outcome, Size

pytestmark = [
    pytest.mark.requirement("http.many-streams"),
    pytest.mark.skipif(sys.platform != "linux", reason="the bench reads /proc, which only Linux has"),
]


async def whole(size: Size, api: str) -> Outcome:
    outcome = await streams.run(size, api=api)
    assert outcome.faults == []
    assert outcome.heard.told["wrong"] == 0
    assert outcome.heard.told["ended"] >= size.streams * (1 - size.dropped)
    assert outcome.heard.told["left"] > 0
    assert outcome.upstream["left"] > 0
    assert len(outcome.heard.late) >= outcome.heard.told["ended"] * size.words
    return outcome


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_hundred_streams_arrive_whole_and_none_is_left_behind(api: str) -> None:
    await whole(Size(streams=100, seconds=4, dropped=0.2), api)


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_thousand_streams_for_two_minutes(api: str) -> None:
    outcome = await whole(Size(streams=1000, seconds=120), api)
    assert outcome.memory <= streams.MEMORY_KB_TARGET
