"""The Codex matrix: the real Codex CLI through Antiphon against scripted model servers, each row as data.

`rows` says what is run and what must come of it; `cell` runs one row against one upstream; `report` shows it.
"""
