"""The tools of a chat request, and what is said of them. Not here: which choice among them a server can be told (`tool_choices`)."""

from dataclasses import dataclass
from typing import Any

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.request import SettingsView
from antiphon.tools import choice
from antiphon.tools.choice import Choice
from antiphon.translation import lowered, tool_choices
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
    told = tool_choices.as_known(asked, rules.tool_choice, context.tools, context.notes)
    declared = tool_choices.declares(asked, told)
    made = [tool for tool in made if declared(json.text(tool["function"]["name"]))]
    forced = told is not None and told.mode == choice.REQUIRED
    fields: dict[str, Any] = {"tools": made, **({} if told is None else {"tool_choice": _spelled(told)}), **_parallel(settings, context)}
    return Tools(fields | (rules.forced_fields if forced else {}) if made else {}, forced, asked)


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
