"""Model servers: speaking with them, finding out what they are, choosing one for a model's name."""
