"""How rules refuse: a rule walks a request and yields a Complaint for each thing its server would not take."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from tests.scripted.script import Failure, Json, listing

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Complaint:
    param: str
    message: str


Rule = Callable[[Json], Iterator[Complaint]]


def first(rules: Iterable[Rule], body: Json) -> Failure | None:
    """The failure of the first rule that complains, in OpenAI's form."""
    for rule in rules:
        for complaint in rule(body):
            error = {"message": f"{complaint.param}: {complaint.message}", "type": "invalid_request_error"}
            body_of_error = {"error": error | {"param": complaint.param, "code": None}}
            return Failure(status=400, message=error["message"], body=body_of_error)
    return None


def named(value: Any, path: str, kind: str) -> Iterator[Complaint]:
    """A tool name within the charset and length that OpenAI allows."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        yield Complaint(path, f"{kind} name {value!r} does not match {NAME.pattern}")


def unique(names: list[str], path: str) -> Iterator[Complaint]:
    for name in sorted(set(names)):
        if names.count(name) > 1:
            yield Complaint(path, f"tool names must be unique, {name!r} is there {names.count(name)} times")


def parameters(schema: Any, path: str) -> Iterator[Complaint]:
    if not isinstance(schema, dict):
        yield Complaint(path, f"expected an object, got {schema!r}")
    elif cast("Json", schema).get("type") != "object":
        yield Complaint(path, "schema must be of type 'object'")


def indexed(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    for index, each in enumerate(listing(value)):
        yield f"{path}[{index}]", each
