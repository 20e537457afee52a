"""Tools: what the client declared, under which name the upstream knows it, and how a call finds its way back. Pure."""
