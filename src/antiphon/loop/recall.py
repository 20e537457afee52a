"""What came before a request, read where it is kept."""

from dataclasses import dataclass

from msgspec import Raw

from antiphon.history import continuation
from antiphon.history.continuation import Wish
from antiphon.loop.ports import Before, History
from antiphon.protocol.document import Document


@dataclass(frozen=True, slots=True)
class Recalled:
    """`items` is the whole input, references resolved; None where the request says it all itself."""

    before: Before | None
    items: list[Raw] | None
    earlier: int = 0
    """How many of them came before."""

    @property
    def settings(self) -> Document | None:
        """Those of the response that is continued."""
        return None if self.before is None else self.before.settings


async def recall(history: History, owner: str, wanted: Wish, new: list[Raw]) -> Recalled:
    """All that a request continues and refers to. Raises InvalidRequest or NotFound where it is not there."""
    before = await _before(history, owner, wanted) if wanted.has_past else None
    earlier = [] if before is None else [Raw(item.data) for item in before.items]
    wanted_ids = continuation.references([*earlier, *new])
    if before is None and not wanted_ids:
        return Recalled(None, None)
    found = await history.named(owner, wanted_ids) if wanted_ids else {}
    return Recalled(before, continuation.resolved([*earlier, *new], found), len(earlier))


async def _before(history: History, owner: str, wanted: Wish) -> Before:
    if wanted.previous is None:
        id = wanted.conversation or ""
        found = await history.conversation_items(owner, id)
        if found is None:
            raise continuation.not_found("Conversation", id)
        return found
    found = await history.before(owner, wanted.previous)
    if found is None:
        raise continuation.no_previous(wanted.previous)
    if found.missing is not None:
        raise continuation.no_previous(found.missing, deleted_behind=wanted.previous)
    continuation.check_status(wanted.previous, found.status)
    return found
