"""A value of another type at any place of a request: the request goes on, or it is a 400 that names the place."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.protocol.errors import InvalidRequest
from antiphon.translation.presets import DIALECTS
from antiphon.turn import Manner, Target, Turn
from tests.translation.everything import BODY

WHOLE = json.loads(BODY)
VALUES: list[Any] = [None, 7, 1.5, True, "", [], {}, [[1]], [None], ["x"], {"type": {}}, [{"type": "x"}], {"": {"": []}}]
TARGETS = {"chat": Target("chat", DIALECTS["chat"], "m"), "responses": Target("responses", DIALECTS["vllm"], "m")}
MANNER = Manner(new_id=lambda prefix: prefix, now=lambda: 1)
Path = tuple[str | int, ...]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a value, with the names and numbers that lead there."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield from places(each, (*path, name))


def spelled(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def changed(path: Path, value: Any) -> bytes:
    whole = copy.deepcopy(WHOLE)
    inside = whole
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return json.dumps(whole).encode()


def complaint(path: Path, value: Any, target: Target) -> str | None:
    """What is wrong with how such a request is treated."""
    where = spelled(path)
    try:
        document, _ = request.open_body(changed(path, value))
        Turn(document, request.view(document), target, MANNER)
    except InvalidRequest as refused:
        named = refused.failure.param or ""
        # A wrong value is told at its place; what a value makes wrong is told at the thing that holds it, or inside the value.
        return None if named and (where.startswith(named) or named.startswith(where)) else f"{where} = {value!r}: told at {named!r}"
    return None


@pytest.mark.requirement("http.invalid-request")
@pytest.mark.parametrize("field", WHOLE)
@pytest.mark.parametrize("api", TARGETS)
def test_a_wrong_type_anywhere_is_told_at_its_place(api: str, field: str) -> None:
    found = [path for path in places(WHOLE) if path[0] == field]
    assert found
    assert [told for path in found for value in VALUES if (told := complaint(path, value, TARGETS[api]))] == []
