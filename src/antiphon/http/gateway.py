"""What every route needs: settings, upstreams, and how requests are served. Made by `cli.serve`, held by the app."""

from dataclasses import dataclass

from antiphon.config import Config
from antiphon.observe.journal import Journal
from antiphon.turn import Manner
from antiphon.upstream.pool import Pool


@dataclass(frozen=True, slots=True)
class Gateway:
    """The parts of a running gateway."""

    config: Config
    pool: Pool
    manner: Manner
    journal: Journal
