"""What a client may say to resume a thread, in every generation of the protocol: one type out of all.

| generation | method | of the ways to resume, the first that is given counts |
|---|---|---|
| `v1` | `resumeConversation`, to March 2026; overrides nested | path, conversation id, history |
| `v2-february` | `thread/resume` with multimodal outputs | history, path, thread id |
| `v2-march` | the same, with tool search and service tiers | history, path, thread id |
| `current` | the same, of Codex 0.169 | history, path, thread id |

The published schemas and the binaries of each generation disagree about outputs; both are taken. What was sent is kept: `document` is the
client's own, items of unknown types are in `history`. Not here: doing it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from antiphon.protocol import json
from antiphon.protocol.document import Document
from antiphon.protocol.notes import Note
from antiphon.threads import approval
from antiphon.threads.approval import Approval
from antiphon.threads.errors import Refused
from antiphon.threads.resume_items import checked, plain

Sandbox = Literal["read-only", "workspace-write", "danger-full-access"]
Personality = Literal["none", "friendly", "pragmatic"]
UUID: Final = re.compile(r"(?:urn:uuid:)?\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?")


class Generation(StrEnum):
    """A generation of the protocol."""

    V1 = "v1"
    V2_FEBRUARY = "v2-february"
    V2_MARCH = "v2-march"
    CURRENT = "current"


class Overrides(msgspec.Struct, kw_only=True, rename="camel"):
    """What is to be otherwise than the thread has it. Absent and null are the same, but for the service tier."""

    model: str | None = None
    model_provider: str | None = None
    cwd: str | None = None
    approval_policy: Approval | None = None
    sandbox: Sandbox | None = None
    config: dict[str, Any] | None = None
    base_instructions: str | None = None
    developer_instructions: str | None = None


class OverridesV1(Overrides, kw_only=True, rename="camel"):
    """What v1 has besides."""

    profile: str | None = None
    compact_prompt: str | None = None
    include_apply_patch_tool: bool | None = None


class ResumeConversationParams(msgspec.Struct, kw_only=True, rename="camel"):
    """`resumeConversation`."""

    conversation_id: str | None = None
    path: str | None = None
    history: list[Raw] | None = None
    overrides: OverridesV1 | None = None


class ThreadResumeParamsFebruary(Overrides, kw_only=True, rename="camel"):
    """`thread/resume` of February 2026."""

    thread_id: str
    path: str | None = None
    history: list[Raw] | None = None
    personality: Personality | None = None
    persist_extended_history: bool | None = None


class ThreadResumeParamsMarch(ThreadResumeParamsFebruary, kw_only=True, rename="camel"):
    """`thread/resume` of March 2026."""

    service_tier: str | UnsetType | None = UNSET


class TurnsPage(msgspec.Struct, kw_only=True, rename="camel"):
    """The first page of turns that is to come with the answer."""

    limit: int | None = None
    sort_direction: Literal["asc", "desc"] | None = None
    items_view: Literal["notLoaded", "summary", "full"] | None = None


class ThreadResumeParams(ThreadResumeParamsMarch, kw_only=True, rename="camel"):
    """`thread/resume` of Codex 0.169."""

    approvals_reviewer: Literal["user", "auto_review", "guardian_subagent"] | None = None
    permissions: str | None = None
    runtime_workspace_roots: list[str] | None = None
    exclude_turns: bool | None = None
    initial_turns_page: TurnsPage | None = None


SHAPES: Final[Mapping[Generation, type[msgspec.Struct]]] = {
    Generation.V1: ResumeConversationParams,
    Generation.V2_FEBRUARY: ThreadResumeParamsFebruary,
    Generation.V2_MARCH: ThreadResumeParamsMarch,
    Generation.CURRENT: ThreadResumeParams,
}
_READERS: Final = {generation: json.reader(shape) for generation, shape in SHAPES.items()}


@dataclass(frozen=True, slots=True)
class ById:
    """By the thread's id, from the disk."""

    id: str


@dataclass(frozen=True, slots=True)
class ByPath:
    """By a rollout file."""

    path: str


@dataclass(frozen=True, slots=True)
class ByHistory:
    """By items. It is a new thread that begins with them."""

    items: tuple[Document, ...]


Way = ById | ByPath | ByHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeParams:
    """One request to resume. `overrides` are by today's names, in wire spelling; `notes` say what had to be changed for that."""

    generation: Generation
    document: Document
    thread_id: str | None
    path: str | None
    history: tuple[Document, ...] | None
    overrides: Mapping[str, Any]
    notes: tuple[Note, ...]

    @classmethod
    def read(cls, params: Document | bytes, generation: Generation | None = None) -> "ResumeParams":
        """Reads what a client sent; without a generation, by what it says."""
        document = params if isinstance(params, Document) else Document(params)
        which = generation or told_generation(document)
        shape = _view(document, which)
        given: Any = shape.overrides or OverridesV1() if which is Generation.V1 else shape
        overrides, notes = _today(given)
        spelled = shape.history
        return cls(
            generation=which,
            document=document,
            thread_id=shape.conversation_id if which is Generation.V1 else shape.thread_id,
            path=shape.path,
            history=None if spelled is None else tuple(checked(item, f"history[{at}]") for at, item in enumerate(spelled)),
            overrides=overrides,
            notes=tuple(notes),
        )

    def way(self) -> Way:
        """How to resume: the first of the ways that the generation prefers and the client gave."""
        return WAYS[Generation.V1 if self.generation is Generation.V1 else Generation.CURRENT](self)


def told_generation(params: Document) -> Generation:
    """The generation by the words of a request. The Februaries and Marches of v2 are told apart by what only one of them has."""
    if "threadId" not in params:
        return Generation.V1
    return Generation.CURRENT


def _by_v1(params: ResumeParams) -> Way:
    if params.path is not None:
        return ByPath(params.path)
    if params.thread_id is not None:
        return ById(_uuid(params.thread_id, "Invalid request: invalid conversation id", "conversationId"))
    if params.history:
        return _by_history(params.history)
    raise Refused("either path, conversation id or non empty history must be provided", param="conversationId")


def _by_v2(params: ResumeParams) -> Way:
    if params.history is not None:
        if not params.history:
            raise Refused("history must not be empty", param="history")
        return _by_history(params.history)
    if params.path:
        return ByPath(params.path)
    return ById(_uuid(params.thread_id or "", "invalid session id", "threadId"))


WAYS: Final[Mapping[Generation, Callable[[ResumeParams], Way]]] = {Generation.V1: _by_v1, Generation.CURRENT: _by_v2}
"""The two orders of precedence."""


def _by_history(history: tuple[Document, ...]) -> ByHistory:
    return ByHistory(tuple(plain(item, f"history[{at}]") for at, item in enumerate(history)))


def _uuid(text: str, why: str, param: str) -> str:
    if UUID.fullmatch(text) is None:
        raise Refused(f"{why}: {text[:80]!r} is no UUID", param=param)
    hex = re.sub(r"urn:uuid:|[{}-]", "", text).lower()
    return f"{hex[:8]}-{hex[8:12]}-{hex[12:16]}-{hex[16:20]}-{hex[20:]}"


OVERRIDES: Final = (
    "model",
    "model_provider",
    "cwd",
    "sandbox",
    "config",
    "base_instructions",
    "developer_instructions",
    "personality",
    "profile",
    "compact_prompt",
    "include_apply_patch_tool",
    "approvals_reviewer",
    "permissions",
    "runtime_workspace_roots",
)


def _today(given: msgspec.Struct) -> tuple[dict[str, Any], list[Note]]:
    """The overrides that are given, by their names on the wire."""
    overrides: dict[str, Any] = {_camel(name): value for name in OVERRIDES if (value := getattr(given, name, None)) is not None}
    notes: list[Note] = []
    policy = getattr(given, "approval_policy", None)
    if policy is not None:
        overrides["approvalPolicy"], notes = approval.today(policy, "approvalPolicy")
    tier = getattr(given, "service_tier", UNSET)
    if tier is not UNSET:
        overrides["serviceTier"] = tier
    if "sandbox" in overrides and "permissions" in overrides:
        raise Refused("`permissions` cannot be combined with `sandbox`", param="permissions")
    return overrides, notes


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _view(document: Document, generation: Generation) -> Any:
    try:
        return json.view(document.raw, _READERS[generation])
    except json.WrongType as wrong:
        path = wrong.path or "params"
        raise Refused(f"Invalid request: {path}: {wrong.expected}", param=path) from None
    except json.BadJson as bad:
        raise Refused(f"Invalid request: {bad}", param="params") from None
