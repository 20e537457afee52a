"""Whose turn it is."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.upstream.turns import Turns

pytestmark = pytest.mark.requirement("network.fair-queue")


def queue(*names: str) -> Turns[str]:
    """Waiters such as `a1`: the first of thread `a`."""
    turns: Turns[str] = Turns()
    for name in names:
        turns.add(name[0], name)
    return turns


def drained(turns: Turns[str]) -> list[str]:
    found: list[str] = []
    while (waiter := turns.next(lambda _: True)) is not None:
        found.append(waiter)
    assert len(turns) == 0
    return found


def test_threads_take_turns_and_within_one_the_first_comes_first() -> None:
    assert drained(queue("a1", "a2", "a3", "b1", "c1", "b2")) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_who_leaves_holds_up_nobody() -> None:
    turns = queue("a1", "a2", "b1")
    turns.leave("a", "a1")
    turns.leave("b", "b1")
    turns.leave("b", "b1")
    turns.leave("c", "c1")
    assert drained(turns) == ["a2"]


def test_who_fits_is_taken_before_who_does_not() -> None:
    turns = queue("a1", "a2", "b1")
    assert turns.next(lambda waiter: waiter.endswith("2")) == "a2"
    assert turns.next(lambda waiter: waiter.endswith("2")) is None
    assert len(turns) == 2
    assert drained(turns) == ["b1", "a1"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=80))
def test_nobody_is_passed_by_a_thread_twice(steps: list[tuple[str, bool]]) -> None:
    """Between somebody's coming and its turn each other thread has at most one turn more than there are waiting before it in its own."""
    turns: Turns[tuple[str, int]] = Turns()
    numbers, came, served = count(), dict[tuple[str, int], tuple[int, int]](), list[tuple[str, int]]()
    ahead: dict[str, int] = {}
    for thread, serves in steps:
        waiter = (thread, next(numbers))
        came[waiter] = (len(served), ahead.get(thread, 0))
        turns.add(thread, waiter)
        ahead[thread] = ahead.get(thread, 0) + 1
        if serves and (taken := turns.next(lambda _: True)) is not None:
            served.append(taken)
            ahead[taken[0]] -= 1
    while (taken := turns.next(lambda _: True)) is not None:
        served.append(taken)
    for waiter, (since, before) in came.items():
        passed = [thread for thread, _ in served[since : served.index(waiter)]]
        for other in set("abcd") - {waiter[0]}:
            assert passed.count(other) <= before + 1
    assert sorted(served) == sorted(came)
