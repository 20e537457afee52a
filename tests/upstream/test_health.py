"""How long a server is left alone."""

from math import inf

import pytest

from antiphon.upstream.health import LONGEST, LONGEST_TOLD, Health

pytestmark = pytest.mark.requirement("network.health")


def test_a_new_one_is_up_and_nobody_asks_it() -> None:
    health = Health()
    assert (health.is_up(0), health.ask_at, health.why) == (True, inf, "")
    assert health.succeeded() is False


def test_a_failure_is_a_pause_and_a_question_in_its_middle() -> None:
    health = Health()
    assert health.failed(100, "it answered 503") is True
    assert (health.is_up(100.9), health.is_up(101), health.ask_at, health.why) == (False, True, 100.5, "it answered 503")


def test_requests_that_fail_together_count_once() -> None:
    health = Health()
    assert [health.failed(100 + n / 1000, "x") for n in range(500)] == [True] + [False] * 499
    assert health.is_up(101)


def test_pauses_grow_while_it_goes_on_failing_up_to_a_bound() -> None:
    health, now, pauses = Health(), 0.0, list[float]()
    for _ in range(8):
        health.failed(now, "x")
        pauses.append((health.ask_at - now) * 2)
        now += pauses[-1]
    assert pauses == [1, 2, 4, 8, 16, LONGEST, LONGEST, LONGEST]


def test_it_stays_down_while_it_does_not_answer_the_question() -> None:
    health = Health()
    health.failed(0, "x")
    health.unanswered(0.5, "still not")
    assert (health.is_up(1), health.is_up(2.5), health.why) == (False, True, "still not")


def test_an_answer_to_the_question_ends_the_pause_but_not_the_counting() -> None:
    health = Health()
    health.failed(0, "x")
    assert (health.answers(), health.is_up(0.5), health.ask_at) == (True, True, inf)
    health.failed(0.6, "x")
    assert (health.is_up(2.5), health.is_up(2.6)) == (False, True)


def test_an_answered_request_ends_all() -> None:
    health = Health()
    health.failed(0, "x")
    assert health.succeeded() is True
    health.failed(0.6, "x")
    assert health.is_up(1.6)


def test_its_own_word_counts_up_to_a_bound_and_it_is_not_asked_before() -> None:
    health = Health()
    health.failed(0, "x", told=7)
    assert (health.is_up(6.9), health.is_up(7), health.ask_at) == (False, True, inf)
    health.failed(10, "x", told=inf)
    assert health.is_up(10 + LONGEST_TOLD)
