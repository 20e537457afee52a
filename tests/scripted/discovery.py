"""Scripts of a model that finds its tools on the way: by tool search, and inside code mode. Above: `scenarios` lists them."""

import re

from tests.scripted.reach import found, search
from tests.scripted.script import Call, Reply, Script, View, answer

READ = 'const done = await tools.exec_command({cmd: "cat nonce.txt"});\ntext(done.output);'
SLOW = """// @exec: {"yield_time_ms": 100}
await new Promise((resolve) => setTimeout(resolve, 500));
text(`slept, ${6 * 7}`);"""
CELL = re.compile(r"cell ID (\S+)")


def tool_search(view: View) -> Reply:
    """Searches once, then calls the same tool of two servers, the second one first."""
    match len(view.outputs):
        case 0:
            return answer(search(view, "gives the text back"))
        case 1:
            return answer(found(view, "second", "echo", {"text": view.prompt}))
        case 2:
            return answer(found(view, "first", "echo", {"text": view.prompt}))
        case _:
            return answer(f"They say: {view.outputs[1].body} / {view.outputs[2].body}")


def searches_again(view: View) -> Reply:
    """Searches for each tool anew: what was found first must stay callable, and its place in the prompt."""
    match len(view.outputs):
        case 0 | 2:
            return answer(search(view, "gives the text back"))
        case 1:
            return answer(found(view, "second", "echo", {"text": view.prompt}))
        case 3:
            return answer(found(view, "first", "echo", {"text": view.prompt}))
        case _:
            return answer(f"They say: {view.outputs[1].body} / {view.outputs[3].body}")


def code_mode(view: View) -> Reply:
    """Runs a cell, then one that yields, waits for it, and tells what both printed."""
    match len(view.outputs):
        case 0:
            return answer(Call(view.tool("exec"), READ))
        case 1:
            return answer(Call(view.tool("exec"), SLOW))
        case 2:
            running = CELL.search(view.outputs[1].text)
            return answer(Call(view.tool("wait"), {"cell_id": running.group(1) if running else "none", "yield_time_ms": 10000}))
        case _:
            return answer(f"The cells printed: {view.outputs[0].body} / {view.outputs[2].body}")


DISCOVERY: dict[str, Script] = {"tool-search": tool_search, "tool-search-again": searches_again, "code-mode": code_mode}
