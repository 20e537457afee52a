"""One line a request, and what was noticed on its way, by shape: paths, types and sizes, never values and never headers.

Not here: counting (metrics come later), the client's own header.
"""

import logging
from collections import Counter
from dataclasses import dataclass, field

from antiphon.protocol.failures import Failure
from antiphon.protocol.notes import Kind, Note

LOGGER = logging.getLogger("antiphon")

_LEVELS = {Kind.UNKNOWN: logging.WARNING, Kind.BROKEN: logging.WARNING, Kind.MOVED: logging.INFO}
"""The kinds that somebody should look at, or wonder why an answer took so long to begin."""


@dataclass(slots=True)
class Record:
    """What is told of one request when it is over."""

    route: str = "responses"
    model: str = ""
    upstream: str = ""
    api: str = ""
    status: int = 0
    notes: list[Note] = field(default_factory=list[Note])
    failure: Failure | None = None

    def begin(self, upstream: str, api: str, notes: list[Note]) -> None:
        """The request has a way to go."""
        self.upstream, self.api = upstream, api
        self.notes = notes

    def failed(self, failure: Failure) -> None:
        """The request ended badly."""
        self.failure = failure

    def write(self) -> None:
        """The line, and one for each thing worth a look."""
        if not LOGGER.isEnabledFor(logging.INFO):
            return
        counts = Counter(note.kind for note in self.notes)
        noticed = "".join(f" {kind}={count}" for kind, count in sorted(counts.items()))
        failure = f" failed={self.failure.code or self.failure.type}" if self.failure is not None else ""
        LOGGER.info(
            "%s model=%.80r upstream=%s api=%s status=%s%s%s",
            self.route,
            self.model,
            self.upstream,
            self.api,
            self.status or "gone",
            failure,
            noticed,
        )
        for note in self.notes:
            LOGGER.log(_LEVELS.get(note.kind, logging.DEBUG), "  %s %.120r %.200s", note.kind, note.where, note.why)


def set_up(level: str) -> None:
    """Log lines on standard error."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    LOGGER.setLevel(level.upper())
