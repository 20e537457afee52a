"""A stdio MCP server without dependencies: one tool, `echo`, that gives back its text and the word it was started with.

Speaks newline-delimited JSON-RPC, only what a client needs to list and call tools. Run: `python mcp_echo.py WORD`.
"""

import json
import sys
from typing import Any

TOOL: dict[str, Any] = {
    "name": "echo",
    "description": "Gives the text back, with the word of this server.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["text"],
    },
}


def initialize(params: dict[str, Any], word: str) -> dict[str, Any]:
    info = {"name": "scripted", "version": "1"}
    return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": info}


def list_tools(params: dict[str, Any], word: str) -> dict[str, Any]:
    return {"tools": [TOOL]}


def call_tool(params: dict[str, Any], word: str) -> dict[str, Any]:
    said = f"{word}: {params['arguments']['text']}"
    return {"content": [{"type": "text", "text": said}], "isError": False}


def ping(params: dict[str, Any], word: str) -> dict[str, Any]:
    return {}


METHODS = {"initialize": initialize, "tools/list": list_tools, "tools/call": call_tool, "ping": ping}


def answer(message: dict[str, Any], word: str) -> dict[str, Any] | None:
    """The answer to a request; notifications have none."""
    if "id" not in message:
        return None
    head = {"jsonrpc": "2.0", "id": message["id"]}
    method = METHODS.get(message["method"])
    if method is None:
        return head | {"error": {"code": -32601, "message": f"unknown method {message['method']}"}}
    return head | {"result": method(message.get("params") or {}, word)}


def main() -> None:
    for line in sys.stdin:
        reply = answer(json.loads(line), sys.argv[1])
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
