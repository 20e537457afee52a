"""OpenAI's SDK on the embedded model: a real llama.cpp behind the gateway, whose grammar holds it to schemas."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal

import pytest
from openai import AsyncOpenAI
from openai.types.responses import FunctionToolParam
from openai.types.responses.response_input_param import FunctionCallOutput
from pydantic import BaseModel

from antiphon.local_model import LocalModel
from tests.wires.gateway import gateway

pytestmark = [pytest.mark.real, pytest.mark.requirement("clients.embedded")]
TOOL: FunctionToolParam = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "enum": ["Paris", "Oslo"]}}, "required": ["city"]},
    "strict": False,
}


class Answer(BaseModel):
    capital: Literal["Paris", "London"]


@asynccontextmanager
async def client(model: LocalModel) -> AsyncIterator[tuple[AsyncOpenAI, str]]:
    async with gateway(model.url, store="memory") as url, AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as openai:
        name = (await openai.models.list()).data[0].id
        yield openai, name


async def streams(openai: AsyncOpenAI, model: str) -> None:
    async with openai.responses.stream(model=model, input="What is the capital of France?", temperature=0, max_output_tokens=40) as events:
        words = [event.delta async for event in events if event.type == "response.output_text.delta"]
        final = await events.get_final_response()
    assert "Paris" in final.output_text
    assert "".join(words) == final.output_text
    assert len(words) > 3
    assert final.usage is not None
    assert final.usage.output_tokens >= len(words)


async def follows_a_schema(openai: AsyncOpenAI, model: str) -> None:
    asked = "What is the capital of France? Answer in JSON."
    parsed = (await openai.responses.parse(model=model, input=asked, text_format=Answer, temperature=0, max_output_tokens=40)).output_parsed
    assert isinstance(parsed, Answer)


async def calls_a_tool(openai: AsyncOpenAI, model: str) -> None:
    asked = "How is the weather in Paris?"
    response = await openai.responses.create(
        model=model, input=asked, tools=[TOOL], tool_choice="required", temperature=0, max_output_tokens=60
    )
    (call,) = (item for item in response.output if item.type == "function_call")
    assert json.loads(call.arguments)["city"] in ("Paris", "Oslo")
    output: FunctionCallOutput = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny."}
    final = await openai.responses.create(
        model=model, input=[output], previous_response_id=response.id, tools=[TOOL], temperature=0, max_output_tokens=40
    )
    assert final.output


async def tells_how_sure_it_is(openai: AsyncOpenAI, model: str) -> None:
    response = await openai.responses.create(
        model=model, input="Say yes.", include=["message.output_text.logprobs"], top_logprobs=2, temperature=0, max_output_tokens=5
    )
    (part,) = (part for item in response.output if item.type == "message" for part in item.content)
    assert part.type == "output_text"
    assert part.logprobs
    assert "".join(token.token for token in part.logprobs).strip() == part.text.strip()
    assert all(len(token.top_logprobs) == 2 and token.logprob <= 0 for token in part.logprobs)


DOES: dict[str, Callable[[AsyncOpenAI, str], Awaitable[None]]] = {
    one.__name__: one for one in (streams, follows_a_schema, calls_a_tool, tells_how_sure_it_is)
}


@pytest.mark.parametrize("name", DOES)
def test_openais_client_on_the_embedded_model(embedded_model: LocalModel, name: str) -> None:
    async def asked() -> None:
        async with client(embedded_model) as (openai, model):
            await DOES[name](openai, model)

    asyncio.run(asked())
