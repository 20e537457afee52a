"""Waiting for a place at an upstream, in one loop and without a clock."""

import asyncio
from dataclasses import dataclass, field

import pytest

from antiphon.protocol.errors import UpstreamError
from antiphon.upstream.choice import Standing
from antiphon.upstream.line import Line

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("network.fair-queue")]


@dataclass
class Upstreams:
    """Upstreams by name, each with the most that it takes at once."""

    limits: dict[str, int]
    down: set[str] = field(default_factory=set[str])

    def line(self, longest: int = 100) -> Line:
        return Line(list(self.limits), self.standing, longest=longest)

    def standing(self, name: str, running: int) -> Standing:
        return Standing(name, name not in self.down, running, self.limits[name])


class Asking:
    """Requests as tasks, which tell in which order they got a place."""

    def __init__(self, line: Line, names: str = "x") -> None:
        self.line, self.names = line, names
        self.got: list[str] = []
        self.tasks: dict[str, asyncio.Task[str]] = {}

    async def come(self, *requests: str) -> None:
        """Requests such as `a1`: the first of thread `a`."""
        for request in requests:
            self.tasks[request] = asyncio.create_task(self._take(request))
        await settled()

    async def _take(self, request: str) -> str:
        name = await self.line.take(request[0], set(self.names))
        self.got.append(request)
        return name

    async def go(self, request: str) -> None:
        """Done with it, or no longer waiting for it."""
        task = self.tasks.pop(request)
        if task.done():
            self.line.leave(task.result())
        else:
            task.cancel()
        await settled()


async def settled() -> None:
    """Every task went as far as it can without the others."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_threads_take_turns_at_one_place() -> None:
    line = Upstreams({"x": 1}).line()
    asking = Asking(line)
    await asking.come("a1", "a2", "a3", "b1", "c1")
    assert (asking.got, line.waiting, line.running("x")) == (["a1"], 4, 1)
    for served in ("a1", "a2", "b1", "c1"):
        await asking.go(served)
    assert asking.got == ["a1", "a2", "b1", "c1", "a3"]
    await asking.go("a3")
    assert (line.running("x"), line.waiting) == (0, 0)


async def test_who_leaves_while_waiting_frees_its_place_in_the_line() -> None:
    line = Upstreams({"x": 1}).line()
    asking = Asking(line)
    await asking.come("a1", "b1", "c1")
    await asking.go("b1")
    assert line.waiting == 1
    await asking.go("a1")
    assert asking.got == ["a1", "c1"]


async def test_who_leaves_at_the_moment_of_its_turn_passes_it_on() -> None:
    line = Upstreams({"x": 1}).line()
    asking = Asking(line)
    await asking.come("a1", "b1", "c1")
    gone = asking.tasks["b1"]
    line.leave("x")  # it is b's turn, and b is told in the next round of the loop
    gone.cancel()
    await settled()
    assert asking.got == ["a1", "c1"]
    assert (line.running("x"), line.waiting) == (1, 0)


async def test_who_has_left_already_is_given_nothing() -> None:
    line = Upstreams({"x": 1}).line()
    asking = Asking(line)
    await asking.come("a1", "b1", "c1")
    asking.tasks["b1"].cancel()  # it does not know yet
    line.leave("x")
    await settled()
    assert asking.got == ["a1", "c1"]
    assert (line.running("x"), line.waiting) == (1, 0)


async def test_a_line_that_is_full_says_when_to_come_again() -> None:
    line = Upstreams({"x": 1}).line(longest=2)
    asking = Asking(line)
    await asking.come("a1", "b1", "c1")
    with pytest.raises(UpstreamError) as refused:
        await line.take("d", {"x"})
    failure = refused.value.failure
    assert (failure.status, failure.code, failure.retry_after) == (429, "rate_limit_exceeded", "10")
    assert (line.waiting, line.running("x")) == (2, 1)


async def test_no_limit_is_no_line() -> None:
    line = Upstreams({"x": 0}).line(longest=0)
    asking = Asking(line)
    await asking.come(*(f"a{n}" for n in range(50)))
    assert line.running("x") == 50


async def test_the_place_of_any_equal_upstream_will_do() -> None:
    line = Upstreams({"x": 1, "y": 1}).line()
    asking = Asking(line, "xy")
    await asking.come("a1", "b1", "c1", "d1")
    assert {asking.tasks["a1"].result(), asking.tasks["b1"].result()} == {"x", "y"}
    await asking.go("b1")
    assert asking.got == ["a1", "b1", "c1"]


async def test_a_request_for_one_of_them_waits_for_that_one() -> None:
    line = Upstreams({"x": 1, "y": 1}).line()
    only, any_ = Asking(line, "x"), Asking(line, "xy")
    await only.come("a1", "a2")
    await any_.come("b1")
    assert any_.tasks["b1"].result() == "y"
    await any_.go("b1")
    assert only.got == ["a1"]
    await only.go("a1")
    assert only.got == ["a1", "a2"]


async def test_one_that_is_down_is_given_only_where_all_are() -> None:
    upstreams = Upstreams({"x": 1, "y": 1}, down={"y"})
    line = upstreams.line()
    asking = Asking(line, "xy")
    await asking.come("a1", "b1")
    assert asking.got == ["a1"]
    upstreams.down = {"x", "y"}
    line.settle()
    await settled()
    assert asking.tasks["b1"].result() == "y"


async def test_one_that_comes_up_serves_who_waits() -> None:
    upstreams = Upstreams({"x": 1, "y": 2}, down={"y"})
    line = upstreams.line()
    asking = Asking(line, "xy")
    await asking.come("a1", "b1", "c1", "d1")
    upstreams.down = set()
    line.settle()
    await settled()
    assert (asking.got, line.waiting) == (["a1", "b1", "c1"], 1)


@pytest.mark.requirement("network.affinity")
async def test_a_thread_goes_back_to_where_it_was() -> None:
    line = Upstreams({"x": 0, "y": 0, "z": 0}).line()
    asking = Asking(line, "xyz")
    await asking.come("a1", "b1", "c1")
    first = {thread: asking.tasks[f"{thread}1"].result() for thread in "abc"}
    assert set(first.values()) == set("xyz")  # each to one with nothing to do
    for thread in "abc":
        await asking.go(f"{thread}1")
    await asking.come("c2", "a2", "b2", "a3")
    assert {request: asking.tasks[request].result() for request in ("a2", "a3", "b2", "c2")} == {
        "a2": first["a"],
        "a3": first["a"],
        "b2": first["b"],
        "c2": first["c"],
    }
