"""curl, which any program can be; what it prints is all there is to know."""

import json
import subprocess

from cases import PERSON, PROMPT, QUESTION, TOOLS, TURNS, Case, main

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
DECLARED = [
    {"type": "function", "name": name, "parameters": {"type": "object", "properties": {of: {"type": "string"}}, "required": [of]}}
    for name, of in (("weather", "city"), ("clock", "zone"))
]


def asked(case: Case, *flags: str, path: str = "responses", **body: object) -> str:
    """One request; `--json` sets the headers, and the body comes by standard input so that it may be of any size."""
    command = ["curl", "-sS", *flags, f"{case.base_url}/{path}", "-H", f"Authorization: Bearer {case.key}", "--json", "@-"]
    sent = json.dumps({"model": case.model, **body})
    return subprocess.run(command, input=sent, capture_output=True, text=True, check=True, timeout=20).stdout


def response(case: Case, **body: object) -> dict[str, object]:
    return json.loads(asked(case, "--fail-with-body", **body))


def events(case: Case, **body: object) -> list[dict[str, object]]:
    lines = asked(case, "-N", stream=True, **body).splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def words(answer: dict[str, object]) -> str:
    return "".join(part["text"] for item in answer["output"] if item["type"] == "message" for part in item["content"])


def said(*content: dict[str, object]) -> list[dict[str, object]]:
    return [{"role": "user", "content": list(content)}]


def text(case: Case) -> object:
    return {"text": words(response(case, input=PROMPT))}


def stream(case: Case) -> object:
    seen = events(case, input=PROMPT)
    deltas = [event["delta"] for event in seen if event["type"] == "response.output_text.delta"]
    thoughts = [
        event["text"] for event in seen if event["type"] in ("response.reasoning_text.done", "response.reasoning_summary_text.done")
    ]
    assert words(seen[-1]["response"]) == "".join(deltas)
    return {"text": "".join(deltas), "thoughts": thoughts, "pieces": len(deltas) > 3}


def tools(case: Case) -> object:
    history = said({"type": "input_text", "text": QUESTION})
    answer = events(case, input=history, tools=DECLARED)[-1]["response"]
    calls = [item for item in answer["output"] if item["type"] == "function_call"]
    history += answer["output"]
    for call in calls:
        output = TOOLS[call["name"]](**json.loads(call["arguments"]))
        history.append({"type": "function_call_output", "call_id": call["call_id"], "output": output})
    return {"text": words(response(case, input=history, tools=DECLARED)), "called": [call["name"] for call in calls]}


def structured(case: Case) -> object:
    form = {"format": {"type": "json_schema", "name": "person", "schema": SCHEMA, "strict": True}}
    return {"answer": json.loads(words(response(case, input=PERSON, text=form)))}


def image(case: Case) -> object:
    return {"text": words(response(case, input=said({"type": "input_image", "image_url": case.image})))}


def file(case: Case) -> object:
    return {"text": words(response(case, input=said({"type": "input_file", "filename": case.filename, "file_data": case.file})))}


def turns(case: Case) -> object:
    history: list[dict[str, object]] = []
    for one in TURNS:
        history += said({"type": "input_text", "text": one})
        answer = response(case, input=history)
        history += answer["output"]
    return {"text": words(answer)}


def kept(case: Case) -> object:
    before = None
    for one in TURNS:
        answer = response(case, input=one, previous_response_id=before)
        before = answer["id"]
    return {"text": words(answer)}


def failing(case: Case) -> object:
    return {"failed": json.loads(asked(case, input=PROMPT))["error"]["code"]}


def busy(case: Case) -> object:
    head, _, body = asked(case, "-i", input=PROMPT).partition("\n\n")
    assert head.startswith("HTTP/1.1 429")
    assert "retry-after: 1" in head.splitlines()
    return {"failed": json.loads(body)["error"]["code"]}


def broken(case: Case) -> object:
    last = events(case, input=PROMPT)[-1]
    return {"failed": last["response"]["error"]["code"] if last["type"] == "response.failed" else last["type"]}


def chat(case: Case) -> object:
    """The API that is passed on."""
    answer = json.loads(asked(case, path="chat/completions", messages=[{"role": "user", "content": PROMPT}]))
    return {"text": answer["choices"][0]["message"]["content"]}


main(text, stream, tools, structured, image, file, turns, kept, failing, busy, broken, chat)
