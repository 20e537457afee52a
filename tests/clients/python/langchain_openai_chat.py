"""LangChain's ChatOpenAI over the Responses API."""

from cases import PERSON, PROMPT, QUESTION, TOOLS, TURNS, Case, failed, main
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import BadRequestError
from pydantic import BaseModel


class Person(BaseModel):
    """A person."""

    name: str
    age: int
    tags: list[str]


def model(case: Case, **more: object) -> ChatOpenAI:
    return ChatOpenAI(base_url=case.base_url, api_key=case.key, model=case.model, use_responses_api=True, max_retries=0, **more)


def text(case: Case) -> object:
    return {"text": model(case).invoke(PROMPT).text}


def stream(case: Case) -> object:
    chunks = list(model(case, reasoning={"summary": "auto"}).stream(PROMPT))
    whole = sum(chunks[1:], start=chunks[0])
    thoughts = [block["reasoning"] for block in whole.content_blocks if block["type"] == "reasoning"]
    return {"text": whole.text, "thoughts": thoughts, "pieces": len([chunk for chunk in chunks if chunk.text]) > 3}


def tools(case: Case) -> object:
    declared = [tool(one) for one in TOOLS.values()]
    bound = model(case).bind_tools(declared, parallel_tool_calls=True)
    said = bound.invoke([HumanMessage(QUESTION)])
    outputs = [ToolMessage(TOOLS[call["name"]](**call["args"]), tool_call_id=call["id"]) for call in said.tool_calls]
    final = bound.invoke([HumanMessage(QUESTION), said, *outputs])
    return {"text": final.text, "called": [call["name"] for call in said.tool_calls]}


def structured(case: Case) -> object:
    return {"answer": model(case).with_structured_output(Person).invoke(PERSON).model_dump()}


def image(case: Case) -> object:
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": case.image}}]
    return {"text": model(case).invoke([HumanMessage(parts)]).text}


def file(case: Case) -> object:
    data = case.file.partition(",")[2]
    parts = [{"type": "file", "base64": data, "mime_type": "application/pdf", "filename": case.filename}]
    return {"text": model(case).invoke([HumanMessage(parts)]).text}


async def turns(case: Case) -> object:
    history: list[object] = []
    for said in TURNS:
        history.append(HumanMessage(said))
        answer = await model(case).ainvoke(history)
        assert isinstance(answer, AIMessage)
        history.append(answer)
    return {"text": answer.text}


def kept(case: Case) -> object:
    """It leaves out of the history what the gateway keeps."""
    history: list[object] = []
    for said in TURNS:
        history.append(HumanMessage(said))
        answer = model(case, use_previous_response_id=True, store=True).invoke(history)
        history.append(answer)
    return {"text": answer.text}


def failing(case: Case) -> object:
    try:
        model(case).invoke(PROMPT)
    except BadRequestError as error:
        return {"failed": error.code}


async def broken(case: Case) -> object:
    try:
        async for _ in model(case).astream(PROMPT):
            pass
    except ValueError as error:
        return failed(error)


main(text, stream, tools, structured, image, file, turns, kept, failing, broken)
