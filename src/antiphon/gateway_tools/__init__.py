"""Tools that the gateway runs itself, and what they reach the world by."""
