"""Which upstream a model's name goes to, and under which name. Pure: names in, a route out.

An alias changes routing and nothing else. Codex's approval review asks for a model of its own; which one answers is a setting of its own.
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


def select(model: str, *, aliases: Mapping[str, str], served: Mapping[str, Set[str]], review_model: str = "") -> Route:
    """The route of a name. `served` is not empty and in the order of the configuration."""
    if model == REVIEW_MODEL and review_model:
        model = review_model
    wanted = aliases.get(model, model)
    for name, models in served.items():
        if wanted in models:
            return Route(name, wanted, certain=True)
    prefix, _, rest = wanted.partition("/")
    if rest and prefix in served:
        return Route(prefix, rest, certain=True)
    return Route(next(iter(served)), wanted, certain=False)
