"""All model servers that are known, by name. A new server is a new row in `local_presets` or `hosted_presets`; what a row can say is `dialect`."""

from antiphon.translation import hosted_presets, local_presets
from antiphon.translation.dialect import Dialect

GENERIC = (
    Dialect(name="chat", note="any server with /v1/chat/completions"),
    Dialect(name="responses", prefers="responses", note="any server with /v1/responses"),
)

DIALECTS = {dialect.name: dialect for dialect in (*GENERIC, *local_presets.ROWS, *hosted_presets.ROWS)}
