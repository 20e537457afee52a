"""Which upstreams a model's name goes to, and under which name. Pure: names in, a route out.

An alias changes routing and nothing else. Upstreams of one group are equal: what one of them lists any of them may answer. Codex asks for some
models on its own, for approval review and memories; which ones answer are settings of their own.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from antiphon.config import REVIEW_MODEL


@dataclass(frozen=True, slots=True)
class Route:
    """`certain`: an upstream was named or lists the model; otherwise it is the first one's guess."""

    upstreams: tuple[str, ...]
    model: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Instead:
    """Models that answer for others: `review` for approval review, `default` for names that nobody lists. Empty: none does."""

    review: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Directory:
    """What is known of the upstreams, in the order of the configuration: the models that each serves, and the groups of those that are in one."""

    served: Mapping[str, Set[str]]
    groups: Mapping[str, str]

    def equals(self, name: str, model: str) -> tuple[str, ...]:
        """An upstream and its equals for a model; alone where it is in no group."""
        return self.members(self.groups.get(name, ""), model) or (name,)

    def members(self, group: str, model: str) -> tuple[str, ...]:
        """The upstreams of a group, but for those that are known to serve other models only, where others are not."""
        members = tuple(name for name in self.served if group and self.groups.get(name) == group)
        return tuple(name for name in members if model in self.served[name] or not self.served[name]) or members


def select(model: str, known: Directory, *, aliases: Mapping[str, str], instead: Instead = Instead()) -> Route:
    """The route of a name. At least one upstream is known."""
    if model == REVIEW_MODEL and instead.review:
        model = instead.review
    wanted = aliases.get(model, model)
    for name, models in known.served.items():
        if wanted in models:
            return Route(known.equals(name, wanted), wanted, certain=True)
    prefix, _, rest = wanted.partition("/")
    named = (prefix,) if prefix in known.served else known.members(prefix, rest)
    if rest and named:
        return Route(named, rest, certain=True)
    if instead.default and any(known.served.values()):  # where nobody lists anything, no name is known to be unknown
        return select(instead.default, known, aliases=aliases)
    first = next(iter(known.served))
    return Route(known.equals(first, wanted), wanted, certain=False)
