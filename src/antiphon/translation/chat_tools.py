"""The tools of a chat request, and the choice among them, as the server can be told it.

A choice that a server cannot be told is brought about by what is declared, where that can do it: no tools for `none`, one tool for a choice by
name. That moves the prompt's beginning for this one request. Where nothing can force a call, the model is left to choose, and that is told.
"""

from dataclasses import dataclass
from typing import Any

from antiphon.protocol import json, request
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.request import SettingsView
from antiphon.translation import lowered
from antiphon.translation.chat_context import Context
from antiphon.translation.schemas import SchemaRules


@dataclass(frozen=True, slots=True)
class Choice:
    """What the client wants called. `kind`: `none`, `required` and `named` are told to the server; `auto` goes without saying."""

    kind: str = "auto"
    told: Any = None
    name: str | None = None
    """The upstream name of the one tool that is wanted."""

    @property
    def forces(self) -> bool:
        """Whether the model must call something."""
        return self.kind in ("required", "named")


@dataclass(frozen=True, slots=True)
class Tools:
    """The fields that tools become; `forced`: whether the server was told that it must call one; `wanted`: the one that it should call."""

    fields: dict[str, Any]
    forced: bool = False
    wanted: str | None = None


def tools(settings: SettingsView, context: Context) -> Tools:
    """All that the request says of tools."""
    rules = context.rules
    schema = SchemaRules(rules.schema_drops, rules.schema_repairs)
    made = [_tool(function, where, context) for function, where in lowered.functions(context.tools, schema, context.notes)]
    if not made:
        return Tools({})
    asked = choice(settings, context)
    told = _as_known(asked, context)
    if asked.kind == "none" and told.kind != "none":
        return Tools({})
    if asked.kind == "named" and told.kind != "named":
        made = [tool for tool in made if json.text(tool["function"]["name"]) == asked.name] or made
    fields: dict[str, Any] = {"tools": made}
    if told.told is not None:
        fields["tool_choice"] = told.told
    return Tools(fields | _parallel(settings, context) | (rules.forced_fields if told.forces else {}), told.forces, asked.name)


def choice(settings: SettingsView, context: Context) -> Choice:
    """What the client asks for, by the names that the upstream knows."""
    spelled = settings.tool_choice
    named = request.choice(spelled)
    if not context.tools.entries or json.is_null(spelled) or not len(memoryview(spelled)):
        return Choice()
    if named is None:
        word = json.text(spelled)
        return Choice(word if word in ("none", "required") else "auto", spelled)
    name = named.text("name")
    upstream = None if name is None else context.tools.upstream_name(named.text("namespace"), name)
    if upstream is not None and upstream in context.tools.entries:
        return _by_name(upstream)
    if named.text("type") == "allowed_tools" and (mode := named.text("mode")):
        context.change("tool_choice.tools", "all tools stay allowed")
        return Choice(mode if mode == "required" else "auto", mode)
    context.drop("tool_choice", "no such tool upstream")
    return Choice()


def _by_name(upstream: str) -> Choice:
    return Choice("named", {"type": "function", "function": {"name": upstream}}, upstream)


def _as_known(asked: Choice, context: Context) -> Choice:
    """The choice as the server can be told it."""
    known = context.rules.tool_choice
    if asked.kind == "auto" or asked.kind in known:
        return asked
    if asked.kind in ("none", "named"):
        context.notes.append(Note(Kind.MOVED, "tool_choice", "other tools are not declared: the prompt's beginning moves"))
    if asked.kind == "named" and "required" in known:
        return Choice("required", "required")
    if asked.kind == "required" and "named" in known and len(context.tools.functions) == 1:
        return _by_name(json.text(context.tools.functions[0].members["name"]))
    if asked.forces:
        context.change("tool_choice", "it is left to the model whether it calls")
    return Choice()


def _tool(function: Document, where: str, context: Context) -> dict[str, Any]:
    kept = ("name", "description", "parameters", *(("strict",) if context.rules.strict_tools else ()))
    for lost in [name for name in function.members if name not in (*kept, "type") and function.get(name)]:
        context.drop(f"{where}.{lost}")
    members = {name: function.members[name] for name in kept if name in function and not json.is_null(function.members[name])}
    return {"type": "function", "function": members}


def _parallel(settings: SettingsView, context: Context) -> dict[str, Any]:
    wish = settings.parallel_tool_calls
    if wish is None or not context.tools.entries:
        return {}
    if context.rules.parallel_calls:
        return {"parallel_tool_calls": wish}
    return {} if wish else context.drop("parallel_tool_calls", "several calls may come at once")
