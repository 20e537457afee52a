"""A Responses request as a Chat Completions request.

Every field of the client's request is in one of the tables below: mapped, handled by name, meaningless at its default, or told as dropped. Not
here: the message list (`chat_messages`), the answer (`chat_answer`).
"""

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from antiphon.history.pairing import Pairing, paired
from antiphon.protocol import json, request, response
from antiphon.protocol.document import Document
from antiphon.protocol.request import SettingsView
from antiphon.tools import declaration, registry
from antiphon.tools.names import NameRules
from antiphon.translation import chat_format, chat_tools, logprobs, lowered
from antiphon.translation.chat_context import Context
from antiphon.translation.chat_messages import messages
from antiphon.translation.chat_thinking import effort_fields
from antiphon.translation.dialect import ChatRules
from antiphon.translation.translated import Translated

PATH = "/chat/completions"


def translate(document: Document, rules: ChatRules) -> Translated:
    """The whole request. The model's name is the caller's business: an alias changes routing only."""
    settings = request.settings(document)
    tools, notes = registry.build(
        [*declaration.read(settings.tools or []), *lowered.additional_tools(settings.input)],
        NameRules(rules.name_limit, rules.name_pattern),
        dispatches=rules.found_tools == "dispatch",
    )
    items = lowered.lower(request.items(settings.input), tools, notes)
    context = Context(rules, tools, notes)
    form = chat_format.formatted(settings.text.format if settings.text is not None else None, context)
    instructions = "\n\n".join(text for text in (settings.instructions, form.words) if text)
    pairing = Pairing(rules.images_in_outputs, notes)
    body: dict[str, Any] = {"model": settings.model, "messages": messages(instructions, paired(items, pairing), rules, notes)}
    made = chat_tools.tools(settings, context)
    body |= made.fields | form.fields
    given = settings.reasoning.effort if settings.reasoning is not None else None
    if (effort := lowered.effort(settings.input) or given) is not None:
        body |= effort_fields(effort, context, forced=made.forced)
    for name in document.members:
        body |= _field(name, document, settings, context)
    sent = Document.of(rules.adds | body)
    return Translated(PATH, sent, tools, notes, choice=made.choice, logprobs="logprobs" in body)


_Mapper = Callable[[SettingsView, Context], dict[str, Any]]


def _field(name: str, document: Document, settings: SettingsView, context: Context) -> dict[str, Any]:
    """What one field of the request becomes."""
    if name in HANDLED:
        for lost in _lost_parts(name, document):
            context.drop(f"{name}.{lost}")
        return HANDLED[name](settings, context)
    spelled, rules = document.members[name], context.rules
    if json.is_null(spelled):  # as unsaid; some servers refuse it in words
        return {}
    if name in rules.passes or name in rules.renames:
        return {rules.renames.get(name, name): _in_range(name, spelled, context)}
    if name in _FOR_THE_CLIENT or spelled_default(name, spelled):
        return {}
    return context.drop(name)


def _in_range(name: str, spelled: Raw, context: Context) -> Any:
    """A number that the server takes."""
    value = json.value(spelled) if name in context.rules.ranges else None
    if not isinstance(value, int | float):
        return spelled
    least, most = context.rules.ranges[name]
    if least <= value <= most:
        return spelled
    context.change(name, f"the server takes {least:g} to {most:g}")
    return max(least, min(most, value))


_PARTS = {"reasoning": ("effort", "summary"), "text": ("format", "verbosity"), "stream_options": ("include_obfuscation",)}
"""What a translation reads of a setting that is an object."""


def _lost_parts(name: str, document: Document) -> list[str]:
    setting = document.document(name) if name in _PARTS else None
    members = {} if setting is None else setting.members
    return [part for part, spelled in members.items() if part not in _PARTS[name] and not json.is_null(spelled)]


def spelled_default(name: str, spelled: Raw) -> bool:
    """Whether a setting says what would be so without it."""
    default = response.DEFAULTS.get(name, Raw(b"null"))
    return json.value(spelled) in (json.value(default), [], {}) or (name, bytes(spelled)) in _SAME_AS_DEFAULT


_SAME_AS_DEFAULT = {("service_tier", b'"default"')}
_FOR_THE_CLIENT = frozenset({"metadata"})
"""Settings that the response must carry, and nothing else."""


def _stream(settings: SettingsView, context: Context) -> dict[str, Any]:
    if not settings.stream:
        return {}
    return {"stream": True, **({"stream_options": {"include_usage": True}} if context.rules.stream_usage else {})}


def _max_tokens(settings: SettingsView, context: Context) -> dict[str, Any]:
    return {} if settings.max_output_tokens is None else {context.rules.max_tokens: settings.max_output_tokens}


def _verbosity(settings: SettingsView, context: Context) -> dict[str, Any]:
    if settings.text is None or settings.text.verbosity is None:
        return {}
    return {context.rules.verbosity: settings.text.verbosity} if context.rules.verbosity else context.drop("text.verbosity")


def _logprobs(settings: SettingsView, context: Context) -> dict[str, Any]:
    if not settings.top_logprobs:
        return {}
    return {"logprobs": True, "top_logprobs": settings.top_logprobs} if context.rules.logprobs else context.drop("top_logprobs")


def _include(settings: SettingsView, context: Context) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for number, wish in enumerate(settings.include or []):
        if wish == logprobs.WISH and context.rules.logprobs:
            made["logprobs"] = True
        else:
            context.drop(f"include[{number}]", wish)
    return made


def _stream_options(settings: SettingsView, context: Context) -> dict[str, Any]:
    """Nothing is obfuscated here."""
    wished = settings.stream_options is not None and settings.stream_options.include_obfuscation
    return context.drop("stream_options.include_obfuscation") if wished else {}


def _nothing(settings: SettingsView, context: Context) -> dict[str, Any]:
    return {}


HANDLED: dict[str, _Mapper] = {
    "model": _nothing,
    "input": _nothing,
    "instructions": _nothing,
    "stream": _stream,
    "tools": _nothing,
    "tool_choice": _nothing,
    "parallel_tool_calls": _nothing,
    "max_output_tokens": _max_tokens,
    "reasoning": _nothing,
    "text": _verbosity,
    "top_logprobs": _logprobs,
    "max_tool_calls": _nothing,
    "include": _include,
    "stream_options": _stream_options,
}
"""Fields that become something of their own, or stand elsewhere in the body. `max_tool_calls` counts calls that a server runs itself: there are none."""
