"""Every preset against its provider's published rules, and its provider's odd answers against the grammar that clients rely on.

What is sent is made by the dialect's row alone; the rules are data in the file of the provider, each with its source.
"""

import json
from typing import Any

import pytest

from antiphon.protocol import request
from antiphon.protocol.document import Document
from antiphon.protocol.event_views import Streamed
from antiphon.translation.presets import DIALECTS
from antiphon.turn import Manner, Target, Turn
from tests.conformance.checks import CHECKS
from tests.conformance.nasty import REQUESTS
from tests.conformance.provider import FOLDER, PROVIDERS, Provider
from tests.translation.dialogue import complaints, final, ids, output, said

pytestmark = pytest.mark.requirement("dialects.conformance")

GENERIC = {"chat", "responses"}


def asked(body: dict[str, Any], dialect: str, model: str = "m") -> Turn:
    document = Document(json.dumps({"model": model, **body}).encode())
    target = Target("chat", DIALECTS[dialect].of_model(model), model)
    return Turn(document, request.view(document), target, Manner(ids(), lambda: 8))


def test_each_preset_has_a_file() -> None:
    assert PROVIDERS.keys() == DIALECTS.keys() - GENERIC
    assert {provider.name.replace(".", "_").replace("-", "_") for provider in PROVIDERS.values()} == {
        file.stem for file in FOLDER.glob("*.toml")
    }


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_what_is_sent_is_what_the_provider_takes(provider: Provider, name: str) -> None:
    for model in provider.models:
        sent = json.loads(asked(REQUESTS[name], provider.name, model).body)
        assert list(provider.complaints(sent)) == []


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_the_rules_bite(provider: Provider) -> None:
    """Each preset is there because its provider refuses what another takes."""
    refused = {name for name, body in REQUESTS.items() for other in ("openai", "vllm") if any(complained(body, provider, other))}
    assert refused or provider.name in ("openai", "azure", "vllm")
    assert all(rule.source for rule in provider.rules)


def complained(body: dict[str, Any], provider: Provider, dialect: str) -> list[str]:
    return list(provider.complaints(json.loads(asked(body, dialect, provider.models[0]).body)))


def test_each_check_is_some_providers() -> None:
    assert {rule.check for provider in PROVIDERS.values() for rule in provider.rules} == CHECKS.keys()


STREAMS = [(provider, name) for provider in PROVIDERS.values() for name in provider.streams]
WISH = {"input": "hi", "stream": True, "tools": [{"type": "function", "name": name} for name in ("get_weather", "get_time")]}


@pytest.mark.requirement("chat.repeated-heads", "chat.usage")
@pytest.mark.parametrize(("provider", "name"), STREAMS, ids=[f"{provider.name}: {name}" for provider, name in STREAMS])
def test_its_streams_become_the_clients(provider: Provider, name: str) -> None:
    told = provider.streams[name]
    data = lines(told["lines"])
    for cut in (len(data), 7):  # in one piece, and in small ones
        turn = asked(WISH | told.get("request", {}), provider.name)
        answer, pipeline = turn.answer(), turn.pipeline()
        events: list[Streamed] = list(pipeline.feed(answer.begin()))
        for at in range(0, len(data), cut):
            events += pipeline.feed(answer.feed(data[at : at + cut]))
        events += pipeline.feed(answer.close())
        assert complaints(events) == []
        check(told, events)


def check(told: dict[str, Any], events: list[Streamed]) -> None:
    end = final(events)
    if told.get("ends") == "failed":  # what was begun was seen, and is no answer
        words = "".join(line.removeprefix("output_text.delta ") for line in said(events) if line.startswith("output_text.delta"))
        assert ([f"message {words}"], output(end)) == (told["items"], [])
    else:
        assert output(end) == told["items"]
    assert end["status"] == told.get("ends", "completed")
    if "usage" in told:
        used = end["usage"]
        cached, thought = used["input_tokens_details"]["cached_tokens"], used["output_tokens_details"]["reasoning_tokens"]
        assert [used["input_tokens"], cached, used["output_tokens"], thought] == told["usage"]
    if "error" in told:
        assert [end["error"]["code"], told["error"][1] in end["error"]["message"]] == [told["error"][0], True]
    if "why" in told:
        assert end["incomplete_details"] == {"reason": told["why"]}


def lines(told: str) -> bytes:
    """A stream as it is told in a file: a line of JSON is an event's data, other lines are as they are."""
    return "".join(f"data: {line}\n\n" if line[:1] in "{[" else f"{line}\n\n" for line in told.strip().splitlines()).encode()


FAILURES = [(provider, name) for provider in PROVIDERS.values() for name in provider.failures]


@pytest.mark.requirement("failures.context")
@pytest.mark.parametrize(("provider", "name"), FAILURES, ids=[f"{provider.name}: {name}" for provider, name in FAILURES])
def test_its_refusals_make_a_client_act_rightly(provider: Provider, name: str) -> None:
    told = provider.failures[name]
    failure = asked({"input": "hi"}, provider.name).failure(told["status"], told["body"].encode(), retry_after=None)
    assert [failure.status, failure.code or ""] == told["becomes"]
    assert told.get("words", "") in failure.message
