"""What the scripted servers' model can do, as Codex reads it: by default functions and freeform apply_patch, no tool search."""

from tests.scripted.script import Json
from tests.scripted.server import MODEL

ENTRY: Json = {
    "slug": MODEL,
    "display_name": "Scripted",
    "description": "Answers by script",
    "supported_reasoning_levels": [],
    "shell_type": "unified_exec",
    "visibility": "list",
    "supported_in_api": True,
    "priority": 1,
    "support_verbosity": False,
    "apply_patch_tool_type": "freeform",
    "truncation_policy": {"mode": "bytes", "limit": 10000},
    "context_window": 65536,
    "supports_search_tool": False,
    "input_modalities": ["text", "image"],
    "experimental_supported_tools": [],
    "base_instructions": "You are a coding agent.",
}
CODEX_MODELS: list[Json] = [ENTRY]
OLDER: Json = {"supports_reasoning_summaries": True, "supports_parallel_tool_calls": True, "upgrade": None, "availability_nux": None}
"""Fields without which clients from before autumn 2026 reject an entry."""
