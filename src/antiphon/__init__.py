"""Antiphon: Codex, and any other Responses client, on any model."""

__version__ = "0.1.0"
