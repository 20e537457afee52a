"""Where responses, conversations and keys are kept: SQLite in a file of its own, or PostgreSQL.

What is done is written once, as generators that ask for SQL and are given rows (`operations`); two drivers run them. Every byte that a client was
shown is kept as it was. Not here: what a request becomes when it continues another (`history.continuation`).
"""
