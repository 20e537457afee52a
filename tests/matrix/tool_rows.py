"""The rows of Codex's own dialect: deferred tools, code mode, agents, reviews, titles, thoughts, interruptions. Data only."""

from tests.matrix.row import ALL, COMMAND, NONCE, UNKNOWN_MODEL, Keys, Mcp, Moved, Row, Step, one

UUID = (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<id>")
NICKNAME = (r'"nickname": ?"[^"]*"', '"nickname":"<name>"')
TWO_SERVERS = {"first": Mcp("aardvark-11"), "second": Mcp("bandicoot-22")}
BOTH_SAY = "They say: bandicoot-22: say hello / aardvark-11: say hello"
NONCE_FILE = {"nonce.txt": NONCE.encode()}
THREE_FILES = {"one.txt": b"first", "two.txt": b"second", "three.txt": b"third"}
TWO_FILES = {"one.txt": b"first", "two.txt": b"second"}
MOVED = Moved(
    at="</tools>", why='its server has found tools declared with the others (`found_tools = "append"`)', logged=r"moved 'input\[\d+\]'"
)
CALLED = ("mcp_tool_call", "mcp_tool_call", "agent_message")
ESCAPE = "\x1b"
STARTED = (Keys(after="Scripted", send="say hello"), Keys(after="say hello", send="\r"))
STOPPED = (
    Keys(after="interrupted", send="say again"),
    Keys(after="say again", send="\r"),
    Keys(after="Asked: say hello | say again. I was interrupted."),
)
CONTROL_C = "\x03"
UNTITLED = (*STARTED, Keys(after="I begin.", hanging=True, send=CONTROL_C), *STOPPED)  # where Esc is not heard while words come

TOOL_ROWS: tuple[Row, ...] = (
    one(
        "tool-search",
        step=Step(last=BOTH_SAY, items=CALLED),
        requests=4,
        catalogue="json",
        model={"supports_search_tool": True},
        mcp=TWO_SERVERS,
        declared=("tool_search",),
        upstreams=(*ALL, "chat-append"),
        moved={"chat-append": MOVED},
    ),
    one(
        "tool-search-again",
        step=Step(last=BOTH_SAY, items=CALLED),
        requests=5,
        catalogue="json",
        model={"supports_search_tool": True},
        mcp=TWO_SERVERS,
        declared=("tool_search",),
        upstreams=(*ALL, "chat-append"),
        moved={"chat-append": MOVED},
    ),
    one(
        "code-mode-lite",
        "code-mode",
        step=Step(
            last=f"The cells printed: {NONCE} / slept, 42",
            items=COMMAND,
        ),
        requests=4,
        catalogue="json",
        model={"use_responses_lite": True, "tool_mode": "code_mode_only"},
        files=NONCE_FILE,
        declared=("custom",),
        upstreams=ALL,
    ),
    one(
        "code-mode",
        step=Step(
            last=f"The cells printed: {NONCE} / slept, 42",
            items=COMMAND,
        ),
        requests=4,
        catalogue="json",
        model={"tool_mode": "code_mode_only"},
        files=NONCE_FILE,
        declared=("custom",),
        upstreams=ALL,
    ),
    one(
        "agents-v1",
        "agents",
        step=Step(
            last=f"Told: The child read {NONCE}",
            items=(UNKNOWN_MODEL, "collab_tool_call", "collab_tool_call", *COMMAND),
        ),
        requests=6,
        catalogue="none",
        files=NONCE_FILE,
        declared=("namespace",),
        masks=(UUID, NICKNAME),
        upstreams=ALL,
    ),
    one(
        "agents-three",
        "crowd",
        step=Step(last="They read: first, second, third", items=(UNKNOWN_MODEL, *("collab_tool_call",) * 6, *COMMAND)),
        requests=10,
        catalogue="none",
        files=THREE_FILES,
        unordered=True,
        compared=False,  # what is shown of a child depends on how far it has come
        upstreams=ALL,
    ),
    one(
        "agents-v2",
        "team",
        step=Step(last=f"Told: The child read {NONCE}", items=("collab_tool_call", "agent_message")),
        requests=5,
        catalogue="json",
        model={"multi_agent_version": "v2"},
        files=NONCE_FILE,
        declared=("namespace",),
        masks=(UUID, NICKNAME),
        upstreams=ALL,
    ),
    one(
        "auto-review",
        "review-allow",
        step=Step(last=f"It printed: {NONCE}", items=COMMAND, sandbox=("--approve-for-me",)),
        requests=3,
        files=NONCE_FILE,
        upstreams=ALL,
    ),
    one(
        "auto-review-refuses",
        "review-deny",
        step=Step(last="It was refused.", items=COMMAND, sandbox=("--approve-for-me",)),
        requests=3,
        files=NONCE_FILE,
        upstreams=ALL,
    ),
    one(
        "title",
        "titled",
        step=Step(
            keys=(
                *STARTED,
                Keys(after="You said: say hello", answered=2),
                Keys(after="Greet the quokka"),
            ),
            items=(),
        ),
        requests=2,
        upstreams=ALL,
    ),
    one(
        "memories",
        step=Step(last="Waited.", items=("command_execution", *COMMAND)),
        requests=4,
        config={"features.memories": "true"},
        unordered=True,
        compared=False,  # some versions tell of a command's end late
        upstreams=(*ALL, "chat-one-model"),
    ),
    one(
        "reasoning-back",
        "reasoned-steps",
        step=Step(
            last="I thought: Step 1: a file is wanted. | Step 2: a file is wanted.. It printed: second",
            items=("reasoning", "command_execution", "reasoning", "command_execution", "agent_message"),
        ),
        requests=3,
        files=TWO_FILES,
        upstreams=("chat-reasoning", "responses", "openai"),
    ),
    Row(
        name="interrupted",
        script="hanging",
        steps=(
            Step(interrupted=True, exit=1, items=()),
            Step(prompt="say again", arguments=("resume", "--last"), last="Asked: say hello | say again. I was interrupted."),
        ),
        requests=2,
        leaves=True,
        upstreams=ALL,
    ),
    one(
        "interrupted-terminal",
        "hanging",
        step=Step(
            keys=(*STARTED, Keys(after="I begin.", hanging=True, answered=1, send=ESCAPE), *STOPPED),
            items=(),
        ),
        requests=3,
        leaves=True,
        upstreams=ALL,
    ),
)
