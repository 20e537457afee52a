"""Each search service is asked in its own form, and what it answers is read for what it is."""

import json
from typing import Any

import pytest

from antiphon.gateway_tools.search_providers import PROVIDERS, Asked, Hit, ProviderFailed, Query, hits

pytestmark = pytest.mark.requirement("loop.providers")

QUERY = Query("fat quokka", "low", ("a.org",), ("b.org",), {"country": "DE"})
SPELLED = "fat+quokka+%28site%3Aa.org%29+-site%3Ab.org"
ASKED: dict[str, Asked] = {
    "searxng": Asked(
        "GET",
        f"http://s/x/search?q={SPELLED}&format=json&language=auto",
        {"Accept": "application/json", "Authorization": "Bearer k"},
    ),
    "brave": Asked("GET", f"http://s/x?q={SPELLED}&count=10&country=DE", {"Accept": "application/json", "X-Subscription-Token": "k"}),
    "tavily": Asked(
        "POST",
        "http://s/x",
        {"Content-Type": "application/json", "Authorization": "Bearer k"},
        b'{"query":"fat quokka","max_results":5,"include_domains":["a.org"],"exclude_domains":["b.org"]}',
    ),
    "duckduckgo": Asked("GET", f"http://s/x?q={SPELLED}", {"Accept": "text/html"}),
}
DUCK = """<div class="result"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.org%2Fx&amp;rut=1">
The <b>fat</b> quokka</a><a class="result__snippet" href="x">It is <b>fat</b> &amp; happy.</a></div>
<a class="result__a" href="https://www.a.org/y">Second</a>"""
ANSWERS: dict[str, bytes] = {
    "searxng": json.dumps({"results": [{"title": "T", "url": "https://a.org/x", "content": "S"}, {"url": 1}]}).encode(),
    "brave": json.dumps({"web": {"results": [{"title": "<strong>T</strong>", "url": "https://a.org/x", "description": "S"}]}}).encode(),
    "tavily": json.dumps({"results": [{"title": "T", "url": "https://a.org/x", "content": "S"}]}).encode(),
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_asked(name: str) -> None:
    assert PROVIDERS[name].ask("http://s/x", "k", QUERY) == ASKED[name]


@pytest.mark.parametrize("name", ANSWERS)
def test_read(name: str) -> None:
    assert hits(PROVIDERS[name], 200, ANSWERS[name], Query("q")) == [Hit("T", "https://a.org/x", "S")]


def test_a_page_of_results_is_read() -> None:
    found = hits(PROVIDERS["duckduckgo"], 200, DUCK.encode(), Query("q"))
    assert found == [Hit("The fat quokka", "https://a.org/x", "It is fat & happy."), Hit("Second", "https://www.a.org/y")]


@pytest.mark.parametrize(
    ("name", "status", "body", "words"),
    [
        ("searxng", 403, b"<h1>403</h1>", "add it to search.formats"),
        ("searxng", 500, b"", "answered 500"),
        ("searxng", 200, b"<html>", "not a list of results"),
        ("searxng", 200, b'{"results": {}}', "not a list of results"),
        ("searxng", 200, b"[" * 100_000, "not a list of results"),
        ("brave", 401, b"{}", "refuses the key"),
        ("brave", 429, b"{}", "limit is reached"),
        ("tavily", 432, b"{}", "limit is reached"),
        ("duckduckgo", 200, b"<html>are you a robot?</html>", "not a list of results"),
    ],
)
def test_failures_have_words(name: str, status: int, body: bytes, words: str) -> None:
    with pytest.raises(ProviderFailed, match=words):
        hits(PROVIDERS[name], status, body, Query("q"))


def test_results_are_kept_to_the_domains_and_the_size() -> None:
    entries: list[dict[str, Any]] = [
        {"title": "T", "url": f"https://{host}/", "content": "x" * 2000} for host in ("a.org", "sub.a.org", "nota.org")
    ]
    entries += [{"title": "T", "url": "javascript:alert(1)"}, *({"title": "T", "url": f"https://a.org/{n}"} for n in range(20))]
    body = json.dumps({"results": entries}).encode()
    found = hits(PROVIDERS["searxng"], 200, body, Query("q", "low", ("a.org",), ("sub.a.org",)))
    assert [hit.url for hit in found] == ["https://a.org/", *(f"https://a.org/{n}" for n in range(4))]
    assert len(found[0].snippet) == 240
