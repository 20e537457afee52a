"""What every route needs: settings, upstreams, state, and how requests are served. Made by `cli.serve`, held by the app."""

from dataclasses import dataclass

from antiphon.config import Config
from antiphon.loop.hosts import Hosts
from antiphon.loop.ports import Holder, Store
from antiphon.observe.journal import Journal
from antiphon.turn import Manner
from antiphon.upstream.pool import Pool

HOLD_SECONDS = 6
"""How long others believe that this process runs what it holds, without hearing of it."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """The parts of a running gateway. `store` None: no state is kept. `process` names this process among those that share the store."""

    config: Config
    pool: Pool
    manner: Manner
    journal: Journal
    store: Store | None = None
    process: str = ""
    hosts: Hosts | None = None
    """The tools that it runs itself; None where it runs none."""

    def holder(self) -> Holder:
        """This process, as the store knows it for a while."""
        return Holder(self.process, self.manner.now() + HOLD_SECONDS)
