"""Codex's threads as files: every era read, rebuilt, shown and written. Usable alone: nothing here serves or asks a model."""
