"""Which headers travel: those whose names begin as the upstream's dialect says. A client's key never does."""

from collections.abc import Mapping

from antiphon.translation.dialect import ResponsesRules


def sent(client: Mapping[str, str], rules: ResponsesRules, *, accept: str) -> dict[str, str]:
    """The headers for the upstream: ours, and the client's that are let through."""
    passed = {name: value for name, value in client.items() if name.startswith(rules.headers)}
    return {**passed, "content-type": "application/json", "accept": accept}


def told(upstream: Mapping[str, str], rules: ResponsesRules) -> dict[str, str]:
    """The upstream's headers that the client should see. `openai-model` is none of them: Codex warns of it."""
    return {name: value for name, value in upstream.items() if name.startswith(rules.answers)}
