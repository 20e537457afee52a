"""Real clients against the gateway, each used as its own documentation says, over both kinds of upstream."""
