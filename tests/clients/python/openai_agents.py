"""The Agents SDK of Python: its runner calls the tools itself and sends their results back."""

from agents import (
    Agent,
    ApplyPatchTool,
    ModelBehaviorError,
    ModelSettings,
    OpenAIResponsesModel,
    Runner,
    apply_diff,
    function_tool,
    set_tracing_disabled,
)
from agents.editor import ApplyPatchOperation, ApplyPatchResult
from cases import PERSON, PROMPT, QUESTION, TOOLS, TURNS, Case, failed, main
from openai import AsyncOpenAI, BadRequestError
from openai.types.responses import ResponseReasoningItem
from openai.types.shared import Reasoning
from pydantic import BaseModel

set_tracing_disabled(disabled=True)


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


def agent(case: Case, **more: object) -> Agent:
    openai = AsyncOpenAI(base_url=case.base_url, api_key=case.key, max_retries=0, _strict_response_validation=True)
    return Agent(name="Helper", instructions="You help.", model=OpenAIResponsesModel(model=case.model, openai_client=openai), **more)


async def text(case: Case) -> object:
    return {"text": (await Runner.run(agent(case), PROMPT)).final_output}


async def stream(case: Case) -> object:
    settings = ModelSettings(reasoning=Reasoning(summary="auto"))
    run = Runner.run_streamed(agent(case, model_settings=settings), PROMPT)
    deltas = [
        event.data.delta
        async for event in run.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    assert "".join(deltas) == run.final_output
    items = [item.raw_item for item in run.new_items if isinstance(item.raw_item, ResponseReasoningItem)]
    thoughts = [part.text for item in items for part in item.summary]
    return {"text": run.final_output, "thoughts": thoughts, "pieces": len(deltas) > 3}


async def tools(case: Case) -> object:
    settings = ModelSettings(parallel_tool_calls=True, tool_choice="auto")
    declared = [function_tool(one, name_override=name) for name, one in TOOLS.items()]
    run = Runner.run_streamed(agent(case, tools=declared, model_settings=settings), QUESTION)
    events = [event async for event in run.stream_events() if event.type == "run_item_stream_event"]
    called = [event.item.raw_item.name for event in events if event.name == "tool_called"]
    return {"text": run.final_output, "called": called}


async def structured(case: Case) -> object:
    return {"answer": (await Runner.run(agent(case, output_type=Person), PERSON)).final_output_as(Person).model_dump()}


async def image(case: Case) -> object:
    parts = [{"type": "input_image", "image_url": case.image, "detail": "auto"}, {"type": "input_text", "text": "What is it?"}]
    return {"text": (await Runner.run(agent(case), [{"role": "user", "content": parts}])).final_output}


async def file(case: Case) -> object:
    parts = [{"type": "input_file", "file_data": case.file, "filename": case.filename}]
    return {"text": (await Runner.run(agent(case), [{"role": "user", "content": parts}])).final_output}


async def turns(case: Case) -> object:
    history: list[object] = []
    for said in TURNS:
        run = await Runner.run(agent(case), [*history, {"role": "user", "content": said}])
        history = run.to_input_list()
    return {"text": run.final_output}


async def kept(case: Case) -> object:
    before = None
    for said in TURNS:
        run = await Runner.run(agent(case), said, previous_response_id=before)
        before = run.last_response_id
    return {"text": run.final_output}


async def failing(case: Case) -> object:
    try:
        await Runner.run(agent(case), PROMPT)
    except BadRequestError as error:
        return {"failed": error.code}


async def broken(case: Case) -> object:
    run = Runner.run_streamed(agent(case), PROMPT)
    try:
        async for _ in run.stream_events():
            pass
    except ModelBehaviorError as error:
        return failed(error)


class Editor:
    """Makes files in memory."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def create_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        self.files[operation.path] = apply_diff("", operation.diff, mode="create")
        return ApplyPatchResult(status="completed", output=f"Made {operation.path}.")

    def update_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        raise NotImplementedError

    def delete_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        raise NotImplementedError


async def patch(case: Case) -> object:
    editor = Editor()
    run = await Runner.run(agent(case, tools=[ApplyPatchTool(editor=editor)]), "Make a file.")
    return {"text": run.final_output, "made": editor.files["new.txt"]}


main(text, stream, tools, structured, image, file, turns, kept, failing, broken, patch)
