"""The kinds of rules that providers publish, each as a check of a chat request: what it finds wrong it yields in words.

A provider's own rules are data, in the TOML file with its name; each names a check here, what the check needs to know, and where the rule comes
from. Checks that a row gives nothing but a name are what every server wants that speaks Chat Completions.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.scripted import chat_rules
from tests.scripted.script import Json, listing, mapping, objects

Check = Callable[..., Iterator[str]]


def fields(body: Json, *, known: list[str]) -> Iterator[str]:
    """No field that the server does not know."""
    yield from (f"{name}: unknown field" for name in sorted(body.keys() - set(known)))


def no_nulls(body: Json) -> Iterator[str]:
    """No field is null."""
    yield from (f"{name}: null" for name, value in body.items() if value is None)


def number(body: Json, *, field: str, least: float, most: float) -> Iterator[str]:
    """A number lies within its range."""
    if field in body and not least <= body[field] <= most:
        yield f"{field}: {body[field]} is not within {least} to {most}"


def roles(body: Json, *, known: list[str]) -> Iterator[str]:
    """Nobody speaks whom the server does not know."""
    yield from (f"{path}.role: {message['role']}" for path, message in messages(body) if message["role"] not in known)


def system_first(body: Json) -> Iterator[str]:
    """There is one system message, at the beginning."""
    yield from _plain(chat_rules.system_first(body))


def conversation(body: Json) -> Iterator[str]:
    """There is a message, and somebody asks something."""
    if not any(message["role"] in ("user", "tool") for _, message in messages(body)):
        yield "messages: nobody asks anything"


def message_fields(body: Json, *, role: str, known: list[str]) -> Iterator[str]:
    """No field in a message that the server does not know."""
    for path, message in messages(body, role):
        yield from (f"{path}.{name}: unknown field of a {role} message" for name in sorted(message.keys() - set(known)))


def apart(body: Json, *, pairs: list[list[str]]) -> Iterator[str]:
    """Some roles never follow each other."""
    said = [message["role"] for _, message in messages(body)]
    yield from (f"messages[{at + 1}]: {pair[1]} behind {pair[0]}" for at in range(len(said) - 1) if (pair := said[at : at + 2]) in pairs)


def last(body: Json, *, known: list[str]) -> Iterator[str]:
    """The last word is somebody's who may have it."""
    said = [message["role"] for _, message in messages(body)]
    if said[-1] not in known:
        yield f"messages: {said[-1]} speaks last"


def assistant_content(body: Json, *, known: list[str]) -> Iterator[str]:
    """What the model said is spelled as the server takes it: `text`, `empty`, `null`, `absent`, `parts`."""
    for path, message in messages(body, "assistant"):
        kind = _kind(message)
        if kind not in known:
            yield f"{path}.content: {kind}"
        if kind in ("empty", "null", "absent") and not message.get("tool_calls"):
            yield f"{path}: neither content nor calls"


def _kind(message: Json) -> str:
    match message.get("content", ...):
        case "":
            return "empty"
        case str():
            return "text"
        case None:
            return "null"
        case list():
            return "parts"
        case _:
            return "absent"


def parts(body: Json, *, role: str, known: list[str]) -> Iterator[str]:
    """Content of these kinds only; `text` alone may be a string."""
    for path, message in messages(body, role):
        content = message.get("content")
        if isinstance(content, str) or (role == "assistant" and not content):
            continue
        for at, part in enumerate(objects(content)):
            if part.get("type") not in known:
                yield f"{path}.content[{at}]: {part.get('type')}"
        if not listing(content):
            yield f"{path}.content: {content!r}"


def text_only(body: Json, *, role: str) -> Iterator[str]:
    """Content is a string."""
    yield from (f"{path}.content: no string" for path, message in messages(body, role) if not isinstance(message.get("content"), str))


def image_urls(body: Json, *, beginnings: list[str]) -> Iterator[str]:
    """Images by addresses that the server can read."""
    for path, message in messages(body):
        for part in objects(message.get("content")):
            url = mapping(part.get("image_url")).get("url")
            if part.get("type") == "image_url" and not str(url).startswith(tuple(beginnings)):
                yield f"{path}: an image by {str(url)[:30]!r}"


def paired(body: Json) -> Iterator[str]:
    """Outputs stand right behind their calls, all of them; no two answers in a row."""
    yield from _plain(chat_rules.pairing(body))
    yield from _plain(chat_rules.assistants(body))


def call_ids(body: Json, *, pattern: str) -> Iterator[str]:
    """Ids of calls look as they must."""
    for path, message in messages(body):
        ids = [call.get("id") for call in objects(message.get("tool_calls"))]
        ids += [message.get("tool_call_id")] if message["role"] == "tool" else []
        yield from (f"{path}: the id {one!r}" for one in ids if not isinstance(one, str) or not re.fullmatch(pattern, one))
        if len(ids) > len(set(ids)):
            yield f"{path}: an id twice"


def thoughts(body: Json, *, field: str, on: str = "calls", needed: bool = False) -> Iterator[str]:
    """Reasoning comes back in this field, as a text that is not empty: on turns with `calls`, or on `any`. `needed`: with every call."""
    for path, message in messages(body, "assistant"):
        given = message.get(field)
        if given is None:
            if needed and message.get("tool_calls") and not _is_off(body):
                yield f"{path}.{field}: missing"
        elif not isinstance(given, str) or not given:
            yield f"{path}.{field}: {given!r}"
        elif on == "calls" and not message.get("tool_calls"):
            yield f"{path}.{field}: on a turn without calls"


def no_thoughts(body: Json, *, known: list[str] = []) -> Iterator[str]:  # noqa: B006
    """No reasoning in fields that the server does not know."""
    for path, message in messages(body):
        yield from (
            f"{path}.{name}" for name in ("reasoning", "reasoning_content", "reasoning_details") if name in message and name not in known
        )


def tools(body: Json, *, known: list[str], names: str = "[a-zA-Z0-9_-]{1,64}", most: int = 10_000) -> Iterator[str]:
    """Functions with names, fields and a schema that the server takes, each once; none means no list at all."""
    if "tools" in body and not listing(body["tools"]):
        yield "tools: an empty list"
    declared = [mapping(tool.get("function")) for tool in objects(body.get("tools"))]
    for at, function in enumerate(declared):
        path = f"tools[{at}].function"
        yield from (f"{path}.{name}: unknown" for name in sorted(function.keys() - set(known)))
        yield from _named(function, path, names)
        schema = function.get("parameters")
        if not isinstance(schema, dict) or mapping(schema).get("type") != "object":
            yield f"{path}.parameters: no object"
    for path, message in messages(body, "assistant"):
        for call in objects(message.get("tool_calls")):
            yield from _named(mapping(call.get("function")), path, names)
    if len(declared) > most or len({function.get("name") for function in declared}) < len(declared):
        yield "tools: too many, or one twice"


def _named(function: Json, path: str, pattern: str) -> Iterator[str]:
    if not re.fullmatch(pattern, str(function.get("name"))):
        yield f"{path}.name: {function.get('name')!r}"


def schemas(body: Json, *, typed: bool = False, refused: list[str] = [], lone: bool = False, flat: bool = False) -> Iterator[str]:  # noqa: B006
    """Schemas in the provider's own subset: every property `typed`, no `refused` keywords, references `lone`, a `flat` root; tuples never."""
    for at, tool in enumerate(objects(body.get("tools"))):
        root = mapping(mapping(tool.get("function")).get("parameters"))
        if flat and root.keys() & {"anyOf", "oneOf", "allOf"}:
            yield f"tools[{at}]: alternatives at the root"
        for node in _nodes(root):
            yield from (f"tools[{at}]: keyword {word}" for word in refused if word in node)
            yield from (f"tools[{at}]: {why}" for why in _odd(node, typed=typed, lone=lone))


def _odd(node: Json, *, typed: bool, lone: bool) -> Iterator[str]:
    if typed and isinstance(node.get("items"), list):
        yield "a tuple"
    if typed and "type" in node and node.keys() & {"anyOf", "oneOf"}:
        yield "a type beside alternatives"
    if typed and None in (listing(node.get("enum")) or ()):
        yield "null among the values"
    if lone and "$ref" in node and len(node) > 1:
        yield "a reference with company"
    known = {"type", "$ref", "anyOf", "oneOf", "allOf"}
    for name, schema in mapping(node.get("properties")).items():
        if typed and isinstance(schema, dict) and not mapping(schema).keys() & known:
            yield f"property {name} without a type"


def _nodes(schema: Any) -> Iterator[Json]:
    """All schemas within one."""
    if isinstance(schema, list):
        for one in listing(schema):
            yield from _nodes(one)
    if not isinstance(schema, dict):
        return
    node = mapping(schema)
    yield node
    for key, value in node.items():
        if key in ("properties", "$defs", "definitions"):
            for one in mapping(value).values():
                yield from _nodes(one)
        elif key not in ("enum", "const", "default", "examples"):
            yield from _nodes(value)


def tool_choice(body: Json, *, words: list[str], by_name: bool = True, lists: bool = False) -> Iterator[str]:
    """A choice that the server can be told, of a tool that is there, and only where there are tools."""
    if "tool_choice" not in body:
        return
    chosen, names = body["tool_choice"], [mapping(tool.get("function")).get("name") for tool in objects(body.get("tools"))]
    if not names:
        yield "tool_choice: without tools"
    if isinstance(chosen, str):
        if chosen not in words:
            yield f"tool_choice: {chosen}"
    elif mapping(chosen).get("type") == "allowed_tools":
        yield from () if lists else ("tool_choice: a list",)
    elif not by_name or mapping(mapping(chosen).get("function")).get("name") not in names:
        yield f"tool_choice: {chosen}"


def forced_without_thinking(body: Json, *, field: str, off: Any) -> Iterator[str]:
    """A call is forced only where thinking is off."""
    chosen = body.get("tool_choice", "auto")
    if (chosen == "required" or isinstance(chosen, dict)) and body.get(field) != off:
        yield f"tool_choice: {chosen} while it thinks"


def _is_off(body: Json) -> bool:
    return mapping(body.get("thinking")).get("type") == "disabled" or body.get("enable_thinking") is False


def not_together(body: Json, *, pair: list[str]) -> Iterator[str]:
    """Two fields that exclude each other."""
    if all(name in body for name in pair):
        yield f"{' and '.join(pair)} together"


def values(body: Json, *, field: str, known: list[Any]) -> Iterator[str]:
    """A field, with a dot where it is within another, has one of these values."""
    outer, _, inner = field.partition(".")
    value = mapping(body.get(outer)).get(inner) if inner else body.get(outer)
    if value is not None and value not in known:
        yield f"{field}: {value!r}"


def response_format(body: Json, *, types: list[str], schema: str = "json_schema") -> Iterator[str]:
    """A form that the server can be held to, with its schema where it looks for it."""
    if (form := mapping(body.get("response_format"))) and form.get("type") not in types:
        yield f"response_format: {form.get('type')}"
    if form.get("type") == "json_schema":
        named = mapping(form.get("json_schema"))
        if not isinstance(named.get("name"), str) or not isinstance(named.get("schema"), dict):
            yield "response_format.json_schema: no name or no schema"
    if "schema" in form and schema != "json_object":
        yield "response_format.schema: looked for elsewhere"


def json_is_spoken_of(body: Json) -> Iterator[str]:
    """JSON mode wants the word in the prompt."""
    said = " ".join(str(message.get("content")) for _, message in messages(body))
    if mapping(body.get("response_format")).get("type") == "json_object" and "json" not in said.lower():
        yield "messages: JSON mode, and no word of JSON"


def messages(body: Json, role: str = "") -> Iterator[tuple[str, Json]]:
    """The messages, with their paths."""
    for at, message in enumerate(objects(body["messages"])):
        if not role or message["role"] == role:
            yield f"messages[{at}]", message


def _plain(complaints: Iterator[Any]) -> Iterator[str]:
    return (f"{one.param}: {one.message}" for one in complaints)


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        fields, no_nulls, number, roles, system_first, conversation, message_fields, apart, last, assistant_content, parts, text_only, image_urls,
        paired, call_ids, thoughts, no_thoughts, tools, schemas, tool_choice, forced_without_thinking, not_together, values, response_format,
        json_is_spoken_of,
    )
}  # fmt: skip
"""Name → the check."""
