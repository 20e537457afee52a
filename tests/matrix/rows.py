"""All rows by name, and which of their cells wait for a gateway that can do them."""

from collections.abc import Mapping

from tests.matrix.plain_rows import PLAIN
from tests.matrix.row import Row
from tests.matrix.tool_rows import TOOL_ROWS

ROWS: tuple[Row, ...] = (*PLAIN, *TOOL_ROWS)
BY_NAME = {row.name: row for row in ROWS}
PENDING: Mapping[str, tuple[str, ...]] = {}
"""Upstreams by row where Antiphon cannot do it yet: run and shown by the program, left out of the tests."""


def pending(row: str, upstream: str) -> bool:
    return upstream in PENDING.get(row, ())
