"""Upstream names: inside the charset and limit, one for each (namespace, name), the same whenever they are asked for."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.tools import names
from antiphon.tools.names import NameRules

FIT = re.compile(r"[a-zA-Z0-9_-]{1,64}")
RULES = NameRules(64)
NAMESPACES = st.none() | st.text(min_size=1, max_size=80) | st.text("a_", min_size=1, max_size=4)
NAMES = st.text(min_size=1, max_size=80) | st.text("a_", min_size=1, max_size=4)


def best(namespace: str | None, name: str, rules: NameRules = RULES) -> str:
    return next(names.candidates(namespace, name, rules))


PLAIN = {
    "own name": (None, "exec_command", "exec_command"),
    "joined": ("mcp__sample", "tool_0", "mcp__sample__tool_0"),
    "a join of one": ("functions", "wait", "functions__wait"),
    "odd but fit": (None, "__proto__", "__proto__"),
    "as long as may be": (None, "n" * 64, "n" * 64),
    "no namespace is none": ("", "wait", "wait"),
}


@pytest.mark.parametrize(("namespace", "name", "upstream"), PLAIN.values(), ids=PLAIN)
def test_a_plain_name_stays_plain(namespace: str | None, name: str, upstream: str) -> None:
    assert best(namespace, name) == upstream


MADE = {
    "too long": (None, "n" * 65, r"n{55}_[0-9a-f]{8}"),
    "outside the charset": (None, "read file!", r"read_file__[0-9a-f]{8}"),
    "not ASCII": (None, "naïve", r"na_ve_[0-9a-f]{8}"),
    "ambiguous: the name divides too": ("a", "b__c", r"a__b__c_[0-9a-f]{8}"),
    "ambiguous: the name begins with _": ("a", "_b", r"a___b_[0-9a-f]{8}"),
    "ambiguous: the namespace ends in _": ("a_", "b", r"a___b_[0-9a-f]{8}"),
    "joined too long: the tool's own name is kept": ("n" * 80, "tool", r"n{49}__tool_[0-9a-f]{8}"),
    "both too long": ("n" * 80, "t" * 80, r"n{13}__t{40}_[0-9a-f]{8}"),
}


@pytest.mark.requirement("names.charset")
@pytest.mark.parametrize(("namespace", "name", "upstream"), MADE.values(), ids=MADE)
def test_an_unfit_name_becomes_a_readable_one(namespace: str | None, name: str, upstream: str) -> None:
    assert re.fullmatch(upstream, best(namespace, name))
    assert FIT.fullmatch(best(namespace, name))


@pytest.mark.requirement("names.charset")
@settings(deadline=None)
@given(NAMESPACES, NAMES, st.sampled_from([16, 32, 64, 128]))
def test_every_candidate_is_inside_charset_and_limit(namespace: str | None, name: str, limit: int) -> None:
    for offered in itertools.islice(names.candidates(namespace, name, NameRules(limit)), 4):
        assert 0 < len(offered) <= limit
        assert re.fullmatch(r"[a-zA-Z0-9_-]+", offered)


@pytest.mark.requirement("names.unambiguous")
@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(NAMESPACES, NAMES), unique=True, max_size=8))
def test_two_tools_never_have_one_name(pairs: list[tuple[str | None, str]]) -> None:
    # A namespaced tool may join to what a tool without a namespace is called; only a registry sees both.
    joined = [best(namespace, name) for namespace, name in pairs if namespace]
    assert len(set(joined)) == len(joined)
    alone = [best(namespace, name) for namespace, name in pairs if not namespace]
    assert len(set(alone)) == len(alone)


@pytest.mark.requirement("names.deterministic")
@settings(deadline=None)
@given(NAMESPACES, NAMES)
def test_a_name_is_a_function_of_namespace_and_name(namespace: str | None, name: str) -> None:
    assert list(itertools.islice(names.candidates(namespace, name, RULES), 5)) == list(
        itertools.islice(names.candidates(namespace, name, RULES), 5)
    )


def test_hashed_names_do_not_change_between_versions() -> None:
    """Prompts that are cached upstream hold these names; another hash would move every prefix."""
    assert [best("a", "b__c"), best(None, "x y")] == ["a__b__c_01b8a75b", "x_y_29408952"]


@settings(deadline=None)
@given(NAMES)
def test_an_upstream_without_a_limit_takes_any_name(name: str) -> None:
    assert best(None, name, NameRules(0)) == name
