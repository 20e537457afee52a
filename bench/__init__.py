"""Measurements of Antiphon as a process, beside the same work done without it. Nothing here is a test: numbers vary, tests must not."""
