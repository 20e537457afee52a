"""Which failures are tried again, where, and after how long."""

import pytest

from antiphon.protocol import failures
from antiphon.upstream.retrying import LONGEST_PAUSE, ROWS, Attempts, Outcome, Policy, without_answer

pytestmark = pytest.mark.requirement("network.retries")

LAZY = Policy()
KEEN = Policy(retries=2, longest_wait=3)
FINAL = ("200", "204", "301", "400", "401", "403", "404", "409", "422", "500", "501")


def attempts(*names: str, chance: float = 0.0) -> Attempts:
    return Attempts(names, lambda: chance)


@pytest.mark.parametrize("kind", FINAL)
def test_an_answer_that_would_be_the_same_again_is_the_last(kind: str) -> None:
    assert attempts("a", "b").after("a", Outcome(kind), KEEN) is None


@pytest.mark.parametrize("kind", ROWS)
def test_an_equal_upstream_is_tried_at_once_without_any_setting(kind: str) -> None:
    tried = attempts("a", "b", "c")
    assert tried.after("b", Outcome(kind), LAZY) == 0
    assert tried.untried == {"a", "c"}
    assert tried.after("c", Outcome(kind), LAZY) == 0
    assert tried.after("a", Outcome(kind), LAZY) is None


AGAIN = {kind: [0.25, 0.5] for kind in ROWS} | {"timeout": [], "429": []}


@pytest.mark.parametrize(("kind", "pauses"), AGAIN.items(), ids=AGAIN)
def test_the_same_upstream_is_tried_again_as_often_as_the_settings_say(kind: str, pauses: list[float]) -> None:
    tried = attempts("a")
    for pause in pauses:
        assert tried.after("a", Outcome(kind), KEEN) == pause
        assert tried.untried == {"a"}
    assert tried.after("a", Outcome(kind), KEEN) is None
    assert attempts("a").after("a", Outcome(kind), LAZY) is None


RETRY_AFTER: dict[tuple[str, str], float | None] = {
    ("429", "2"): 2,
    ("429", "0"): 0,
    ("429", "0.5"): 0.5,
    ("429", "3"): 3,
    ("429", "3.1"): None,
    ("503", "2"): 2,
    ("503", "60"): None,
    ("503", "-5"): None,
    ("503", "Wed, 21 Oct 2026 07:28:00 GMT"): None,
    ("503", "nan"): None,
}


@pytest.mark.parametrize(("told", "pause"), RETRY_AFTER.items(), ids=map(str, RETRY_AFTER))
def test_a_retry_after_is_waited_for_where_it_is_short_enough(told: tuple[str, str], pause: float | None) -> None:
    assert attempts("a").after("a", Outcome(*told), KEEN) == pause


def test_each_round_tries_all_of_them() -> None:
    tried = attempts("a", "b")
    got = [tried.after(name, Outcome("503"), Policy(retries=1)) for name in ("a", "b", "b", "a")]
    assert got == [0, 0.25, 0, None]


def test_pauses_are_bounded_and_scattered() -> None:
    tried, endless = attempts("a"), Policy(retries=100)
    pauses = [tried.after("a", Outcome("502"), endless) for _ in range(100)]
    assert pauses[:7] == [0.25, 0.5, 1, 2, 4, 8, LONGEST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE
    assert attempts("a", chance=1.0).after("a", Outcome("502"), KEEN) == 0.125


KINDS = {
    "unreachable": failures.unreachable("x"),
    "timeout": failures.timed_out("x"),
    "closed": failures.ended_early("x"),
}


@pytest.mark.parametrize(("kind", "failure"), KINDS.items(), ids=KINDS)
def test_what_no_answer_means(kind: str, failure: failures.Failure) -> None:
    assert without_answer(failure) == Outcome(kind)
    assert without_answer(failure).is_failure
