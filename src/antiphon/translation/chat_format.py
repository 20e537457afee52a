"""The form that an answer shall have, as the server can be held to it: `response_format`, or words where nothing else is left.

The words stand with the instructions, where they do not move while the setting stays. Not here: repairing an answer that does not fit.
"""

from typing import Any, NamedTuple

from antiphon.protocol import json
from antiphon.protocol.request import FormatView
from antiphon.translation.chat_context import Context

ANY_OBJECT = {"type": "object"}
WORDS = "Answer with one JSON object and nothing else, neither before nor after it."
"""Servers with a JSON mode want JSON to be spoken of in the prompt too."""
BY_SCHEMA = "It must be valid by this JSON Schema:"


class Formatted(NamedTuple):
    """What a form becomes: fields of the request, and words for the model."""

    fields: dict[str, Any]
    words: str = ""


def formatted(form: FormatView | None, context: Context) -> Formatted:
    """All that `text.format` says."""
    if form is None or form.type == "text":
        return Formatted({})
    if form.type == "json_object":
        return _any_object(context)
    if form.type == "json_schema":
        return _by_schema(form, context)
    return Formatted(context.drop("text.format", form.type))


def _any_object(context: Context) -> Formatted:
    match context.rules.json_object:
        case "json_object":
            return Formatted({"response_format": {"type": "json_object"}})
        case "json_schema":
            return Formatted({"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANY_OBJECT}}})
        case _:
            return Formatted(context.drop("text.format", "json_object"))


def _by_schema(form: FormatView, context: Context) -> Formatted:
    schema: Any = form.schema if len(memoryview(form.schema)) else None
    match context.rules.json_schema:
        case "json_schema":
            named = {"name": form.name or "answer", "description": form.description, "strict": form.strict, "schema": schema}
            given = {name: value for name, value in named.items() if value is not None}
            return Formatted({"response_format": {"type": "json_schema", "json_schema": given}})
        case "json_object":
            return Formatted({"response_format": {"type": "json_object", "schema": schema or ANY_OBJECT}})
        case "words":
            context.change("text.format", "told in words: nothing but these holds the model to the schema")
            spelled = json.encode(schema or ANY_OBJECT).decode()
            return Formatted(_any_object(context).fields, f"{WORDS} {BY_SCHEMA}\n{spelled}")
        case _:
            return Formatted(context.drop("text.format", form.type))
