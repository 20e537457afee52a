"""A chain of turns for the bench: about 2 kB of items each, and a Responses server whose answers have ids of their own."""

import asyncio
import itertools
import json

from bench.listening import serve_forever
from bench.upstream import HEALTHY, MISSING, MODELS, RequestReader, plain

QUESTION = "How does the history of a conversation reach the model, and what does it cost to keep it? " * 10
ANSWER = "Each turn is kept where it stands, and what came before it is read in one scan of an index. " * 9
USAGE = {
    "input_tokens": 1200, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 200, "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 1400,
}  # fmt: skip
ITEM_BYTES = len(QUESTION) + len(ANSWER) + 230
"""About what a turn's two items are as JSON."""


def question() -> dict[str, object]:
    """The item that a client sends."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]}


def answer(number: int) -> dict[str, object]:
    """The item that a model answers with."""
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ANSWER}
    return {"type": "message", "id": f"msg_{number:048x}", "status": "completed", "role": "assistant", "content": [part]}


class Upstream(RequestReader):
    """Answers in one piece, whatever it is asked."""

    numbers = itertools.count(1)

    def asked(self, path: bytes, request: bytearray) -> None:
        """Only the last part of the path counts."""
        name = path.rpartition(b"/")[2]
        if name == b"responses":
            self.transport.write(self._response())
        elif name == b"completions":
            self.transport.write(self._completion())
        else:
            self.transport.write({b"models": MODELS, b"health": HEALTHY}.get(name, MISSING))

    def _response(self) -> bytes:
        number = next(self.numbers)
        made = {
            "id": f"resp_{number:048x}",
            "object": "response",
            "created_at": 1_790_000_000,
            "completed_at": 1_790_000_001,
            "status": "completed",
        }
        return plain(b"200 OK", json.dumps({**made, "model": "bench", "output": [answer(number)], "usage": USAGE}).encode())

    def _completion(self) -> bytes:
        usage = {"prompt_tokens": 1200, "completion_tokens": 200, "total_tokens": 1400}
        choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
        return plain(b"200 OK", json.dumps({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}).encode())


if __name__ == "__main__":
    asyncio.run(serve_forever(Upstream))
