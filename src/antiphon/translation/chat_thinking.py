"""How hard a model shall think, in the words that its server has for it."""

from typing import Any

from antiphon.translation.chat_context import Context
from antiphon.translation.dialect import ChatRules

LADDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")
"""All names of efforts, weakest first."""


def effort_fields(effort: str, context: Context, *, forced: bool) -> dict[str, Any]:
    """The fields that an effort becomes. `forced`: whether the request's choice of tools has set how it thinks already."""
    rules = context.rules
    if forced and rules.forced_fields:
        context.change("reasoning.effort", "a call that is forced is made without it")
        return {}
    if effort in rules.effort_fields and effort not in rules.efforts:
        return rules.effort_fields[effort]
    known = nearest(effort, rules.efforts)
    fields = rules.effort_fields.get(known, rules.effort_fields.get("*", {}))
    if not rules.effort:
        if not fields:
            return context.drop("reasoning.effort")
        context.change("reasoning.effort", "thinking is only on or off there")
        return fields
    if known != effort:
        context.change("reasoning.effort", f"the nearest there is {known}")
    return {**fields, **_nested(rules, known)}


def nearest(effort: str, known: tuple[str, ...]) -> str:
    """The effort itself where it is known, else the one on the ladder that is nearest; of two, the higher one."""
    if not known or effort in known:
        return effort
    step = LADDER.index(effort) if effort in LADDER else LADDER.index("medium")
    return min(known, key=lambda one: (abs(LADDER.index(one) - step), -LADDER.index(one)))


def _nested(rules: ChatRules, effort: str) -> dict[str, Any]:
    outer, _, inner = rules.effort.partition(".")
    return {outer: {inner: effort} if inner else effort}
