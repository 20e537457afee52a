"""openai-python, the client that blocks."""

import json

from cases import PERSON, PROMPT, QUESTION, TOOLS, TURNS, Case, main
from openai import BadRequestError, OpenAI, RateLimitError
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


DECLARED = [
    {
        "type": "function",
        "name": name,
        "description": f"Tells the {name}.",
        "parameters": {"type": "object", "properties": {of: {"type": "string"}}, "required": [of], "additionalProperties": False},
        "strict": True,
    }
    for name, of in (("weather", "city"), ("clock", "zone"))
]


def client(case: Case) -> OpenAI:
    return OpenAI(base_url=case.base_url, api_key=case.key, max_retries=0, _strict_response_validation=True)


def text(case: Case) -> object:
    return {"text": client(case).responses.create(model=case.model, input=PROMPT).output_text}


def stream(case: Case) -> object:
    with client(case).responses.stream(model=case.model, input=PROMPT) as events:
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        final = events.get_final_response()
    assert "".join(deltas) == final.output_text
    thoughts = [part.text for item in final.output if item.type == "reasoning" for part in item.summary or item.content or []]
    return {"text": final.output_text, "thoughts": thoughts, "pieces": len(deltas) > 3}


def tools(case: Case) -> object:
    history = [{"role": "user", "content": QUESTION}]
    response = client(case).responses.create(model=case.model, input=history, tools=DECLARED, parallel_tool_calls=True)
    calls = [item for item in response.output if item.type == "function_call"]
    history += response.output
    for call in calls:
        output = TOOLS[call.name](**json.loads(call.arguments))
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    final = client(case).responses.create(model=case.model, input=history, tools=DECLARED)
    return {"text": final.output_text, "called": [call.name for call in calls]}


def structured(case: Case) -> object:
    return {"answer": client(case).responses.parse(model=case.model, input=PERSON, text_format=Person).output_parsed.model_dump()}


def image(case: Case) -> object:
    parts = [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": case.image, "detail": "low"}]
    return {"text": client(case).responses.create(model=case.model, input=[{"role": "user", "content": parts}]).output_text}


def file(case: Case) -> object:
    parts = [{"type": "input_file", "filename": case.filename, "file_data": case.file}, {"type": "input_text", "text": "Read it."}]
    return {"text": client(case).responses.create(model=case.model, input=[{"role": "user", "content": parts}]).output_text}


def turns(case: Case) -> object:
    history = []
    for said in TURNS:
        history.append({"role": "user", "content": said})
        response = client(case).responses.create(model=case.model, input=history)
        history += response.output
    return {"text": response.output_text}


def kept(case: Case) -> object:
    """By what the gateway keeps."""
    before = None
    for said in TURNS:
        response = client(case).responses.create(model=case.model, input=said, previous_response_id=before)
        before = response.id
    return {"text": response.output_text}


def failing(case: Case) -> object:
    try:
        client(case).responses.create(model=case.model, input=PROMPT)
    except BadRequestError as error:
        return {"failed": error.code}


def busy(case: Case) -> object:
    try:
        client(case).responses.create(model=case.model, input=PROMPT, stream=True)
    except RateLimitError as error:
        return {"failed": error.code}


def broken(case: Case) -> object:
    events = list(client(case).responses.create(model=case.model, input=PROMPT, stream=True))
    assert events[-1].type == "response.failed"
    return {"failed": events[-1].response.error.code}


def chat(case: Case) -> object:
    """The API that is passed on."""
    answer = client(case).chat.completions.create(model=case.model, messages=[{"role": "user", "content": PROMPT}])
    return {"text": answer.choices[0].message.content}


main(text, stream, tools, structured, image, file, turns, kept, failing, busy, broken, chat)
