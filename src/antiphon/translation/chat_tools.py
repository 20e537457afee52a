"""The tools of a chat request, and the choice among them, as the server can be told it.

A choice that a server cannot be told is brought about by what is declared, where that can do it: no tools for `none`, one tool for a choice by
name. That moves the prompt's beginning for this one request. Where nothing can force a call, the model is left to choose, and that is told.
"""

from dataclasses import dataclass
from typing import Any

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.request import SettingsView
from antiphon.tools import choice
from antiphon.tools.choice import Choice
from antiphon.translation import lowered
from antiphon.translation.chat_context import Context
from antiphon.translation.schemas import SchemaRules


@dataclass(frozen=True, slots=True)
class Tools:
    """The fields that tools become; `forced`: whether the server was told that it must call one; `choice`: what the client wants called."""

    fields: dict[str, Any]
    forced: bool = False
    choice: Choice | None = None


def tools(settings: SettingsView, context: Context) -> Tools:
    """All that the request says of tools."""
    rules = context.rules
    asked = choice.read(settings.tool_choice, context.tools, context.notes)
    schema = SchemaRules(rules.schema_drops, rules.schema_repairs)
    made = [_tool(function, where, context) for function, where in lowered.functions(context.tools, schema, context.notes)]
    if not made:
        return Tools({})
    told = _as_known(asked, context)
    if asked is not None and asked.kind != (told.kind if told is not None else ""):
        made = _brought_about(asked, made)
    forced = told is not None and told.mode == choice.REQUIRED
    fields: dict[str, Any] = {"tools": made, **({} if told is None else {"tool_choice": _spelled(told)}), **_parallel(settings, context)}
    return Tools(fields | (rules.forced_fields if forced else {}) if made else {}, forced, asked)


def _as_known(asked: Choice | None, context: Context) -> Choice | None:
    """The choice as the server can be told it; None where it cannot."""
    known = context.rules.tool_choice
    if asked is None or asked.kind == choice.AUTO or asked.kind in known:
        return asked
    if asked.kind == choice.ALLOWED:
        context.change("tool_choice.tools", "the server is told no list: all tools stay allowed")
        return _as_known(Choice(asked.mode), context)
    if asked.kind in (choice.NONE, choice.NAMED):
        context.notes.append(Note(Kind.MOVED, "tool_choice", "other tools are not declared: the prompt's beginning moves"))
    if asked.kind == choice.NAMED and choice.REQUIRED in known:
        return Choice(choice.REQUIRED)
    if asked.kind == choice.REQUIRED and choice.NAMED in known and context.tools.size == 1:
        return Choice(choice.REQUIRED, tuple(context.tools.entries))
    if asked.mode == choice.REQUIRED:
        context.change("tool_choice", "it is left to the model whether it calls")
    return None


def _brought_about(asked: Choice, made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tools that are declared where the choice itself cannot be told."""
    if asked.kind == choice.NONE:
        return []
    return [tool for tool in made if asked.kind != choice.NAMED or json.text(tool["function"]["name"]) == asked.one]


def _spelled(told: Choice) -> Any:
    functions = [{"type": "function", "function": {"name": name}} for name in told.names]
    if told.kind == choice.ALLOWED:
        return {"type": "allowed_tools", "allowed_tools": {"mode": told.mode, "tools": functions}}
    return functions[0] if functions else told.mode


def _tool(function: Document, where: str, context: Context) -> dict[str, Any]:
    kept = ("name", "description", "parameters", *(("strict",) if context.rules.strict_tools else ()))
    for lost in [name for name in function.members if name not in (*kept, "type") and function.get(name)]:
        context.drop(f"{where}.{lost}")
    members = {name: function.members[name] for name in kept if name in function and not json.is_null(function.members[name])}
    return {"type": "function", "function": members}


def _parallel(settings: SettingsView, context: Context) -> dict[str, Any]:
    wish = settings.parallel_tool_calls
    if wish is None or not context.tools.size:
        return {}
    if context.rules.parallel_calls:
        return {"parallel_tool_calls": wish}
    return {} if wish else context.drop("parallel_tool_calls", "several calls may come at once")
