"""The scripts by name: what the scripted model does in each scenario of the matrix and of the tests.

A final answer is made of what the request holds (a tool's output, an image's bytes, earlier words), so that whatever got
lost on the way is missing in it. Not here: what Codex should show of it, that is `tests/matrix/rows.py`.
"""

import json
from collections.abc import Callable

from tests.scripted.agents import AGENTS, is_title, titled
from tests.scripted.discovery import DISCOVERY
from tests.scripted.reach import shell
from tests.scripted.script import Answer, Call, Ending, Failure, Reasoning, Reply, Script, Text, Usage, View, answer, mapping

PATCH = """*** Begin Patch
*** Update File: greeting.txt
@@
-hello
+hello, "wörld" \\o/
 bye
*** Add File: new/list.txt
+one
+\ttwo
*** End Patch
"""
PARALLEL = ("cat one.txt", "cat two.txt", "cat three.txt")
TOO_LONG = "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens."


def text(view: View) -> Reply:
    return answer(f"You said: {view.prompt}")


def reasoning(view: View) -> Reply:
    return answer(Reasoning(f"The user wants: {view.prompt}"), f"Thought about {view.prompt}")


def command(line: str) -> Script:
    """Runs one command and tells what it printed."""

    def script(view: View) -> Reply:
        if view.outputs:
            return answer(f"It printed: {view.outputs[-1].body}")
        return answer(shell(view, line))

    return script


def reasoned_command(view: View) -> Reply:
    if view.outputs:
        return answer(Reasoning("That is all."), f"It printed: {view.outputs[-1].body}")
    return answer(Reasoning("A file is wanted."), "I will look.", shell(view, "cat nonce.txt"))


def apply_patch(view: View) -> Reply:
    if view.outputs:
        return answer(f"Patched: {view.outputs[-1].body}")
    return answer(Call(view.tool("apply_patch"), PATCH))


def mcp(view: View) -> Reply:
    if view.outputs:
        return answer(f"The server says: {view.outputs[-1].body}")
    return answer(Call(view.tool("echo"), {"text": view.prompt}))


def mcp_described(view: View) -> Reply:
    """Finds the tool by its description, as its name may have been too long."""
    if view.outputs:
        return answer(f"The server says: {view.outputs[-1].body}")
    return answer(Call(view.tool_that("Gives the text back"), {"text": view.prompt}))


def mcp_image(view: View) -> Reply:
    if view.outputs:
        return answer(f"{view.outputs[-1].body.split()[0]} shows {view.images[-1].fingerprint}")
    return answer(Call(view.tool("picture"), {}))


def odd_tools(view: View) -> Reply:
    """Calls tools whose names and schemas are as odd as the protocol lets them be, all at once."""
    if view.outputs:
        return answer(f"They say: {' / '.join(output.body for output in view.outputs)}")
    return answer(*(Call(view.tool_that(words), arguments) for words, arguments in ODD_CALLS.items()))


ODD_CALLS: dict[str, dict[str, object]] = {
    "A schema of parts": {"tree": {"name": "a", "children": [{"name": "b", "children": []}]}, "either": "x", "properties": {"type": 1}},
    "No schema to speak of": {},
    "A name with a dot": {"π": "ü", "a b": [1.5, None, {"": True}]},
}


def plan(view: View) -> Reply:
    """Writes its plan down before it answers."""
    if view.outputs:
        return answer(f"Planned: {view.outputs[-1].body}")
    steps = [{"step": "look", "status": "in_progress"}, {"step": "tell", "status": "pending"}]
    return answer(Call(view.tool("update_plan"), {"explanation": "As asked.", "plan": steps}))


def code_review(view: View) -> Reply:
    """Reads a file, then gives its findings in the form that Codex asks its reviewers for."""
    if not view.outputs:
        return answer(shell(view, "cat nonce.txt"))
    return answer(json.dumps(FINDINGS | {"overall_explanation": f"It read {view.outputs[-1].body}."}))


FINDINGS: dict[str, object] = {"findings": [], "overall_correctness": "patch is correct", "overall_confidence_score": 0.5}


def remembers(view: View) -> Reply:
    """Answers for two models: the one that was asked for and, by another name, the one that writes memories; gives that one the time to ask."""
    if any("memory_summary.md" in said for said in view.texts("user")):
        return answer(f"Nothing to keep, says {view.model}.", thread="memories")
    waits = ("sleep 2", "true")  # the second so that the end of the first is shown by then
    return answer(shell(view, waits[len(view.outputs)])) if len(view.outputs) < len(waits) else answer("Waited.")


def schema(view: View) -> Reply:
    """An answer that follows the schema as far as it has properties."""
    return answer(json.dumps(dict.fromkeys(mapping(view.schema.get("properties")), view.prompt)))


def compaction(view: View) -> Reply:
    """Fills the context with its first call, sums up when Codex asks, and tells what it still knows."""
    if view.number == 1:
        call = shell(view, "cat nonce.txt")
        return Answer(parts=(Text("I look."), call), usage=Usage(input=9000))
    if "CONTEXT CHECKPOINT COMPACTION" in view.prompt:
        return answer(f"So far the file said {view.outputs[-1].body}", thread="summary")
    return answer(f"Told: {view.prompt.rpartition('So far ')[2]}", thread="after")


def image(view: View) -> Reply:
    return answer("Seen: " + "; ".join(image.fingerprint for image in view.images))


def view_image(view: View) -> Reply:
    return image(view) if view.outputs else answer(Call(view.tool("view_image"), {"path": "picture.png"}))


def parallel(view: View) -> Reply:
    if view.outputs:
        return answer("They printed: " + ", ".join(output.body for output in view.outputs))
    return answer(*(shell(view, line) for line in PARALLEL))


def usage(view: View) -> Reply:
    if view.outputs:
        return Answer(parts=(Text("counted"),), usage=Usage(input=4321, cached=1234, output=65, reasoning=0))
    call = shell(view, "true")
    return Answer(parts=(call,), usage=Usage(input=1234, cached=1000, output=56, reasoning=7))


def resume(view: View) -> Reply:
    """Tells all that was said in the thread, so that a second process shows what the first one stored."""
    prompts = [said for said in view.texts("user") if said.startswith("remember")]
    return answer(f"Asked: {' | '.join(prompts)}. Answered: {' | '.join(view.texts('assistant'))}.")


def reasoned_steps(view: View) -> Reply:
    """Thinks before each call and tells at the end which thoughts came back to it."""
    count = len(view.outputs)
    if count == 2:
        return answer(f"I thought: {' | '.join(view.reasoning)}. It printed: {view.outputs[-1].body}")
    return answer(Reasoning(f"Step {count + 1}: a file is wanted."), shell(view, ("cat one.txt", "cat two.txt")[count]))


def hanging(view: View) -> Reply:
    """Hangs inside its first answer; then tells what it knows of that."""
    if is_title(view):
        return titled(view)
    prompts = [said for said in view.texts("user") if said.startswith("say ")]
    if len(prompts) == 1:
        return Answer(parts=(Text("I begin.\n\nBut I will never finish this sentence."),), ending="hang")
    told = "interrupted" if any("<turn_aborted>" in said for said in view.texts("user")) else "not told of it"
    return answer(f"Asked: {' | '.join(prompts)}. I was {told}.")


def failing(failure: Failure, *, times: int = 1_000_000) -> Script:
    """Fails so often, then answers as `text` does."""

    def script(view: View) -> Reply:
        return failure if view.number <= times else text(view)

    return script


def breaking(ending: Ending, *, times: int = 1_000_000) -> Script:
    """Breaks off inside the answer so often, then answers as `text` does."""

    def script(view: View) -> Reply:
        parts = (Text(f"You said: {view.prompt}"),)
        return Answer(parts=parts, ending=ending if view.number <= times else "complete")

    return script


def asked_again(view: View) -> Reply:
    """Breaks off behind its first words, and goes on from them when it is asked again."""
    if view.outputs:
        return answer(f"I said: {' '.join(view.texts('assistant'))} It printed: {view.outputs[-1].body}")
    call = shell(view, "cat nonce.txt")
    return Answer(parts=(Text("I will look."), call), ending="abort") if view.number == 1 else answer(call)


def broken_call(view: View) -> Reply:
    """Breaks off inside a call's arguments: it must never be run."""
    call = shell(view, "touch it-ran.txt")
    return Answer(parts=(call,), ending="length")


RATE_LIMIT = "Rate limit reached for requests"
BUSY = Failure(status=429, message=RATE_LIMIT, kind="requests", code="rate_limit_exceeded")
BUSY_WAIT = Failure(status=429, message=RATE_LIMIT, kind="requests", code="rate_limit_exceeded", headers={"retry-after": "1"})
DOWN = Failure(status=500, message="The server had an error while processing your request.", kind="server_error")
LLAMA_CPP_TOO_LONG = {
    "code": 400,
    "message": "the request exceeds the available context size (4096 tokens), try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 5000,
    "n_ctx": 4096,
}

SCRIPTS: dict[str, Callable[[View], Reply]] = {
    "text": text,
    "reasoning": reasoning,
    "exec": command("cat nonce.txt"),
    "reasoned-exec": reasoned_command,
    "apply-patch": apply_patch,
    "mcp": mcp,
    "mcp-described": mcp_described,
    "mcp-image": mcp_image,
    "mcp-odd": odd_tools,
    "plan": plan,
    "code-review": code_review,
    "memories": remembers,
    "schema": schema,
    "compaction": compaction,
    "image": image,
    "view-image": view_image,
    "parallel": parallel,
    "usage": usage,
    "resume": resume,
    "busy": failing(BUSY),
    "busy-wait": failing(BUSY_WAIT),
    "busy-wait-once": failing(BUSY_WAIT, times=1),
    "down": failing(DOWN),
    "down-once": failing(DOWN, times=1),
    "too-long": failing(Failure(status=400, message=TOO_LONG, code="context_length_exceeded")),
    "too-long-vllm": failing(Failure(status=400, message=TOO_LONG, kind="BadRequestError")),
    "too-long-llama-cpp": failing(Failure(status=400, body={"error": LLAMA_CPP_TOO_LONG})),
    "asked-again": asked_again,
    "abort-once": breaking("abort", times=1),
    "abort": breaking("abort"),
    "eof": breaking("eof"),
    "garbage": breaking("garbage"),
    "length": breaking("length"),
    "length-call": broken_call,
    "reasoned-steps": reasoned_steps,
    "hanging": hanging,
    **DISCOVERY,
    **AGENTS,
}
