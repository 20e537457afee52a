"""Scripts in which one model plays several: a parent and its child, an agent and its reviewer, a session and its title.

Which of them a request is for is read from its words, and said in `Answer.thread`. Above: `scenarios` lists them.
"""

import json
import re

from tests.scripted.reach import shell
from tests.scripted.script import Call, Reply, Script, View, answer, mapping

TASK = "Task of the child: read nonce.txt"
AGENT_ID = re.compile(r'"agent_id"\s*:\s*"([^"]+)"')
CHILD_READ = re.compile(r"The child read [^\s\"\\<]+")
ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "The file must be read."}


def child(view: View) -> Reply:
    if view.outputs:
        return answer(f"The child read {view.outputs[-1].body}", thread="child")
    return answer(shell(view, "cat nonce.txt"), thread="child")


def is_child(view: View) -> bool:
    """Whether somebody gave it the task; before summer 2026 the child found it in a message of its own."""
    return any(TASK in text for text in view.texts("user") + view.texts("assistant"))


def heard(view: View) -> str:
    """What the child answered, in whatever item it came."""
    texts = [output.text for output in view.outputs] + view.texts("user") + view.texts("assistant")
    words = [match.group() for text in texts for match in CHILD_READ.finditer(text)]
    return words[-1] if words else ""


def agents(view: View) -> Reply:
    """Spawns a child, waits for it by its id, and tells what it said.

    The command in between gives older versions the time to tell of the child's end within the turn; else they ask once more.
    """
    if is_child(view):
        return child(view)
    match len(view.outputs):
        case 0:
            return answer(Call(view.tool("spawn_agent"), {"message": TASK}))
        case 1:
            known = AGENT_ID.search(view.outputs[0].text)
            return answer(waiting(view, known.group(1) if known else "none"))
        case 2:
            return answer(shell(view, "true"))
        case _:
            return answer(f"Told: {heard(view)}")


def waiting(view: View, agent: str) -> Call:
    """The tool that waits changed its name, and that of its parameter, in spring 2026."""
    newer = any(tool.name.endswith("wait_agent") for tool in view.tools)
    tool = view.tool("wait_agent" if newer else "wait")
    named = "targets" if "targets" in mapping(tool.parameters.get("properties")) else "ids"
    return Call(tool, {named: [agent], "timeout_ms": 30000})


def child_of(view: View, text: str) -> bool:
    return any(text in said for said in view.texts("user") + view.texts("assistant"))


CROWD = ("one.txt", "two.txt", "three.txt")
CROWD_READ = re.compile(r"Child of \S+ read (\w+)")


def crowd(view: View) -> Reply:
    """Three children at once, each with a file of its own; whoever is still at work is waited for again."""
    for name in CROWD:
        if child_of(view, f"Task: read {name}"):
            thread = f"child of {name}"
            if view.outputs:
                return answer(f"Child of {name} read {view.outputs[-1].body}", thread=thread)
            return answer(shell(view, f"cat {name}"), thread=thread)
    if not view.outputs:
        spawn = view.tool("spawn_agent")
        return answer(*(Call(spawn, {"message": f"Task: read {name}"}) for name in CROWD))
    texts = [output.text for output in view.outputs] + view.texts("user") + view.texts("assistant")
    read = {match.group(1) for text in texts for match in CROWD_READ.finditer(text)}
    if len(read) == len(CROWD):  # older versions tell of each child's end once more, and need the time to do it within the turn
        rests = view.outputs[-1].text.startswith(("Chunk", "Exit")) or len(view.outputs) > 2 * len(CROWD)
        return answer(f"They read: {', '.join(sorted(read))}") if rests else answer(shell(view, "true"))
    known = [AGENT_ID.search(output.text) for output in view.outputs[: len(CROWD)]]
    return answer(*(waiting(view, one.group(1)) for one in known if one))


def team(view: View) -> Reply:
    """As `agents`, but for agents that send each other messages: the child's words come by themselves."""
    if is_child(view):
        return child(view)
    if not view.outputs:
        return answer(Call(view.tool("spawn_agent"), {"task_name": "reader", "message": TASK, "fork_turns": "none"}))
    if not heard(view):
        return answer(Call(view.tool("wait_agent"), {"timeout_ms": 30000}))
    return answer(f"Told: {heard(view)}")


def reviewed(outcome: str) -> Script:
    """Asks to leave the sandbox; the reviewer is the same model, and sees the command or says that it does not."""

    def script(view: View) -> Reply:
        if "outcome" in mapping(view.schema.get("properties")):
            seen = any("cat nonce.txt" in text for text in view.texts("user"))
            verdict = {
                "risk_level": "low",
                "user_authorization": "high",
                "outcome": outcome if seen else "deny",
                "rationale": "As scripted.",
            }
            return answer(json.dumps(verdict), thread="review")
        if view.outputs:
            return answer(f"It printed: {view.outputs[-1].body}" if outcome == "allow" else "It was refused.")
        call = shell(view, "cat nonce.txt")
        return answer(Call(call.tool, {**mapping(call.payload), **ESCALATED}))

    return script


def is_title(view: View) -> bool:
    return "title" in mapping(view.schema.get("properties"))


def titled(view: View) -> Reply:
    """Two requests for one prompt: the title of the session as JSON, and the answer."""
    if is_title(view):
        return answer(json.dumps({"title": "Greet the quokka"}), thread=f"title {view.number}")
    prompts = [said for said in view.texts("user") if said.startswith("say ")]
    return answer(f"You said: {' and '.join(prompts)}")


AGENTS: dict[str, Script] = {
    "agents": agents,
    "team": team,
    "crowd": crowd,
    "review-allow": reviewed("allow"),
    "review-deny": reviewed("deny"),
    "titled": titled,
}
