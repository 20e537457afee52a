"""Who asks: the owner of all that is kept for them, and what their key lets them do."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from starlette.types import Scope

from antiphon.http.limits import Slot
from antiphon.loop.ports import Key
from antiphon.protocol.errors import NotFound

LOCAL = "local"
"""The owner where no keys exist: whoever can reach the gateway."""
_IN_SCOPE = "antiphon.caller"


@dataclass(frozen=True, slots=True)
class Caller:
    """One who asks. Without a key everything is allowed."""

    owner: str = LOCAL
    key: Key | None = None
    slot: Slot | None = None
    """Its request, as it counts for the key's limits."""

    def may_use(self, model: str) -> bool:
        """Whether the key allows a model's name."""
        return self.key is None or not self.key.models or any(fnmatchcase(model, pattern) for pattern in self.key.models)

    def check(self, model: str) -> None:
        """Refuses a model that the key does not allow, in OpenAI's words: it could as well not exist."""
        if not self.may_use(model):
            raise NotFound(
                f"The model `{model[:200]}` does not exist or you do not have access to it.", param="model", code="model_not_found"
            )


NOBODY = Caller()


def of(scope: Scope) -> Caller:
    """Who sent a request, as `auth` found out."""
    return scope.get(_IN_SCOPE, NOBODY)


def put(scope: Scope, caller: Caller) -> None:
    """Says who sent a request."""
    scope[_IN_SCOPE] = caller
