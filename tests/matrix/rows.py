"""All rows by name, and which of their cells wait for a gateway that can do them."""

from collections.abc import Mapping

from tests.matrix.plain_rows import PLAIN
from tests.matrix.row import Row
from tests.matrix.tool_rows import TOOL_ROWS

ROWS: tuple[Row, ...] = (*PLAIN, *TOOL_ROWS)
BY_NAME = {row.name: row for row in ROWS}
PENDING: Mapping[str, tuple[str, ...]] = {
    "agents-v2@0.125.0": ("chat",),  # a prompt that ends with an assistant message breaks at its end
}
"""Upstreams by row where Antiphon cannot do it yet: run and shown by the program, left out of the tests. A row of one version: `row@version`."""


def pending(row: str, upstream: str, version: str) -> bool:
    return upstream in PENDING.get(row, ()) or upstream in PENDING.get(f"{row}@{version}", ())
