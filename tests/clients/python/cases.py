"""Runs the cases that the tests ask for on standard input, and tells what came of each: a line of JSON on standard output.

A program of this folder is one client, used as its own documentation says. It runs in the clients' environment, not in the project's, so nothing
here may import the project. What a client warns of or logs as a warning is a problem, as an error is.
"""

import asyncio
import inspect
import json
import logging
import sys
import traceback
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

PROMPT = "hello, wörld 🌍"
QUESTION = "How is the weather in Paris and Oslo, and what time is it?"
PERSON = "Who wrote the first program?"
CODES = ("server_error", "context_length_exceeded")
TURNS = ("My name is Ada.", "I live in Rome.", "Who am I?")


class Case(NamedTuple):
    """Where to ask, for which model, and what to show it."""

    base_url: str
    key: str
    model: str
    image: str
    file: str
    filename: str


Scenario = Callable[[Case], Any | Awaitable[Any]]


class _Warned(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")


def weather(city: str) -> str:
    """Tells the weather."""
    return {"Paris": "sunny", "Oslo": "rain"}[city]


def clock(zone: str) -> str:
    """Tells the time."""
    return f"noon in {zone}"


TOOLS = {"weather": weather, "clock": clock}


def main(*known: Scenario) -> None:
    """Each function is the scenario of its name."""
    scenarios = {one.__name__: one for one in known}
    told = json.load(sys.stdin)
    shared = {name: told[name] for name in ("base_url", "key", "image", "file", "filename")}
    with asyncio.Runner() as runner:
        for asked in told["cases"]:
            case = Case(**shared, model=f"{asked['upstream']}/{asked['scenario']}")
            sys.stdout.write(json.dumps(asked | outcome(scenarios[asked["scenario"]], case, runner)) + "\n")
            sys.stdout.flush()


def outcome(scenario: Scenario, case: Case, runner: asyncio.Runner) -> dict[str, Any]:
    """What a scenario gave, or what broke it, and all that was warned of meanwhile."""
    logged = _Warned()
    logging.getLogger().addHandler(logged)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = scenario(case)
            told = {"result": runner.run(_awaited(result)) if inspect.isawaitable(result) else result}
        except Exception:  # noqa: BLE001 - whatever a client raises is what it tells
            told = {"error": traceback.format_exc()}
    logging.getLogger().removeHandler(logged)
    told_of = [f"{one.category.__name__}: {one.message}" for one in warned if one.category is not ResourceWarning]
    return told | {"problems": [*told_of, *logged.lines]}


def failed(error: Exception) -> dict[str, str]:
    """The code in an error whose class has no field for it."""
    return {"failed": next((code for code in CODES if code in str(error)), repr(error))}


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result
