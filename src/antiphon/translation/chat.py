"""A Responses request as a Chat Completions request.

Every field of the client's request is in one of the tables below: mapped, handled by name, meaningless at its default, or told as dropped. Not
here: the message list (`chat_messages`), the answer (`chat_answer`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from antiphon.history.pairing import Pairing, paired
from antiphon.protocol import item_views, json, request, response
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.request import SettingsView
from antiphon.tools import declaration, registry
from antiphon.tools.names import NameRules
from antiphon.tools.registry import Registry
from antiphon.translation import lowered
from antiphon.translation.chat_messages import messages
from antiphon.translation.dialect import ChatRules
from antiphon.translation.translated import Translated

PATH = "/chat/completions"


def translate(document: Document, rules: ChatRules) -> Translated:
    """The whole request. The model's name is the caller's business: an alias changes routing only."""
    settings = request.settings(document)
    tools, notes = registry.build(
        [*declaration.read(settings.tools or []), *lowered.additional_tools(settings.input)],
        NameRules(rules.name_limit),
        dispatches=rules.found_tools == "dispatch",
    )
    items = lowered.lower(request.items(settings.input), tools, notes)
    pairing = Pairing(rules.images_in_outputs, notes)
    body: dict[str, Any] = {"model": settings.model, "messages": messages(settings.instructions, paired(items, pairing), rules, notes)}
    context = _Context(rules, tools, notes)
    body |= _tools(context)
    for name in document.members:
        body |= _field(name, document, settings, context)
    return Translated(PATH, Document.of(body), tools, notes, wanted=_wanted(body.get("tool_choice")))


def _wanted(choice: Any) -> str | None:
    """The upstream name of the one tool that must be called."""
    return json.an_object(json.an_object(choice).get("function")).get("name")


@dataclass(frozen=True, slots=True)
class _Context:
    rules: ChatRules
    tools: Registry
    notes: list[Note]

    def drop(self, where: str, why: str = "") -> dict[str, Any]:
        self.notes.append(Note(Kind.DROPPED, where, why))
        return {}


_Mapper = Callable[[SettingsView, _Context], dict[str, Any]]


def _field(name: str, document: Document, settings: SettingsView, context: _Context) -> dict[str, Any]:
    """What one field of the request becomes."""
    if name in HANDLED:
        for lost in _lost_parts(name, document):
            context.drop(f"{name}.{lost}")
        return HANDLED[name](settings, context)
    spelled = document.members[name]
    if name in context.rules.passes:
        return {name: spelled}
    if json.is_null(spelled) or spelled_default(name, spelled):
        return {}
    return context.drop(name)


_PARTS = {"reasoning": ("effort", "summary"), "text": ("format", "verbosity")}
"""What a translation reads of a setting that is an object."""


def _lost_parts(name: str, document: Document) -> list[str]:
    setting = document.document(name) if name in _PARTS else None
    members = {} if setting is None else setting.members
    return [part for part, spelled in members.items() if part not in _PARTS[name] and not json.is_null(spelled)]


def spelled_default(name: str, spelled: Raw) -> bool:
    """Whether a setting says what would be so without it."""
    default = response.DEFAULTS.get(name, Raw(b"null"))
    return json.value(spelled) in (json.value(default), [], {}) or (name, bytes(spelled)) in _SAME_AS_DEFAULT


_SAME_AS_DEFAULT = {("service_tier", b'"default"'), ("truncation", b'"auto"')}


def _stream(settings: SettingsView, context: _Context) -> dict[str, Any]:
    if not settings.stream:
        return {}
    return {"stream": True, **({"stream_options": {"include_usage": True}} if context.rules.stream_usage else {})}


def _tools(context: _Context) -> dict[str, Any]:
    functions = lowered.functions(context.tools, context.rules.schema_drops, context.notes)
    return {"tools": [_tool(function, where, context) for function, where in functions]} if functions else {}


def _tool(function: Document, where: str, context: _Context) -> dict[str, Any]:
    kept = ("name", "description", "parameters", *(("strict",) if context.rules.strict_tools else ()))
    for lost in [name for name in function.members if name not in (*kept, "type") and function.get(name)]:
        context.drop(f"{where}.{lost}")
    members = {name: function.members[name] for name in kept if name in function and not json.is_null(function.members[name])}
    return {"type": "function", "function": members}


def _tool_choice(settings: SettingsView, context: _Context) -> dict[str, Any]:
    """A choice among tools: as a word, or by the name that the upstream knows."""
    choice = settings.tool_choice
    named = request.choice(choice)
    if not context.tools.entries or json.is_null(choice):
        return {}
    if named is None:
        return {"tool_choice": choice}
    name = named.text("name")
    upstream = None if name is None else context.tools.upstream_name(named.text("namespace"), name)
    if upstream in context.tools.entries:
        return {"tool_choice": {"type": "function", "function": {"name": upstream}}}
    if named.text("type") == "allowed_tools" and named.text("mode"):
        context.notes.append(Note(Kind.CHANGED, "tool_choice.tools", "all tools stay allowed"))
        return {"tool_choice": named.members["mode"]}
    return context.drop("tool_choice", "no such tool upstream")


def _parallel(settings: SettingsView, context: _Context) -> dict[str, Any]:
    known = settings.parallel_tool_calls is not None and context.tools.entries
    return {"parallel_tool_calls": settings.parallel_tool_calls} if known else {}


def _max_tokens(settings: SettingsView, context: _Context) -> dict[str, Any]:
    return {} if settings.max_output_tokens is None else {context.rules.max_tokens: settings.max_output_tokens}


def _reasoning(settings: SettingsView, context: _Context) -> dict[str, Any]:
    effort = _effort(settings)
    if effort is None:
        return {}
    return {context.rules.effort: effort} if context.rules.effort else context.drop("reasoning.effort")


def _effort(settings: SettingsView) -> str | None:
    """The effort as it is now: a `configuration_update` in the input changes it from there on."""
    effort = settings.reasoning.effort if settings.reasoning is not None else None
    if b'"configuration_update"' not in memoryview(settings.input).tobytes():
        return effort
    for number, raw in enumerate(request.items(settings.input)):
        view = item_views.read(raw, f"input[{number}]")
        if isinstance(view, item_views.ConfigurationUpdate) and json.is_object(view.reasoning):
            effort = Document(view.reasoning).text("effort") or effort
    return effort


def _text(settings: SettingsView, context: _Context) -> dict[str, Any]:
    made: dict[str, Any] = {}
    text = settings.text
    if text is not None and text.verbosity is not None:
        made |= {context.rules.verbosity: text.verbosity} if context.rules.verbosity else context.drop("text.verbosity")
    if text is None or text.format is None or text.format.type == "text":
        return made
    form = text.format
    if form.type not in context.rules.response_format:
        return made | context.drop("text.format", form.type)
    if form.type != "json_schema":
        return made | {"response_format": {"type": form.type}}
    named = {"name": form.name or "answer", "description": form.description, "strict": form.strict}
    kept: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if len(memoryview(form.schema)):
        kept["schema"] = form.schema
    return made | {"response_format": {"type": form.type, "json_schema": kept}}


def _logprobs(settings: SettingsView, context: _Context) -> dict[str, Any]:
    return {"logprobs": True, "top_logprobs": settings.top_logprobs} if settings.top_logprobs else {}


def _include(settings: SettingsView, context: _Context) -> dict[str, Any]:
    for number, wish in enumerate(settings.include or []):
        context.drop(f"include[{number}]", wish)
    return {}


def _nothing(settings: SettingsView, context: _Context) -> dict[str, Any]:
    return {}


HANDLED: dict[str, _Mapper] = {
    "model": _nothing,
    "input": _nothing,
    "instructions": _nothing,
    "stream": _stream,
    "tools": _nothing,
    "tool_choice": _tool_choice,
    "parallel_tool_calls": _parallel,
    "max_output_tokens": _max_tokens,
    "reasoning": _reasoning,
    "text": _text,
    "top_logprobs": _logprobs,
    "include": _include,
}
"""Fields that become something of their own, or stand elsewhere in the body."""
