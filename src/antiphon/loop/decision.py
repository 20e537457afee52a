"""What follows a model call: one of four, by what the model called and what is left to spend. Pure.

Continue               the gateway runs these calls, and the model goes on
RequiresClientAction   the client runs these calls; those of the gateway beside them are run first
Done                   the model has answered
Incomplete             the model wants to call on and may not
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from antiphon.protocol.document import Document


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is the gateway's to run: the number of the tool's declaration, and the item in which the model said it."""

    tool: int
    item: Document

    @property
    def name(self) -> str:
        """The function's name."""
        return self.item.text("name") or ""

    @property
    def arguments(self) -> str:
        """What it is called with, as the model spelled it."""
        return self.item.text("arguments") or ""


@dataclass(frozen=True, slots=True)
class Continue:
    """Run these, and go round."""

    calls: Sequence[Call]
    last: bool = False
    """Whether the model may call no more after it."""


@dataclass(frozen=True, slots=True)
class RequiresClientAction:
    """The client's calls end the response; the gateway's are run before it does."""

    calls: Sequence[Call]
    clients: Sequence[Document]


@dataclass(frozen=True, slots=True)
class Done:
    """There is an answer."""


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The model did not stop calling when it had to."""

    reason: str


Decision = Continue | RequiresClientAction | Done | Incomplete


@dataclass(frozen=True, slots=True)
class Budget:
    """What a response may still spend: model calls, and calls of the gateway's tools (None: any number)."""

    rounds: int
    calls: int | None = None

    def after(self, calls: int) -> "Budget":
        """What is left after a round with so many calls."""
        return replace(self, rounds=self.rounds - 1, calls=None if self.calls is None else max(self.calls - calls, 0))

    @property
    def is_spent(self) -> bool:
        """Whether the next model call has to be the last."""
        return self.rounds <= 1 or self.calls == 0


def decide(calls: Sequence[Call], clients: Sequence[Document], budget: Budget) -> Decision:
    """What follows a round in which the model made these calls. `budget` is what was left before it."""
    if clients:
        return RequiresClientAction(calls, clients)
    if not calls:
        return Done()
    if budget.rounds <= 1:
        return Incomplete("max_tool_calls")
    return Continue(calls, last=budget.after(len(calls)).is_spent)
