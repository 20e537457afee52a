"""A Responses request for a Responses server: the client's document, edited only where the server's rules say so.

With `verbatim` nothing is read and nothing changes. Otherwise tools become functions, past calls are lowered with them, fields and items that
the rules refuse are left out and told. Not here: the answer (`responses_answer`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from antiphon.history.pairing import Lowered, Pairing, paired
from antiphon.protocol import item_views, json
from antiphon.protocol.document import ABSENT, Document
from antiphon.protocol.notes import Kind, Note
from antiphon.protocol.request import RequestView
from antiphon.tools import choice, declaration, registry
from antiphon.tools.choice import Choice
from antiphon.tools.names import NameRules
from antiphon.tools.registry import Registry
from antiphon.translation import lowered, tool_choices
from antiphon.translation.dialect import ResponsesRules
from antiphon.translation.schemas import SchemaRules
from antiphon.translation.translated import Translated

PATH = "/responses"


def translate(document: Document, view: RequestView, rules: ResponsesRules) -> Translated:
    """The whole request."""
    if rules.verbatim:
        return Translated(PATH, document, Registry(NameRules(0)), [], edited=False)
    tools, notes = registry.build(
        [*declaration.read(view.tools or []), *lowered.additional_tools(view.input)],
        NameRules(rules.name_limit, rules.name_pattern),
        dispatches=rules.found_tools == "dispatch",
    )
    changes: dict[str, Any] = {name: ABSENT for name in document.members if name in rules.fields_dropped}
    notes += [Note(Kind.DROPPED, name) for name in changes]
    context = _Context(tools, rules, notes)
    changes |= _input(view, document.text("instructions"), context)
    if (effort := lowered.effort(view.input)) is not None:
        changes["reasoning"] = (document.document("reasoning") or Document(b"{}")).but(effort=effort)
    wanted = choice.read(document.members.get("tool_choice", Raw(b"")), tools, notes)
    told = tool_choices.as_known(wanted, rules.tool_choice, tools, notes)
    changes |= _tools(document, view, context, tool_choices.declares(wanted, told)) | _tool_choice(document, told)
    changes |= _format(document, context)
    return Translated(PATH, document.but(**changes) if changes else document, tools, notes, edited=bool(changes), choice=wanted)


@dataclass(frozen=True, slots=True)
class _Context:
    tools: Registry
    rules: ResponsesRules
    notes: list[Note]


def _tools(document: Document, view: RequestView, context: _Context, declared: Callable[[str], bool]) -> dict[str, Any]:
    """`tools` and what goes with them, as far as they change."""
    schema = SchemaRules(context.rules.schema_drops, context.rules.schema_repairs)
    functions = [made for made, _ in lowered.functions(context.tools, schema, context.notes) if declared(made.text("name") or "")]
    if not functions:
        return {name: ABSENT for name in ("tools", "parallel_tool_calls") if name in document} if "tools" in document else {}
    same = [bytes(function) for function in functions] == [bytes(tool) for tool in view.tools or []]
    return {} if same else {"tools": functions}


def _tool_choice(document: Document, wanted: Choice | None) -> dict[str, Any]:
    """`tool_choice`, as far as it changes."""
    if "tool_choice" not in document:
        return {}
    told = ABSENT if wanted is None else _spelled(wanted)
    return {} if told == document.get("tool_choice") else {"tool_choice": told}


def _format(document: Document, context: _Context) -> dict[str, Any]:
    """`text` without a form that the server would not hold the model to."""
    text = document.document("text")
    form = text.document("format") if text is not None else None
    if context.rules.formats or text is None or form is None or form.text("type") == "text":
        return {}
    context.notes.append(Note(Kind.DROPPED, "text.format", form.text("type") or ""))
    return {"text": text.but(format=ABSENT)}


def _spelled(wanted: Choice) -> Any:
    functions = [{"type": "function", "name": name} for name in wanted.names]
    if wanted.one is not None:
        return functions[0]
    return {"type": "allowed_tools", "mode": wanted.mode, "tools": functions} if functions else wanted.mode


def _input(view: RequestView, instructions: str | None, context: _Context) -> dict[str, Any]:
    """`input` and `instructions`, as far as they change."""
    tools, rules, notes = context.tools, context.rules, context.notes
    if not len(memoryview(view.input)) or json.is_text(view.input) or json.is_null(view.input):
        return {}
    given = json.elements(view.input)
    items = lowered.lower(given, tools, notes, also=rules.items)
    if rules.pairs:
        items = list(paired(items, Pairing(rules.images_in_outputs, notes)))
    changes: dict[str, Any] = {}
    if rules.merges_instructions:
        items, changes = _merged(items, instructions, context)
    kept = [one for item in items if (one := _without_fields(item, rules, notes)) is not None]
    same = [bytes(item) for item in kept] == [bytes(raw) for raw in given]
    return changes if same else {**changes, "input": kept}


def _merged(items: list[Lowered], instructions: str | None, context: _Context) -> tuple[list[Lowered], dict[str, Any]]:
    """Leading developer messages as instructions; later ones stay in place, in the role the upstream takes."""
    leading = 0
    while leading < len(items) and items[leading].role in ("developer", "system"):
        leading += 1
    words = [instructions] if instructions else []
    words += [text for item in items[:leading] for text in _texts(item, context.notes)]
    rest = [_in_role(item, context.rules.late_developer) for item in items[leading:]]
    return rest, {"instructions": "\n\n".join(words)} if leading else {}


def _texts(item: Lowered, notes: list[Note]) -> list[str]:
    where = f"{item.where}.content"
    parts = item_views.parts(item.document.members.get("content", Raw(b"")), where)
    others = [number for number, part in enumerate(parts) if part.text is None]
    notes += [Note(Kind.DROPPED, f"{where}[{number}]", f"{parts[number].type} cannot stand there") for number in others]
    return [part.text for part in parts if part.text]


def _in_role(item: Lowered, role: str) -> Lowered:
    if item.role not in ("developer", "system") or item.role == role:
        return item
    return Lowered(item.type, item.document.but(role=role), item.where, role=role)


_HELPERS = frozenset({"parsed_arguments"})
"""What OpenAI's SDK for Node puts into a call beside the arguments that it read it from: no API has it, and nothing is lost with it."""


def _without_fields(item: Lowered, rules: ResponsesRules, notes: list[Note]) -> Document | None:
    """An item without the fields that the upstream refuses; None where nothing readable is left of it."""
    members = item.document.members
    refused = [
        name for name, spelled in members.items() if name in rules.item_fields_dropped or name in _HELPERS or _is_no_id(name, spelled)
    ]
    told = [name for name in refused if name in rules.item_fields_dropped and not json.is_null(members[name])]
    notes += [Note(Kind.DROPPED, f"input[*].{name}") for name in told]
    kept = item.document.but(**dict.fromkeys(refused, ABSENT)) if refused else item.document
    if item.type != "reasoning":
        return kept
    if not kept.elements("summary") and not kept.elements("content"):
        notes.append(Note(Kind.DROPPED, item.where, "sealed reasoning that only its maker can read"))
        return None
    return _with_content(kept) if rules.thoughts_in_content and not kept.elements("content") else kept


def _is_no_id(name: str, spelled: Raw) -> bool:
    return name == "id" and bytes(spelled) in (b"null", b'""')


def _with_content(reasoning: Document) -> Document:
    """A reasoning item whose summary stands in its content too."""
    texts = [Document(part).members.get("text", Raw(b'""')) for part in reasoning.elements("summary")]
    return reasoning.but(content=[Document.of({"type": "reasoning_text", "text": text}).raw for text in texts])
