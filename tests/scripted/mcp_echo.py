"""A stdio MCP server without dependencies: `echo` gives back its text and the word it was started with, `picture` a file.

Speaks newline-delimited JSON-RPC, only what a client needs to list and call tools. Run: `python mcp_echo.py WORD [NAME]`,
where NAME is another name of `echo`; with `--odd` behind it there are tools with odd names and schemas.
"""

import base64
import json
import sys
from pathlib import Path
from typing import Any

ECHO: dict[str, Any] = {
    "name": sys.argv[2] if len(sys.argv) > 2 else "echo",
    "description": "Gives the text back, with the word of this server.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["text"],
    },
}
PICTURE: dict[str, Any] = {
    "name": "picture",
    "description": "Gives picture.png of the working directory.",
    "inputSchema": {"type": "object", "properties": {}},
}

# Tools as odd as the protocol lets them be; each gives its arguments back.
ODD: list[dict[str, Any]] = [
    {
        "name": "schema_of_parts",
        "description": "A schema of parts: definitions, references, alternatives, and properties that are named like keywords.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                    "required": ["name"],
                }
            },
            "type": "object",
            "properties": {
                "tree": {"$ref": "#/$defs/node"},
                "either": {"anyOf": [{"type": "string", "enum": ["x", "y"]}, {"type": "null"}]},
                "properties": {"type": "object", "properties": {"type": {"type": ["integer", "null"]}, "encrypted": {"const": True}}},
            },
            "allOf": [{"required": ["tree"]}],
            "additionalProperties": False,
        },
    },
    {"name": "bare", "description": "No schema to speak of.", "inputSchema": {"type": "object"}},
    {
        "name": "dotted.name/with-a_very_long_tail_that_goes_on_and_on_until_no_server_would_take_it_any_more",
        "description": "A name with a dot, a slash and a long tail.",
        "inputSchema": {"type": "object", "additionalProperties": True, "properties": {"π": {"type": "string", "default": "\u0000ü"}}},
    },
]


def initialize(params: dict[str, Any], word: str) -> dict[str, Any]:
    info = {"name": "scripted", "version": "1"}
    return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": info}


def list_tools(params: dict[str, Any], word: str) -> dict[str, Any]:
    return {"tools": [ECHO, PICTURE, *(ODD if "--odd" in sys.argv else [])]}


def call_tool(params: dict[str, Any], word: str) -> dict[str, Any]:
    if params["name"] == "picture":
        data = base64.b64encode(Path("picture.png").read_bytes()).decode()
        return {"content": [{"type": "text", "text": word}, {"type": "image", "data": data, "mimeType": "image/png"}]}
    if any(params["name"] == tool["name"] for tool in ODD):
        return {"content": [{"type": "text", "text": json.dumps(params.get("arguments"), ensure_ascii=False, sort_keys=True)}]}
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
