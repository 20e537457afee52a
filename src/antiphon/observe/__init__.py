"""What the gateway tells the people who run it."""
