"""openai-python, the client that awaits: the same over streams, with the helpers that put events together."""

import asyncio
from typing import Literal

from cases import PERSON, PROMPT, QUESTION, TOOLS, TURNS, Case, main
from openai import APIError, AsyncOpenAI, BadRequestError, RateLimitError, pydantic_function_tool
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


class Weather(BaseModel):
    """Tells the weather."""

    city: Literal["Paris", "Oslo"]


class Clock(BaseModel):
    """Tells the time."""

    zone: str


def declared(model: type[BaseModel]) -> dict[str, object]:
    function = pydantic_function_tool(model, name=model.__name__.lower())["function"]
    return {"type": "function", **function}


def client(case: Case) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=case.base_url, api_key=case.key, max_retries=0, _strict_response_validation=True)


async def text(case: Case) -> object:
    async with client(case) as openai:
        raw = await openai.responses.with_raw_response.create(model=case.model, input=PROMPT)
        assert raw.headers["content-type"] == "application/json"
        return {"text": raw.parse().output_text}


async def stream(case: Case) -> object:
    words: list[str] = []
    thoughts: list[str] = []
    async with client(case) as openai:
        async for event in await openai.responses.create(model=case.model, input=PROMPT, stream=True):
            match event.type:
                case "response.output_text.delta":
                    words.append(event.delta)
                case "response.reasoning_summary_text.done" | "response.reasoning_text.done":
                    thoughts.append(event.text)
                case _:
                    last = event
    assert last.type == "response.completed"
    assert last.response.output_text == "".join(words)
    return {"text": "".join(words), "thoughts": thoughts, "pieces": len(words) > 3}


async def tools(case: Case) -> object:
    history: list[object] = [{"role": "user", "content": QUESTION}]
    functions = [declared(Weather), declared(Clock)]
    async with client(case) as openai:
        async with openai.responses.stream(model=case.model, input=history, tools=functions) as events:
            done = [event.arguments async for event in events if event.type == "response.function_call_arguments.done"]
            response = await events.get_final_response()
        calls = [item for item in response.output if item.type == "function_call"]
        assert [call.arguments for call in calls] == done
        history += response.output
        for call in calls:
            output = TOOLS[call.name](**call.parsed_arguments.model_dump()) if isinstance(call.parsed_arguments, BaseModel) else None
            output = output or TOOLS[call.name](**call.parsed_arguments)
            history.append({"type": "function_call_output", "call_id": call.call_id, "output": [{"type": "input_text", "text": output}]})
        async with openai.responses.stream(model=case.model, input=history, tools=functions) as events:
            final = await events.get_final_response()
    return {"text": final.output_text, "called": [call.name for call in calls]}


async def structured(case: Case) -> object:
    async with client(case) as openai, openai.responses.stream(model=case.model, input=PERSON, text_format=Person) as events:
        final = await events.get_final_response()
    return {"answer": final.output_parsed.model_dump()}


async def image(case: Case) -> object:
    parts = [{"type": "input_image", "image_url": case.image}, {"type": "input_text", "text": "What is it?"}]
    async with client(case) as openai:
        return {"text": (await openai.responses.create(model=case.model, input=[{"role": "user", "content": parts}])).output_text}


async def file(case: Case) -> object:
    parts = [{"type": "input_file", "filename": case.filename, "file_data": case.file}]
    said = [{"role": "developer", "content": "You read."}, {"type": "message", "role": "user", "content": parts}]
    async with client(case) as openai:
        return {"text": (await openai.responses.create(model=case.model, input=said)).output_text}


async def turns(case: Case) -> object:
    history: list[object] = []
    async with client(case) as openai:
        for said in TURNS:
            history.append({"role": "user", "content": said})
            response = await openai.responses.create(model=case.model, input=history, store=False, include=["reasoning.encrypted_content"])
            history += [item.to_dict() for item in response.output]
    return {"text": response.output_text}


async def kept(case: Case) -> object:
    """In a conversation; the last turn in the background."""
    async with client(case) as openai:
        conversation = await openai.conversations.create()
        for said in TURNS[:-1]:
            await openai.responses.create(model=case.model, input=said, conversation=conversation.id)
        response = await openai.responses.create(model=case.model, input=TURNS[-1], conversation=conversation.id, background=True)
        while response.status in ("queued", "in_progress"):
            await asyncio.sleep(0.05)
            response = await openai.responses.retrieve(response.id)
    return {"text": response.output_text}


async def failing(case: Case) -> object:
    async with client(case) as openai:
        try:
            async with openai.responses.stream(model=case.model, input=PROMPT) as events:
                await events.until_done()
        except BadRequestError as error:
            return {"failed": error.code}


async def busy(case: Case) -> object:
    async with client(case) as openai:
        try:
            await openai.responses.create(model=case.model, input=PROMPT)
        except RateLimitError as error:
            return {"failed": error.code} if error.response.headers["retry-after"] == "1" else None


async def broken(case: Case) -> object:
    async with client(case) as openai, openai.responses.stream(model=case.model, input=PROMPT) as events:
        failures = [event.response.error.code async for event in events if event.type == "response.failed"]
        try:
            await events.get_final_response()
        except RuntimeError:
            return {"failed": failures[0]}


async def chat(case: Case) -> object:
    """The API that is passed on."""
    words: list[str] = []
    async with client(case) as openai:
        try:
            async for chunk in await openai.chat.completions.create(
                model=case.model, messages=[{"role": "user", "content": PROMPT}], stream=True
            ):
                words += [choice.delta.content for choice in chunk.choices if choice.delta.content]
        except APIError as error:
            return {"failed": error.code}
    return {"text": "".join(words)}


main(text, stream, tools, structured, image, file, turns, kept, failing, busy, broken, chat)
