"""Under which name an upstream knows a tool: a function of (namespace, name) alone, so that a prompt's prefix never moves.

`mcp__sample` + `tool_0` becomes `mcp__sample__tool_0`. A plain join is readable but not always unambiguous (`a` + `b__c` and `a__b` + `c`), not
always short enough and not always in the upstream's alphabet; then a piece of a hash of the pair makes the name the pair's own again.

Names are never parsed on the way back: the registry knows which name is whose.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

SEPARATOR = "__"
_MARK = 8
"""How many digits of the hash a name carries."""
_LETTER = "f_"
"""How a name begins that may not begin as it would."""
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class NameRules:
    """What a name may be upstream. `limit` 0 means that any name may be. `pattern` may narrow the alphabet, or say how a name begins."""

    limit: int = 64
    pattern: str = "[A-Za-z0-9_-]+"


def candidates(namespace: str | None, name: str, rules: NameRules) -> Iterator[str]:
    """The names a tool may have, best first and without end: the plain one where it is fit, then with one hash after the other."""
    joined = name if not namespace else f"{namespace}{SEPARATOR}{name}"
    if is_fit(joined, rules) and not (namespace and _is_ambiguous(namespace, name)):
        yield joined
    readable = _readable(namespace, name, (rules.limit or 256) - _MARK - 1)
    for salt in count():
        pair = f"{namespace or ''}\0{name}" + "\0" * salt
        made = f"{readable}_{hashlib.sha256(pair.encode('utf-8', 'backslashreplace')).hexdigest()[:_MARK]}"
        yield made if is_fit(made, rules) else f"{_LETTER}{made[len(_LETTER) :]}"


def _readable(namespace: str | None, name: str, room: int) -> str:
    """As much of both as there is room for; the tool's own name says more than where it comes from."""
    own = _OUTSIDE.sub("_", name)
    if not namespace:
        return own[:room]
    left = max(room - len(own) - len(SEPARATOR), room // 4)
    return f"{_OUTSIDE.sub('_', namespace)[:left]}{SEPARATOR}{own}"[:room]


def is_fit(name: str, rules: NameRules) -> bool:
    """Whether an upstream takes this name as it is."""
    return rules.limit == 0 or (0 < len(name) <= rules.limit and re.fullmatch(rules.pattern, name) is not None)


def _is_ambiguous(namespace: str, name: str) -> bool:
    """Whether another pair joins to the same name: only the last separator may divide."""
    return SEPARATOR in name or name.startswith("_") or namespace.endswith("_")
