"""Hosted tools give way to functions in their place, and the response shows the client its own words."""

import json
from typing import Any

import pytest

from antiphon.protocol.document import Document
from antiphon.tools.hosting import Function, Offer, hosted

pytestmark = pytest.mark.requirement("loop.hosting")

SEARCH = Offer(
    1, "web_search", [Function("web_search", "Searches.", {"type": "object"}), Function("open_page", "Opens.", {"type": "object"})]
)
WIKI = Offer(2, "mcp", [Function("read", "Reads.", {"type": "object"}, "wiki")], label="wiki", instructions="All of it.")
OWN = {"type": "function", "name": "lights", "parameters": {"type": "object"}}
TOOLS = [OWN, {"type": "web_search_preview"}, {"type": "mcp", "server_label": "wiki"}]


def rewritten(**more: Any) -> tuple[dict[str, Any], Any]:
    made = hosted(Document(json.dumps({"model": "m", "tools": TOOLS, **more}).encode()), [SEARCH, WIKI])
    return json.loads(bytes(made.document)), made


def test_functions_stand_where_the_tool_stood() -> None:
    told, made = rewritten()
    assert [tool.get("name") for tool in told["tools"]] == ["lights", "web_search", "open_page", "wiki"]
    assert told["tools"][3]["tools"][0]["name"] == "read"
    assert made.owners == {(None, "web_search"): 1, (None, "open_page"): 1, ("wiki", "read"): 2}
    assert json.loads(bytes(made.shown["tools"])) == TOOLS


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("auto", "auto"),
        ({"type": "function", "name": "lights"}, {"type": "function", "name": "lights"}),
        (
            {"type": "web_search_preview"},
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "web_search"}, {"type": "function", "name": "open_page"}],
            },
        ),
        ({"type": "mcp", "server_label": "wiki", "name": "read"}, {"type": "function", "namespace": "wiki", "name": "read"}),
        ({"type": "mcp", "server_label": "wiki"}, {"type": "function", "namespace": "wiki", "name": "read"}),
        ({"type": "mcp", "server_label": "other"}, {"type": "mcp", "server_label": "other"}),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [OWN, {"type": "mcp", "server_label": "wiki"}]},
            {"type": "allowed_tools", "mode": "auto", "tools": [OWN, {"type": "function", "namespace": "wiki", "name": "read"}]},
        ),
    ],
)
def test_a_choice_among_hosted_tools_is_one_among_functions(choice: Any, told: Any) -> None:
    document, made = rewritten(tool_choice=choice)
    assert document["tool_choice"] == told
    assert json.loads(bytes(made.shown["tool_choice"])) == choice


def test_a_function_of_the_clients_own_keeps_its_name() -> None:
    own = {"type": "function", "name": "web_search"}
    made = hosted(Document(json.dumps({"tools": [own, {"type": "web_search"}]}).encode()), [SEARCH])
    assert (None, "web_search") not in made.owners
    assert [tool["name"] for tool in json.loads(bytes(made.document))["tools"]] == ["web_search", "open_page"]


def test_what_is_not_a_tool_of_ours_keeps_its_bytes() -> None:
    spelled = b'{ "model":"m", "tools":[ {"type":"function", "name":"a" , "x":1.0}, {"type":"web_search"} ], "n":1e2 }'
    made = hosted(Document(spelled), [SEARCH])
    assert b'{"type":"function", "name":"a" , "x":1.0}' in bytes(made.document)
    assert b'"n":1e2' in bytes(made.document)
