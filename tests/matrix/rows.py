"""All rows, by name."""

from tests.matrix.plain_rows import PLAIN
from tests.matrix.row import Row
from tests.matrix.tool_rows import TOOL_ROWS

ROWS: tuple[Row, ...] = (*PLAIN, *TOOL_ROWS)
BY_NAME = {row.name: row for row in ROWS}
