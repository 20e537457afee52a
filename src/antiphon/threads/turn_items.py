"""What happened in a turn, as the items that Codex's clients are shown: out of the events that files hold of it.

Legacy files hold an event for some of it, paginated ones an `item_completed` for all. `EVENTS` and `COMPLETED` are the tables of both. What legacy
files hold no event of is made from the model's items (`lost_calls`). Items are in the form of today's app-server. Not here: turns (`turns`).
"""

import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import unquote

from antiphon.protocol import json
from antiphon.protocol.document import Document

Fields = dict[str, Any]
REVIEW_FAILED: Final = "Reviewer failed to output a response."
REVIEW_REQUESTED: Final = "Review requested."
STATUSES: Final = {"in_progress": "inProgress", "completed": "completed", "failed": "failed", "declined": "declined"}
SOURCES: Final = {
    "agent": "agent",
    "user_shell": "userShell",
    "unified_exec_startup": "unifiedExecStartup",
    "unified_exec_interaction": "unifiedExecInteraction",
}
ACTIONS: Final = {"read": "read", "list_files": "listFiles", "search": "search", "unknown": "unknown"}


def item(type: str, id: str, **fields: Any) -> Document:
    """One item; fields that are None are not there."""
    return Document.of({"type": type, "id": id, **{name: value for name, value in fields.items() if value is not None}})


def user_message(id: str, event: Document) -> Document:
    """What a user said in a legacy file: the words, then the pictures."""
    content: list[Fields] = []
    words = event.text("message") or ""
    if words.strip():
        content.append({"type": "text", "text": words, "text_elements": event.get("text_elements") or []})
    content += [{"type": "image", "url": url} for url in strings(event.get("images"))]
    content += [{"type": "localImage", "path": path} for path in strings(event.get("local_images"))]
    content += [{"type": "audio", "url": url} for url in strings(event.get("audio"))]
    content += [{"type": "localAudio", "path": path} for path in strings(event.get("local_audio"))]
    return item("userMessage", id, content=content)


def agent_message(id: str, event: Document) -> Document:
    """What the model said."""
    return item(
        "agentMessage", id, text=event.text("message") or "", phase=event.text("phase"), memoryCitation=event.get("memory_citation")
    )


def entered_review(id: str, event: Document) -> Document:
    """A review begins."""
    return item("enteredReviewMode", id, review=event.text("user_facing_hint") or REVIEW_REQUESTED)


def exited_review(id: str, event: Document) -> Document:
    """What a review found."""
    output = event.document("review_output")
    words = (output.text("overall_explanation") or "").strip() if output is not None else ""
    return item("exitedReviewMode", id, review=words or REVIEW_FAILED)


def compaction(id: str, event: Document) -> Document:
    """The history was compacted."""
    return item("contextCompaction", id)


def patch_applied(id: str, event: Document) -> Document:
    """Files were changed."""
    given = STATUSES.get(event.text("status") or "")
    status = given or ("completed" if event.get("success") is True else "failed")
    return item("fileChange", id, changes=changes(event), status=status)


def mcp_called(id: str, event: Document) -> Document:
    """A tool of an MCP server was called, in a legacy file."""
    call = event.document("invocation") or Document(b"{}")
    told = event.document("result") or Document(b"{}")
    failed, answer = told.text("Err"), told.document("Ok")
    is_error = failed is not None or (answer is not None and answer.get("isError") is True)
    return item(
        "mcpToolCall",
        id,
        server=call.text("server") or "",
        tool=call.text("tool") or "",
        status="failed" if is_error else "completed",
        arguments=call.get("arguments"),
        result=mcp_result(answer),
        error={"message": failed} if failed is not None else None,
        durationMs=milliseconds(event.get("duration")),
    )


def web_searched(id: str, event: Document) -> Document:
    """The web was searched."""
    return item("webSearch", id, query=event.text("query") or "", action=event.get("action"))


def image_generated(id: str, event: Document) -> Document:
    """A picture was made."""
    return item(
        "imageGeneration",
        id,
        status=event.text("status") or "completed",
        revisedPrompt=event.text("revised_prompt"),
        result=event.text("result"),
        savedPath=plain_path(event.text("saved_path")),
    )


COUNTED: Final[Mapping[str, Callable[[str, Document], Document]]] = {
    "user_message": user_message,
    "agent_message": agent_message,
    "context_compacted": compaction,
    "entered_review_mode": entered_review,
    "exited_review_mode": exited_review,
}
"""Events of legacy files that have no id of their own: their items are numbered."""

NAMED: Final[Mapping[str, Callable[[str, Document], Document]]] = {
    "patch_apply_end": patch_applied,
    "mcp_tool_call_end": mcp_called,
    "web_search_end": web_searched,
    "image_generation_end": image_generated,
}
"""Events of legacy files that tell of a call, by its `call_id`."""


def completed(event: Document) -> Document | None:
    """The item of an `item_completed`; None where it holds none. One of an unknown type keeps its members."""
    told = event.document("item")
    type = told.text("type") if told is not None else None
    if told is None or not type:
        return None
    id = told.text("id") or ""
    make = COMPLETED.get(type)
    shown = make(id, told) if make is not None else Document.of({**told.members, "type": camel(type)})
    times = {"startedAtMs": event.get("started_at_ms"), "completedAtMs": event.get("completed_at_ms")}
    return shown.but(**{name: at for name, at in times.items() if isinstance(at, int)})


def camel(name: str) -> str:
    """`UserMessage` and `user_message` as `userMessage`."""
    head, *rest = name.split("_")
    return head[:1].lower() + head[1:] + "".join(part.capitalize() for part in rest)


def _said(id: str, told: Document) -> Document:
    content = [_input(Document(part)) for part in told.elements("content") if json.is_object(part)]
    return item("userMessage", id, clientId=told.text("client_id"), content=content)


def _input(part: Document) -> Fields:
    fields: Fields = {**part.members, "type": camel(part.text("type") or "text")}
    if "image_url" in fields:
        fields["url"] = fields.pop("image_url")
    return fields


def _answered(id: str, told: Document) -> Document:
    text = "".join(Document(part).text("text") or "" for part in told.elements("content") if json.is_object(part))
    return item("agentMessage", id, text=text, phase=told.text("phase"), memoryCitation=told.get("memory_citation"))


def _thought(id: str, told: Document) -> Document:
    return item("reasoning", id, summary=strings(told.get("summary_text")), content=strings(told.get("raw_content")))


def _command(id: str, told: Document) -> Document:
    cwd = plain_path(told.text("cwd")) or ""
    command = told.get("command")
    return item(
        "commandExecution",
        id,
        command=shlex.join(strings(command)) if isinstance(command, list) else str(command or ""),
        cwd=cwd,
        processId=told.text("process_id"),
        source=SOURCES.get(told.text("source") or "agent", "agent"),
        status=STATUSES.get(told.text("status") or "", "completed"),
        commandActions=[action(Document(part), cwd) for part in told.elements("parsed_cmd") if json.is_object(part)],
        aggregatedOutput=told.text("aggregated_output") or None,
        exitCode=told.get("exit_code"),
        durationMs=milliseconds(told.get("duration")),
    )


def _mcp(id: str, told: Document) -> Document:
    return item(
        "mcpToolCall",
        id,
        server=told.text("server") or "",
        tool=told.text("tool") or "",
        status=STATUSES.get(told.text("status") or "", "completed"),
        arguments=told.get("arguments"),
        result=mcp_result(told.document("result")),
        error=told.get("error"),
        durationMs=milliseconds(told.get("duration")),
    )


def _tool(id: str, told: Document) -> Document:
    return item(
        "dynamicToolCall",
        id,
        tool=told.text("tool") or "",
        namespace=told.text("namespace"),
        arguments=told.get("arguments"),
        status=STATUSES.get(told.text("status") or "", "completed"),
        contentItems=told.get("content_items"),
        success=told.get("success"),
        durationMs=milliseconds(told.get("duration")),
    )


def _picture(id: str, told: Document) -> Document:
    return item("imageView", id, path=plain_path(told.text("path")) or "")


def _reviewed(type: str) -> Callable[[str, Document], Document]:
    return lambda id, told: item(type, id, review=told.text("review") or "")


COMPLETED: Final[Mapping[str, Callable[[str, Document], Document]]] = {
    "UserMessage": _said,
    "AgentMessage": _answered,
    "Reasoning": _thought,
    "CommandExecution": _command,
    "FileChange": patch_applied,
    "McpToolCall": _mcp,
    "DynamicToolCall": _tool,
    "ImageView": _picture,
    "WebSearch": web_searched,
    "ImageGeneration": image_generated,
    "ContextCompaction": compaction,
    "EnteredReviewMode": _reviewed("enteredReviewMode"),
    "ExitedReviewMode": _reviewed("exitedReviewMode"),
}
"""Items of `item_completed` whose form today's clients have otherwise."""


def changes(event: Document) -> list[Fields]:
    """What became of each file, by path."""
    told = event.document("changes") or Document(b"{}")
    return [change(path, Document(told.members[path])) for path in sorted(told.members) if json.is_object(told.members[path])]


def change(path: str, told: Document) -> Fields:
    """One file: its new content, its old content, or the difference."""
    kind = told.text("type") or "update"
    if kind != "update":
        return {"path": path, "kind": {"type": kind}, "diff": told.text("content") or ""}
    moved, diff = told.text("move_path"), told.text("unified_diff") or ""
    if moved:
        diff = f"{diff}\n\nMoved to: {moved}"
    return {"path": path, "kind": {"type": "update", "move_path": moved}, "diff": diff}


def action(told: Document, cwd: str) -> Fields:
    """What a part of a command does, as far as Codex could tell."""
    type = ACTIONS.get(told.text("type") or "unknown", "unknown")
    fields: Fields = {"type": type, "command": told.text("cmd") or ""}
    for name in ("name", "query"):
        if told.text(name) is not None:
            fields[name] = told.text(name)
    path = told.text("path")
    if path is not None:
        fields["path"] = str(PurePosixPath(cwd, path)) if type == "read" else path
    return fields


def mcp_result(answer: Document | None) -> Fields | None:
    """What an MCP server answered."""
    if answer is None:
        return None
    return {"content": answer.get("content") or [], "structuredContent": answer.get("structuredContent"), "_meta": answer.get("_meta")}


def milliseconds(told: Any) -> int | None:
    """A duration of Rust's, in milliseconds."""
    fields = json.an_object(told)
    seconds, nanos = fields.get("secs"), fields.get("nanos", 0)
    return seconds * 1000 + nanos // 1_000_000 if isinstance(seconds, int) and isinstance(nanos, int) else None


def plain_path(uri: str | None) -> str | None:
    """A path, out of a `file://` URI too."""
    return unquote(uri.removeprefix("file://")) if uri is not None and uri.startswith("file://") else uri


def strings(told: Any) -> list[str]:
    """The strings of a list."""
    return [one for one in told if isinstance(one, str)] if isinstance(told, list) else []  # pyright: ignore[reportUnknownVariableType]
