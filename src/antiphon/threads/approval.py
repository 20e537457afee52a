"""When Codex asks before it does something: every form that a policy has had, and what each is called today.

| written as | from | today |
|---|---|---|
| `untrusted`, `on-request`, `never` | the beginning | the same |
| `on-failure` | to June 2026 | `on-request` |
| `{"reject": {…}}` | February and March 2026: true refuses | `{"granular": {…}}` with each value turned round |
| `{"granular": {…}}` | since March 2026: true asks | the same |

Not here: asking.
"""

from typing import Any, Literal

import msgspec

from antiphon.protocol.notes import Kind, Note
from antiphon.threads.errors import Refused

Word = Literal["untrusted", "on-failure", "on-request", "never"]


class Reject(msgspec.Struct, kw_only=True):
    """What is refused without asking."""

    sandbox_approval: bool
    rules: bool
    mcp_elicitations: bool
    request_permissions: bool = False
    skill_approval: bool = False


class Granular(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is asked for; the rest is refused."""

    sandbox_approval: bool
    rules: bool
    mcp_elicitations: bool
    request_permissions: bool = False
    skill_approval: bool = False


class Rules(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A policy by kinds of questions, in its former or its present form."""

    reject: Reject | None = None
    granular: Granular | None = None


Approval = Word | Rules


def today(policy: Approval, where: str) -> tuple[Any, list[Note]]:
    """The policy as today's Codex takes it, and what had to be changed for that."""
    if isinstance(policy, str):
        changed = policy == "on-failure"
        return ("on-request" if changed else policy), [Note(Kind.CHANGED, where, "on-failure is on-request today")] if changed else []
    if policy.granular is not None:
        return {"granular": msgspec.structs.asdict(policy.granular)}, []
    if policy.reject is None:
        raise Refused(f"Invalid request: {where}: one of `granular` and `reject` must be given", param=where)
    asked = {name: not refused for name, refused in msgspec.structs.asdict(policy.reject).items()}
    return {"granular": asked}, [Note(Kind.CHANGED, where, "reject became granular, each value turned round")]
