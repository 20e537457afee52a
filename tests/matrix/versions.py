"""The versions of Codex that the matrix runs, as data: how each is told of a model, what it lacks, what it shows otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.matrix.row import COMMAND, UNKNOWN_MODEL, Moved, Row, Step
from tests.matrix.tool_rows import UNTITLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Differs:
    """What one row is in one version: settings besides its own, fields of the row, fields of its first process."""

    config: Mapping[str, str] = field(default_factory=dict[str, str])
    row: Mapping[str, Any] = field(default_factory=dict[str, Any])
    step: Mapping[str, Any] = field(default_factory=dict[str, Any])
    how: str = ""  # how the feature was switched on, where a model's entry does not do it


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version. `catalogue` is what can tell it of a model: `url` (the provider's), `json` (a file) or `none`."""

    number: str
    catalogue: str = "json"
    how: str = "`model_catalog_json`, a file; it does not know `model_catalog_url`"
    warns: bool = True  # in the events of `codex exec`: of an unknown model, of a compaction
    namespaces: bool = True
    usage: tuple[str, ...] = ("input_tokens", "cached_input_tokens", "output_tokens")  # that `codex exec` shows
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    lacks: Mapping[str, str] = field(default_factory=dict[str, str])  # by row: why it cannot be run
    differs: Mapping[str, Differs] = field(default_factory=dict[str, Differs])  # by row


REASONING_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
WHOLE_USAGE = (*REASONING_USAGE, "cache_write_input_tokens")
RAW_BODY = (r'\{\s*"error".*', "<the body>")
NOT_WAITING = Differs(row={"requests": 1}, step={"exit": 1, "last": "", "error": "429 Too Many Requests", "items": ()})
RAW_FAILURE = Differs(row={"masks": (RAW_BODY,)}, step={"error": "context_length_exceeded"})
WARNED = ("agent_message", "command_execution", "error", "agent_message")
TO_AUTUMN = {
    "429-retry-after": Differs(row={"requests": 1}),
    "429-once": NOT_WAITING,
    "context-too-long": RAW_FAILURE,
    "context-too-long-vllm": RAW_FAILURE,
    "context-too-long-llama-cpp": RAW_FAILURE,
    "length": Differs(row={"requests": 2}, step={"items": ("agent_message", "agent_message")}),
    "length-call": Differs(row={"requests": 2}),
    "compaction": Differs(step={"items": WARNED}),
}
NO_IDS = Differs(
    row={"moved": {"chat": Moved(at=r"I will look\.<", why="items have no ids, and none says where an answer broke off and another began")}}
)
REVIEW = {"approval_policy": '"on-request"', "approvals_reviewer": '"auto_review"'}
REVIEWED = Differs(
    config=REVIEW,
    step={"sandbox": ("-s", "workspace-write")},
    how="`approvals_reviewer`; there is no `--approve-for-me`",
)
TEAM_SHOWN = ("collab_tool_call", "collab_tool_call", "agent_message")
NO_TITLE = Differs(row={"requests": 2}, step={"keys": UNTITLED})
TO_SUMMER = {
    **{name: differs for name, differs in TO_AUTUMN.items() if name != "compaction"},
    "auto-review": REVIEWED,
    "auto-review-refuses": REVIEWED,
    "interrupted-terminal": NO_TITLE,
}
LACKS_TITLE = "the terminal asks for no title"
LACKS_LITE = "there is no Responses-Lite"
LACKS_REVIEW = "`codex exec` asks nobody for approval"
LACKS_SEARCH = "it searches no tools of MCP servers"
LACKS_TEAM = "there are no agents that send messages"
TO_SPRING = {
    **{name: differs for name, differs in TO_SUMMER.items() if "review" not in name},
    "compaction": Differs(step={"items": WARNED}),
    "interrupted": Differs(step={"exit": 0}),
}
LACKS_MEMORIES = "its memories are made of older sessions, and it asks for none in a first one"
LACKED_IN_SPRING = {
    "tool-search": LACKS_SEARCH,
    "tool-search-again": LACKS_SEARCH,
    "code-mode-lite": LACKS_LITE,
    "agents-v2": LACKS_TEAM,
    "auto-review": LACKS_REVIEW,
    "auto-review-refuses": LACKS_REVIEW,
    "memories": LACKS_MEMORIES,
    "title": LACKS_TITLE,
}
DEFERRED = Differs(config={"features.tool_search_always_defer_mcp_tools": "true"}, how="feature `tool_search_always_defer_mcp_tools`")

NEWEST = Version(
    number="0.169.0",
    catalogue="url",
    how="`model_catalog_url` of the provider; for special models `model_catalog_json`",
    usage=WHOLE_USAGE,
)
VERSIONS: Mapping[str, Version] = {
    version.number: version
    for version in (
        NEWEST,
        Version(number="0.155.0", usage=WHOLE_USAGE, differs=TO_AUTUMN),
        Version(
            number="0.139.0",
            warns=False,
            usage=REASONING_USAGE,
            lacks={"title": LACKS_TITLE, "code-mode-lite": LACKS_LITE},
            differs={
                **TO_SUMMER,
                "asked-again": NO_IDS,
                "tool-search": DEFERRED,
                "tool-search-again": DEFERRED,
                "agents-v2": Differs(row={"declared": ()}, step={"items": TEAM_SHOWN}),
            },
        ),
        Version(
            number="0.125.0",
            warns=False,
            usage=REASONING_USAGE,
            lacks={
                "title": LACKS_TITLE,
                "code-mode-lite": LACKS_LITE,
                "auto-review": LACKS_REVIEW,
                "auto-review-refuses": LACKS_REVIEW,
                "memories": LACKS_MEMORIES,
            },
            differs={
                **TO_SUMMER,
                "asked-again": NO_IDS,
                "tool-search": DEFERRED,
                "tool-search-again": DEFERRED,
                "code-mode": Differs(
                    config={"features.code_mode": "true", "features.code_mode_only": "true"},
                    how="features `code_mode` and `code_mode_only`",
                ),
                "agents-v1": Differs(row={"declared": ()}),
                "agents-v2": Differs(
                    config={"features.multi_agent_v2": "true"},
                    row={"declared": ()},
                    step={"items": TEAM_SHOWN},
                    how="feature `multi_agent_v2`",
                ),
            },
        ),
        Version(
            number="0.114.0",
            namespaces=False,
            lacks={**LACKED_IN_SPRING, "code-mode": "its code mode runs on Node 22.22 or newer"},
            differs={
                **TO_SPRING,
                "agents-v1": Differs(config={"features.multi_agent": "true"}, how="feature `multi_agent`"),
                "agents-three": Differs(config={"features.multi_agent": "true"}, how="feature `multi_agent`"),
            },
        ),
        Version(
            number="0.98.0",
            catalogue="none",
            how="by configuration alone (feature `apply_patch_freeform`, key `model_supports_reasoning_summaries`): it reads no catalogue",
            namespaces=False,
            config={"features.apply_patch_freeform": "true", "model_supports_reasoning_summaries": "true"},
            lacks={**LACKED_IN_SPRING, "code-mode": "there is no code mode"},
            differs={
                **TO_SPRING,
                "length": Differs(row={"requests": 2}, step={"error": "disconnected", "items": ("agent_message", "agent_message")}),
                "length-call": Differs(row={"requests": 2}, step={"error": "disconnected"}),
                "agents-v1": Differs(
                    config={"features.collab": "true"},
                    row={"unordered": True},
                    step={"items": ("error", "error", "collab_tool_call", *COMMAND, "collab_tool_call", *COMMAND)},
                    how="feature `collab`",
                ),
                "agents-three": Differs(
                    config={"features.collab": "true"},
                    step={"items": (*("error",) * 4, *("collab_tool_call",) * 6, *COMMAND * 4)},
                    how="feature `collab`",
                ),
                "review": Differs(step={"items": ("error", "error", *COMMAND)}),
            },
        ),
    )
}


def known(number: str) -> Version:
    """The row of a version; one without a row is taken for the newest."""
    return VERSIONS.get(number, replace(NEWEST, number=number))


def adapted(row: Row, version: Version) -> Row:
    """The row as this version can be run and what it shows then."""
    differs = version.differs.get(row.name, Differs())
    catalogue = row.catalogue if row.catalogue == "none" or NEWEST.catalogue == version.catalogue else version.catalogue
    first, *more = row.steps
    steps = (replace(first, **differs.step), *more)
    return replace(
        row,
        catalogue=catalogue,
        steps=tuple(_adapted(step, version, unknown=catalogue == "none" != row.catalogue) for step in steps),
        config={**version.config, **row.config, **differs.config},
        **{"declared": tuple(kind for kind in row.declared if version.namespaces or kind != "namespace"), **differs.row},
    )


def _adapted(step: Step, version: Version, *, unknown: bool) -> Step:
    items = step.items if version.warns else tuple(item for item in step.items if item != UNKNOWN_MODEL)
    if unknown and version.warns and not step.keys and UNKNOWN_MODEL not in items[:1]:
        items = (UNKNOWN_MODEL, *items)
    usage = {name: count for name, count in step.usage.items() if name in version.usage} if step.usage is not None else None
    return replace(step, items=items, usage=usage)
