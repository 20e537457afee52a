"""Which upstream a model's name goes to, and under which name. Pure: names in, a route out.

An alias changes routing and nothing else. Codex asks for some models on its own, for approval review and memories; which ones answer are settings
of their own.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from antiphon.config import REVIEW_MODEL


@dataclass(frozen=True, slots=True)
class Route:
    """`certain`: an upstream was named or lists the model; otherwise it is the first one's guess."""

    upstream: str
    model: str
    certain: bool


@dataclass(frozen=True, slots=True)
class Instead:
    """Models that answer for others: `review` for approval review, `default` for names that nobody lists. Empty: none does."""

    review: str = ""
    default: str = ""


def select(model: str, *, aliases: Mapping[str, str], served: Mapping[str, Set[str]], instead: Instead = Instead()) -> Route:
    """The route of a name. `served` is not empty and in the order of the configuration."""
    if model == REVIEW_MODEL and instead.review:
        model = instead.review
    wanted = aliases.get(model, model)
    for name, models in served.items():
        if wanted in models:
            return Route(name, wanted, certain=True)
    prefix, _, rest = wanted.partition("/")
    if rest and prefix in served:
        return Route(prefix, rest, certain=True)
    if instead.default and any(served.values()):  # where nobody lists anything, no name is known to be unknown
        return select(instead.default, aliases=aliases, served=served)
    return Route(next(iter(served)), wanted, certain=False)
