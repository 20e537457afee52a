"""Why there is no embedded model here. A module of its own, because both halves raise it."""


class Unavailable(Exception):
    """The embedded model cannot be had or started; the message says why and what to do."""
