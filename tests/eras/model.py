"""What the scripted model does in a recording. It goes by the last words that a recording says, as versions put warnings of their own behind them."""

import re

from tests.scripted.reach import shell
from tests.scripted.script import Answer, Call, Reasoning, Reply, ScriptError, Text, Usage, View, answer

WORK, LOOK, FILL, HANG, GO_ON = "work", "look", "fill", "hang", "go on"
SAID = re.compile(r"(?:work|look|fill|hang|go on|one|two|three|four)")
PATCH = """*** Begin Patch
*** Update File: greeting.txt
@@
-hello
+good morning
*** Add File: notes.txt
+one
*** End Patch
"""
SUMMARY = "The file said hello."


def model(view: View) -> Reply:
    if "CONTEXT CHECKPOINT COMPACTION" in view.prompt or "conversation is to be summarized" in view.prompt:
        return answer(SUMMARY)
    prompts = [text for text in view.texts("user") if SAID.fullmatch(text)]
    match prompts[-1] if prompts else "":
        case "work":
            return working(view)
        case "look":
            return answer("Seen: " + "; ".join(image.fingerprint for image in view.images))
        case "fill" if not view.outputs and not any(SUMMARY in text for text in view.texts("user")):
            return Answer(parts=(Text("I look."), shell(view, "cat greeting.txt")), usage=Usage(input=9000))
        case "fill":
            return answer("The file said hello.")
        case "hang":
            return Answer(parts=(Text("I begin.\n\nBut I will never finish this sentence."),), ending="hang")
        case said:
            return answer(f"You said: {said}")


def working(view: View) -> Reply:
    """Thinks, reads a file, changes two, asks an MCP server."""
    match len(view.outputs):
        case 0:
            return answer(Reasoning("A file is wanted."), "I will look.", shell(view, "cat greeting.txt"))
        case 1:
            return answer(patch(view))
        case 2:
            return answer(tool(view))
        case _:
            return answer(Reasoning("That is all."), "All is done.")


def patch(view: View) -> Call:
    """The patch, by its own tool or on a command line."""
    try:
        return Call(view.tool("apply_patch"), PATCH)
    except ScriptError:
        return shell(view, f"apply_patch <<'EOF'\n{PATCH}EOF")


def tool(view: View) -> Call:
    """A call of the MCP server; the oldest version does not take the schema of its echo."""
    try:
        return Call(view.tool("echo"), {"text": "marco"})
    except ScriptError:
        return Call(view.tool("picture"), {})
