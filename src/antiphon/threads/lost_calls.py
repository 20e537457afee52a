"""What legacy files hold no event of, and Codex itself therefore no longer shows: commands, patches and calls, out of the model's own items.

A call is shown when it is seen, and completed by its output. How a command ended is read out of the words that each version put around its output.
Not here: where in a turn they stand (`turns`).
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from antiphon.protocol import item_views, json
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest
from antiphon.threads.turn_items import Fields, item, strings

SHELLS: Final = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec", "unified_exec"})
PATCHES: Final = frozenset({"apply_patch"})
WORDED: Final = re.compile(
    r"(?:Chunk ID: \w+\n)?(?:Exit code: (?P<exit>-?\d+)\n)?Wall time: (?P<time>[\d.]+) seconds\n(?P<about>.*?)Output:\n", re.DOTALL
)
EXITED: Final = re.compile(r"Process exited with code (-?\d+)\n")
HEREDOC: Final = re.compile(r"apply_patch[^\n]*<<\s*['\"]?(\w+)['\"]?\n(.*?)\n?\1\s*$", re.DOTALL)
FILE: Final = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*)")
KINDS: Final = {"Add": "add", "Update": "update", "Delete": "delete"}
MOVED: Final = "*** Move to: "


def called(call: Document) -> Document | None:
    """The item of a call that nothing has answered yet; None where the item is no call."""
    make = CALLS.get(call.text("type") or "")
    id = call.text("call_id") or call.text("id") or ""
    return make(id, call) if make is not None and id else None


def answered(shown: Document, output: Document) -> Document:
    """The item of a call, with its output."""
    parts = list(_parts(output))
    text = "".join(part["text"] for part in parts if part["type"] == "inputText")
    match shown.text("type"):
        case "commandExecution":
            return shown.but(**_ended(text))
        case "fileChange":
            _, exit_code, _ = _read(text)
            failed = exit_code not in (None, 0) or text.startswith(("apply_patch verification failed", "Failed", "unsupported"))
            return shown.but(status="failed" if failed else "completed")
        case "mcpToolCall":
            return shown.but(
                status="completed", result={"content": [_mcp_part(part) for part in parts], "structuredContent": None, "_meta": None}
            )
        case "imageView":
            return shown
        case _:
            return shown.but(status="completed", contentItems=parts)


def _function(id: str, call: Document) -> Document:
    name, namespace = call.text("name") or "", call.text("namespace")
    arguments = _arguments(call.text("arguments"))
    if name in SHELLS:
        return _shell(id, arguments)
    if name in PATCHES:
        return _patch(id, str(json.an_object(arguments).get("input") or ""))
    if name == "view_image":
        return item("imageView", id, path=str(json.an_object(arguments).get("path") or ""))
    server, tool = _server(namespace, name)
    if server:
        return item("mcpToolCall", id, server=server, tool=tool, status="inProgress", arguments=arguments)
    return item("dynamicToolCall", id, tool=name, namespace=namespace, arguments=arguments, status="inProgress")


def _server(namespace: str | None, name: str) -> tuple[str, str]:
    """The MCP server of a call, as versions have put it into names: a namespace `mcp__server`, or `server__tool`."""
    if namespace is not None and namespace.startswith("mcp__"):
        return namespace.removeprefix("mcp__").rstrip("_"), name
    server, between, tool = name.removeprefix("mcp__").partition("__")
    return (server, tool) if between and namespace is None else ("", name)


def _arguments(spelled: str | None) -> Any:
    try:
        return json.lenient(spelled or "{}")
    except ValueError:
        return spelled


def _custom(id: str, call: Document) -> Document:
    name, given = call.text("name") or "", call.text("input") or ""
    if name in PATCHES:
        return _patch(id, given)
    return item("dynamicToolCall", id, tool=name, namespace=call.text("namespace"), arguments={"input": given}, status="inProgress")


def _local_shell(id: str, call: Document) -> Document:
    action = call.document("action")
    return _shell(id, {"command": action.get("command"), "workdir": action.get("working_directory")} if action is not None else {})


def _shell(id: str, arguments: Any) -> Document:
    given = json.an_object(arguments)
    command = given.get("command", given.get("cmd", arguments))
    words = strings(command)
    line = shlex.join(words) if words else str(command)
    patch = HEREDOC.search(words[-1] if words else line) if "apply_patch" in line else None
    if patch is not None:
        return _patch(id, patch[2])
    if words[:1] == ["apply_patch"] and len(words) == 2:
        return _patch(id, words[1])
    cwd = given.get("workdir")
    return item("commandExecution", id, command=line, cwd=cwd if isinstance(cwd, str) else "", status="inProgress", commandActions=[])


def _patch(id: str, patch: str) -> Document:
    return item("fileChange", id, changes=list(patched(patch)), status="inProgress")


def patched(patch: str) -> Iterator[Fields]:
    """The files of a patch in Codex's own form, each with its part of the patch as the difference."""
    found = list(FILE.finditer(patch))
    for at, file in enumerate(found):
        body = patch[file.end() + 1 : found[at + 1].start() if at + 1 < len(found) else None]
        body = body.removesuffix("\n").removesuffix("*** End Patch")
        kind: Fields = {"type": KINDS[file[1]]}
        if file[1] == "Add":
            body = "".join(f"{line[1:]}\n" for line in body.splitlines() if line.startswith("+"))
        if file[1] == "Update":
            moved = body.startswith(MOVED)
            kind["move_path"] = body.partition("\n")[0].removeprefix(MOVED) if moved else None
            body = body.partition("\n")[2] if moved else body
        yield {"path": file[2].strip(), "kind": kind, "diff": body}


def _search(id: str, call: Document) -> Document:
    return item("dynamicToolCall", id, tool="tool_search", arguments=call.get("arguments"), status="inProgress")


def _web(id: str, call: Document) -> Document:
    action = json.an_object(call.get("action"))
    queries = strings(action.get("queries"))
    return item("webSearch", id, query=str(action.get("query") or " ".join(queries)), action=action or None)


def _image(id: str, call: Document) -> Document:
    return item(
        "imageGeneration",
        id,
        status=call.text("status") or "completed",
        revisedPrompt=call.text("revised_prompt"),
        result=call.text("result"),
    )


CALLS: Final[Mapping[str, Callable[[str, Document], Document]]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "local_shell_call": _local_shell,
    "tool_search_call": _search,
    "web_search_call": _web,
    "image_generation_call": _image,
}
"""Types of items that call something, and how the call is shown."""


def _parts(output: Document) -> Iterator[Fields]:
    """An output as the parts that clients know; the tools that a search found are told as JSON."""
    if output.text("type") == "tool_search_output":
        yield {"type": "inputText", "text": json.encode(output.get("tools") or []).decode()}
        return
    try:
        body = item_views.output_body(output.members["output"], "output") if "output" in output else None
    except InvalidRequest:
        body = output.members["output"]
    if body is None or json.is_text(body):
        yield {"type": "inputText", "text": json.text(body) if body is not None else ""}
        return
    for part in map(Document, filter(json.is_object, json.elements(body) if json.is_array(body) else ())):
        if part.text("type") == "input_image":
            yield {"type": "inputImage", "imageUrl": str(part.get("image_url") or "")}
        else:
            yield {"type": "inputText", "text": part.text("text") or ""}


def _mcp_part(part: Fields) -> Fields:
    if part["type"] == "inputText":
        return {"type": "text", "text": part["text"]}
    head, _, data = part["imageUrl"].partition(";base64,")
    return {"type": "image", "mimeType": head.removeprefix("data:"), "data": data}


def _ended(text: str) -> Fields:
    words, exit_code, seconds = _read(text)
    fields: Fields = {"aggregatedOutput": words, "status": "failed" if exit_code not in (None, 0) else "completed"}
    if exit_code is not None:
        fields["exitCode"] = exit_code
    if seconds is not None:
        fields["durationMs"] = round(seconds * 1000)
    return fields


def _read(text: str) -> tuple[str, int | None, float | None]:
    """What a command printed, how it ended, how long it took: as JSON to 2025, in words since."""
    if text.startswith('{"output":'):
        told = json.an_object(_arguments(text))
        about = json.an_object(told.get("metadata"))
        exit_code, seconds = about.get("exit_code"), about.get("duration_seconds")
        printed = told.get("output")
        return (
            printed if isinstance(printed, str) else text,
            exit_code if isinstance(exit_code, int) else None,
            float(seconds) if isinstance(seconds, int | float) else None,
        )
    worded = WORDED.match(text)
    if worded is None:
        return text, None, None
    exited = EXITED.search(worded["about"])
    exit_code = worded["exit"] or (exited[1] if exited else None)
    return text[worded.end() :], int(exit_code) if exit_code else None, float(worded["time"].rstrip(".") or 0)
