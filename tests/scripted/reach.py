"""How a scripted model finds out from its request what to call: shells under their many names, and tools that a search found.

A gateway may declare a found tool, or leave it where it was found and offer a dispatcher; the model takes what it is given.
Not here: any word of a wire; a tool that only a search result holds as an object comes in `Output.tools`.
"""

import re
from collections.abc import Mapping
from typing import Any

from tests.scripted.script import Call, ScriptError, Tool, View, mapping

DISPATCHER = "call_tool"
SHELLS = ("exec_command", "shell_command", "shell")
NAME = re.compile(r"[a-zA-Z0-9_.-]+")


def shell(view: View, line: str) -> Call:
    """Runs a line with the shell tool there is; versions of Codex differ in its name and parameters."""
    for name in SHELLS:
        for tool in view.tools:
            if tool.name.endswith(name):
                return Call(tool, _shell_arguments(tool, line))
    raise ScriptError(f"no shell tool is declared, only {', '.join(tool.name for tool in view.tools)}")


def _shell_arguments(tool: Tool, line: str) -> Mapping[str, Any]:
    properties = mapping(tool.parameters.get("properties"))
    if "cmd" in properties:
        return {"cmd": line}
    listed = mapping(properties.get("command")).get("type") == "array"
    return {"command": ["bash", "-lc", line] if listed else line}


def search(view: View, query: str) -> Call:
    return Call(view.tool("tool_search"), {"query": query, "limit": 8})


def found(view: View, server: str, name: str, arguments: Mapping[str, Any]) -> Call:
    """Calls a tool of an MCP server, however the request makes it callable."""
    results = [tool for output in view.outputs for tool in output.tools]
    for tool in (*view.tools, *results):
        if tool.is_called(name) and server in tool.path:
            return Call(tool, arguments)
    return Call(view.tool(DISPATCHER), {"name": _written(view, server, name), "arguments": arguments})


def _written(view: View, server: str, name: str) -> str:
    """The tool's name as a search result says it."""
    words = [word for output in view.outputs for word in NAME.findall(output.text)]
    names = sorted({word for word in words if server in word and Tool(word).is_called(name)})
    if len(names) != 1:
        raise ScriptError(f"search results name {names} for {name} of {server}, expected one")
    return names[0]
