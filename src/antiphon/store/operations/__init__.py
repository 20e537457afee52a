"""What is done to the state, as generators that ask for SQL and are sent rows. No connection, no thread, no await in here."""
