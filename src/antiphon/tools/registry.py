"""The tools of one request: which name upstream is whose, and what is declared there. Routing is by this table, never by guessing.

Made anew for each request from what the client declared. Duplicates: the first wins. Tools without a name, and kinds that nobody can run, are
left out. Each is noted. Not here: how a kind is lowered (`lowering`), calls in a stream (`stages.restore`).
"""

from collections import ChainMap
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace

from antiphon.protocol.document import Document
from antiphon.protocol.notes import Kind, Note
from antiphon.tools import discovery, lowering, names
from antiphon.tools.declaration import Declaration
from antiphon.tools.lowering import Lowering
from antiphon.tools.names import NameRules

PLAIN = "functions"
"""Codex's namespace of tools that stand in no namespace elsewhere."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool that the upstream is told of: what the client declared, its name upstream, and its function there."""

    declared: Declaration
    name: str
    lowering: Lowering
    function: Document

    @property
    def is_plain(self) -> bool:
        """Whether a call of it reads the same on both sides."""
        return self.lowering is lowering.FUNCTION and self.declared.namespace is None and self.declared.name == self.name


@dataclass(slots=True)
class Registry:
    """Entries by upstream name, and names by (namespace, name). What a tool search found comes in while the history is read."""

    rules: NameRules
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    names: dict[tuple[str | None, str], str] = field(default_factory=dict[tuple[str | None, str], str])
    found: dict[str, Entry] = field(default_factory=dict[str, Entry])
    notes: list[Note] = field(default_factory=list[Note])
    dispatcher: str | None = None
    """The name of the function through which found tools are called; None where there is none."""

    def entry(self, name: str) -> Entry | None:
        """Whose call this is, by its upstream name."""
        return self.entries.get(name) or self.found.get(name)

    def meant(self, name: str, namespace: str | None = None) -> Entry | None:
        """Whose name this is, however it is written: by (namespace, name), as upstream, `namespace.name`, or a name that only one tool has."""
        known = self._known(namespace, name)
        if known is not None or namespace:
            return self.entry(known or "")
        like = [one for one in self._all() if name in (one.declared.name, f"{one.declared.namespace}.{one.declared.name}")]
        return self.entry(name) or (like[0] if len(like) == 1 else None)

    def members(self, namespace: str) -> list[Entry]:
        """The tools of a namespace."""
        return [one for one in self._all() if one.declared.namespace == namespace]

    def called_as(self, entry: Entry) -> str:
        """The function that is called for a tool: its own, or the dispatcher for a found one."""
        return self.dispatcher if self.dispatcher is not None and entry.name in self.found else entry.name

    def _all(self) -> list[Entry]:
        return [*self.entries.values(), *self.found.values()]

    def _known(self, namespace: str | None, name: str) -> str | None:
        """The name given to a tool. Codex calls those of its namespace `functions` with or without it, and takes both."""
        known = self.names.get((namespace or None, name))
        if known is None and namespace in (None, "", PLAIN):
            known = self.names.get((None if namespace else PLAIN, name))
        return known

    def find(self, declared: Iterable[Declaration]) -> list[Entry]:
        """Takes in what a search found, and says what is there to call. A tool that is declared anyway stays what it is."""
        shown: list[Entry] = []
        for one in declared:
            if one.kind not in lowering.BY_KIND or not one.name:
                self.notes.append(Note(Kind.DROPPED, one.where, f"nobody here runs {one.kind}"))
                continue
            name = self.upstream_name(one.namespace, one.name)
            row = lowering.BY_KIND[one.kind]
            entry = Entry(one, name, row, row.declare(one, name))
            if one.key not in self.names:
                self.names[one.key] = name
                self.found[name] = entry
            shown.append(entry)
        return shown

    def lowered_call(self, call: Document, row: Lowering, key: tuple[str | None, str]) -> Document:
        """A past call by its upstream name; of a found tool, through the dispatcher."""
        name = self.upstream_name(*key)
        made = row.lower_call(call, name)
        if self.dispatcher is None or name not in self.found:
            return made
        return made.but(name=self.dispatcher, arguments=discovery.dispatched(name, made.text("arguments") or "{}"))

    def raised_call(self, call: Document) -> Document:
        """A call of the model's as the client declared the tool."""
        name = call.text("name") or ""
        entry = self.entry(name)
        if name == self.dispatcher and (inner := discovery.undispatched(call.text("arguments") or "")) is not None:
            name, arguments = inner
            call = call.but(name=name, arguments=arguments)
            entry = self.meant(name)
        return call if entry is None or entry.is_plain else entry.lowering.raise_call(call, entry.declared)

    def upstream_name(self, namespace: str | None, name: str) -> str:
        """The name of a tool upstream, also of one that is no longer declared: history is renamed by the same rule."""
        known = self._known(namespace, name)
        return known if known is not None else _free_name(namespace or None, name, self.rules, ChainMap(self.entries, self.found))

    @property
    def functions(self) -> list[Document]:
        """The function tools that the client's own became."""
        return [entry.function for entry in self.callable_entries]

    @property
    def callable_entries(self) -> list[Entry]:
        """The tools that the upstream is told of by name, in the client's order: found ones too, where there is no dispatcher for them."""
        return [*self.entries.values(), *(self.found.values() if self.dispatcher is None else ())]

    @property
    def size(self) -> int:
        """How many tools the upstream is told of by name."""
        return len(self.entries) + (len(self.found) if self.dispatcher is None else 0)


def build(declared: Iterable[Declaration], rules: NameRules, *, dispatches: bool = True) -> tuple[Registry, list[Note]]:
    """The registry of one request. `dispatches`: whether tools that a search finds are called through the dispatcher."""
    chosen, notes = _choose(declared)
    assigned = _assign(chosen, rules)
    registry = Registry(rules, notes=notes)
    for one in chosen:
        name = assigned[one.key]
        row = lowering.BY_KIND[one.kind]
        registry.entries[name] = Entry(one, name, row, row.declare(one, name))
        registry.names[one.key] = name
        if name != one.name:
            notes.append(Note(Kind.RENAMED, one.where, f"known upstream as {name}"))
        if row is lowering.TOOL_SEARCH and dispatches:
            registry.dispatcher = _free_name(None, discovery.DISPATCHER, rules, set(assigned.values()))
        if row.loses is not None and (loss := row.loses(one)):
            notes.append(Note(Kind.CHANGED, one.where, loss))
    return registry, notes


def _choose(declared: Iterable[Declaration]) -> tuple[list[Declaration], list[Note]]:
    chosen: dict[tuple[str | None, str], Declaration] = {}
    notes: list[Note] = []
    for given in declared:
        one = _named(given)
        if one.kind not in lowering.BY_KIND or _is_hosted(one):
            notes.append(Note(Kind.DROPPED, one.where, f"nobody here runs {one.kind}"))
        elif not one.name:
            notes.append(Note(Kind.DROPPED, one.where, "a tool without a name"))
        elif one.key in chosen:
            notes.append(Note(Kind.DROPPED, one.where, f"a second tool named {one.label}"))
        else:
            chosen[one.key] = one
    return list(chosen.values()), notes


def _is_hosted(declared: Declaration) -> bool:
    """Whether the server itself is to run it: its searches, and shells in containers of its own."""
    container = declared.document.document("environment")
    return declared.document.text("execution") == "server" or (container is not None and container.text("type") not in (None, "local"))


def _named(declared: Declaration) -> Declaration:
    """A declaration with a name: kinds of which there is only one have none of their own."""
    row = lowering.BY_KIND.get(declared.kind)
    return declared if declared.name or row is None or not row.named else replace(declared, name=row.named)


def _assign(chosen: list[Declaration], rules: NameRules) -> dict[tuple[str | None, str], str]:
    """Names for all: tools that keep their own name first, so that no joined name takes it from them."""
    assigned: dict[tuple[str | None, str], str] = {}
    taken: dict[str, object] = {}
    for keeps in (True, False):
        for one in chosen:
            if (one.namespace is None and names.is_fit(one.name, rules)) is keeps:
                assigned[one.key] = _free_name(one.namespace, one.name, rules, taken)
                taken[assigned[one.key]] = one
    return assigned


def _free_name(namespace: str | None, name: str, rules: NameRules, taken: Container[str]) -> str:
    return next(offered for offered in names.candidates(namespace, name, rules) if offered not in taken)
