"""One provider's conformance file: its published rules, what its streams look like, and what its refusals mean."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.conformance.checks import CHECKS

FOLDER = Path(__file__).parent
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the provider's: the check, what it needs to know, where it is written, and the models that it is of."""

    check: str
    takes: Json
    source: str
    of: str = "*"

    def complaints(self, body: Json) -> list[str]:
        return list(CHECKS[self.check](body, **self.takes))


@dataclass(frozen=True, slots=True)
class Provider:
    """What the file says. `models`: names of models to ask for, where it makes a difference."""

    name: str
    models: list[str]
    rules: list[Rule]
    streams: dict[str, Json]
    failures: dict[str, Json]

    def complaints(self, body: Json) -> Iterator[str]:
        """What the provider would refuse a request for."""
        rules = [rule for rule in self.rules if fnmatchcase(body["model"], rule.of)]
        return (f"{complaint}  [{rule.check}: {rule.source}]" for rule in rules for complaint in rule.complaints(body))


def read(file: Path) -> Provider:
    told = tomllib.loads(file.read_text("utf-8"))
    rules = [Rule(rule.pop("check"), source=rule.pop("source"), of=rule.pop("of", "*"), takes=rule) for rule in told.get("rule", [])]
    streams, failures = ({one["name"]: one for one in told.get(kind, [])} for kind in ("stream", "failure"))
    return Provider(told["dialect"], told.get("models", ["m"]), rules, streams, failures)


PROVIDERS = {provider.name: provider for provider in map(read, sorted(FOLDER.glob("*.toml")))}
