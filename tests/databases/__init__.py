"""Real databases for tests: SQLite in a temporary folder, PostgreSQL started from the machine's own programs."""
