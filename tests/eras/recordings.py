"""What is recorded of which version, as data: how it is told of a model, how it resumes, and what it lacks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.eras.model import FILL, GO_ON, HANG, LOOK, WORK

INSTRUCTIONS = "You are a coding agent."


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One process of `codex exec`, or one call of the app-server where `method` is given: `ID` in params is the thread's id, `TURN` its last turn's."""

    prompt: str = ""
    arguments: tuple[str, ...] = ()
    interrupted: bool = False
    method: str = ""
    params: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One thread, or a thread and what came out of it."""

    name: str
    steps: tuple[Step, ...]
    config: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """A version. `resume`: `command`, `setting` (a path in the configuration), `none`. `catalogue`: `url`, `json`, `none`."""

    number: str
    resume: str = "command"
    catalogue: str = "json"
    lacks: frozenset[str] = frozenset()
    config: Mapping[str, str] = field(default_factory=dict[str, str])


def said(prompt: str) -> Step:
    """A turn in the app-server."""
    return Step(method="turn/start", params={"threadId": "ID", "input": [{"type": "text", "text": prompt}]})


START = Step(method="thread/start", params={})
RECORDINGS = (
    Recording(name="work", steps=(Step(prompt=WORK), Step(prompt=LOOK, arguments=("-i", "picture.png")))),
    Recording(name="compacted", steps=(Step(prompt=FILL), Step(prompt=GO_ON)), config={"model_auto_compact_token_limit": "8000"}),
    Recording(name="interrupted", steps=(Step(prompt=HANG, interrupted=True), Step(prompt=GO_ON))),
    Recording(
        name="rolled-back",
        steps=(START, said("one"), said("two"), Step(method="thread/rollback", params={"threadId": "ID", "numTurns": 1}), said("three")),
    ),
    Recording(
        name="forked",
        steps=(START, said("one"), said("two"), Step(method="thread/fork", params={"threadId": "ID"}), said("three")),
    ),
    Recording(
        name="reverted",
        steps=(
            START,
            said("one"),
            said("two"),
            Step(method="thread/revert", params={"threadId": "ID", "beforeTurnId": "TURN"}),
            said("three"),
        ),
    ),
)
_NO_SERVER = frozenset({"rolled-back", "forked", "reverted"})
_FILE = {"experimental_instructions_file": '"INSTRUCTIONS"', "model_instructions_file": '"INSTRUCTIONS"'}
ERAS: Mapping[str, Era] = {
    era.number: era
    for era in (
        Era(number="0.20.0", resume="setting", catalogue="none", lacks=_NO_SERVER | {"compacted"}, config=_FILE),
        Era(number="0.34.0", resume="setting", catalogue="none", lacks=_NO_SERVER | {"compacted"}, config=_FILE),
        Era(number="0.42.0", catalogue="none", lacks=_NO_SERVER, config=_FILE),
        Era(number="0.58.0", catalogue="none", lacks=_NO_SERVER, config=_FILE),
        Era(number="0.77.0", catalogue="none", lacks=_NO_SERVER, config=_FILE),
        Era(number="0.98.0", catalogue="none", lacks=frozenset({"reverted"}), config=_FILE),
        Era(number="0.105.0", lacks=frozenset({"reverted"})),
        Era(number="0.114.0", lacks=frozenset({"reverted"})),
        Era(number="0.125.0", lacks=frozenset({"reverted"})),
        Era(number="0.139.0", lacks=frozenset({"reverted"})),
        Era(number="0.147.0", lacks=frozenset({"reverted"})),
        Era(number="0.155.0", lacks=frozenset({"rolled-back", "reverted"})),
        Era(number="0.169.0", catalogue="url", lacks=frozenset({"rolled-back"})),
    )
}
