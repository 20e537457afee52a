"""Which of equal upstreams is asked first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.upstream.choice import Kept, Standing, ranked

pytestmark = pytest.mark.requirement("network.affinity")


def one(name: str, *, up: bool = True, running: int = 0, limit: int = 0) -> Standing:
    return Standing(name, up, running, limit)


FIRST = {
    "nobody knows the thread: the first": ([one("a"), one("b")], "", None, "a"),
    "the one with the least to do": ([one("a", running=2), one("b", running=1)], "", None, "b"),
    "the one that answered before": ([one("a"), one("b", running=5)], "t", "b", "b"),
    "not where it is down": ([one("a"), one("b", up=False)], "t", "b", "a"),
    "not where it is full": ([one("a"), one("b", running=1, limit=1)], "t", "b", "a"),
    "full is better than down": ([one("a", up=False), one("b", running=1, limit=1)], "", None, "b"),
    "all down: still the one that answered before": ([one("a", up=False), one("b", up=False)], "t", "b", "b"),
    "one that is gone from the settings": ([one("a"), one("b")], "", "gone", "a"),
}


@pytest.mark.parametrize(("standings", "thread", "last", "first"), FIRST.values(), ids=FIRST)
def test_who_is_asked_first(standings: list[Standing], thread: str, last: str | None, first: str) -> None:
    assert ranked(standings, thread, last)[0].name == first


@given(st.text(min_size=1), st.permutations(["a", "b", "c"]))
def test_a_new_thread_goes_the_same_way_in_every_process(thread: str, order: list[str]) -> None:
    assert [s.name for s in ranked(map(one, order), thread, None)] == [s.name for s in ranked(map(one, "abc"), thread, None)]


def test_new_threads_are_spread() -> None:
    firsts = [ranked(map(one, "abc"), f"thread {n}", None)[0].name for n in range(300)]
    assert all(firsts.count(name) > 50 for name in "abc")


def test_only_the_latest_threads_are_kept() -> None:
    kept = Kept(most=2)
    for thread in ("x", "y", "x", "z"):
        kept.keep(thread, f"of {thread}")
    kept.keep("", "nobody's")
    assert [kept.get(thread) for thread in ("x", "y", "z", "")] == ["of x", None, "of z", None]
