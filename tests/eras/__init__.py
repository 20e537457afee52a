"""Threads of many versions of Codex, made by running each against a scripted model: `scripts/eras` writes them to tests/threads/eras."""
