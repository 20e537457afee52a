"""pydantic-ai with its OpenAIResponsesModel."""

import base64

from cases import PERSON, PROMPT, QUESTION, TOOLS, TURNS, Case, failed, main
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelAPIError, ModelHTTPError, NativeOutput
from pydantic_ai.messages import ModelResponse, ThinkingPart, ToolCallPart
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


def agent(case: Case, **more: object) -> Agent:
    openai = AsyncOpenAI(base_url=case.base_url, api_key=case.key, max_retries=0, _strict_response_validation=True)
    return Agent(OpenAIResponsesModel(case.model, provider=OpenAIProvider(openai_client=openai)), **more)


def binary(url: str, kind: str) -> BinaryContent:
    return BinaryContent(base64.b64decode(url.partition(",")[2]), media_type=kind)


async def text(case: Case) -> object:
    return {"text": (await agent(case).run(PROMPT)).output}


async def stream(case: Case) -> object:
    settings = OpenAIResponsesModelSettings(openai_reasoning_summary="auto")
    async with agent(case).run_stream(PROMPT, model_settings=settings) as run:
        pieces = [piece async for piece in run.stream_text(delta=True, debounce_by=None)]
        whole = [message for message in run.all_messages() if isinstance(message, ModelResponse)]
    thoughts = [part.content for message in whole for part in message.parts if isinstance(part, ThinkingPart)]
    return {"text": "".join(pieces), "thoughts": thoughts, "pieces": len(pieces) > 3}


async def tools(case: Case) -> object:
    run = await agent(case, tools=list(TOOLS.values())).run(QUESTION)
    calls = [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]
    return {"text": run.output, "called": [call.tool_name for call in calls]}


async def structured(case: Case) -> object:
    return {"answer": (await agent(case, output_type=NativeOutput(Person)).run(PERSON)).output.model_dump()}


async def image(case: Case) -> object:
    return {"text": (await agent(case).run(["What is it?", binary(case.image, "image/png")])).output}


async def file(case: Case) -> object:
    return {"text": (await agent(case).run([binary(case.file, "application/pdf")])).output}


async def turns(case: Case) -> object:
    history: list[object] = []
    for said in TURNS:
        run = await agent(case).run(said, message_history=history)
        history = run.all_messages()
    return {"text": run.output}


async def kept(case: Case) -> object:
    """It leaves out of the history what the gateway keeps."""
    history: list[object] = []
    settings = OpenAIResponsesModelSettings(openai_previous_response_id="auto", openai_store=True)
    for said in TURNS:
        run = await agent(case).run(said, message_history=history, model_settings=settings)
        history = run.all_messages()
    return {"text": run.output}


async def failing(case: Case) -> object:
    try:
        await agent(case).run(PROMPT)
    except ModelHTTPError as error:
        return {"failed": error.body["code"]}


async def broken(case: Case) -> object:
    try:
        async with agent(case).run_stream(PROMPT) as run:
            return {"whole": await run.get_output()}
    except ModelAPIError as error:
        return failed(error)


main(text, stream, tools, structured, image, file, turns, kept, failing, broken)
