"""What follows a model call, as a table."""

import pytest

from antiphon.loop.decision import Budget, Call, Continue, Decision, Done, Incomplete, RequiresClientAction, decide
from antiphon.protocol.document import Document

OURS = Call(0, Document(b'{"type":"function_call","name":"web_search","arguments":"{}"}'))
THEIRS = Document(b'{"type":"function_call","name":"lights"}')

ROWS: dict[str, tuple[list[Call], list[Document], Budget, Decision]] = {
    "an answer": ([], [], Budget(5), Done()),
    "an answer at the very end": ([], [], Budget(1), Done()),
    "a call of ours": ([OURS], [], Budget(5), Continue([OURS])),
    "the last round but one": ([OURS], [], Budget(2), Continue([OURS], last=True)),
    "a call where none is left to make": ([OURS], [], Budget(1), Incomplete("max_tool_calls")),
    "the last call that may be made": ([OURS], [], Budget(5, 1), Continue([OURS], last=True)),
    "more calls than may be made": ([OURS, OURS], [], Budget(5, 1), Continue([OURS, OURS], last=True)),
    "a call of the client's": ([], [THEIRS], Budget(5), RequiresClientAction([], [THEIRS])),
    "both": ([OURS], [THEIRS], Budget(5), RequiresClientAction([OURS], [THEIRS])),
    "both, at the very end": ([OURS], [THEIRS], Budget(1), RequiresClientAction([OURS], [THEIRS])),
}


@pytest.mark.requirement("loop.rounds")
@pytest.mark.parametrize("name", ROWS)
def test_decision(name: str) -> None:
    ours, theirs, budget, decision = ROWS[name]
    assert decide(ours, theirs, budget) == decision


def test_a_budget_is_spent_by_rounds_and_by_calls() -> None:
    assert Budget(3, 5).after(2) == Budget(2, 3)
    assert Budget(3, 1).after(4) == Budget(2, 0)
    assert Budget(3).after(100) == Budget(2)
    assert [Budget(2).is_spent, Budget(1).is_spent, Budget(9, 0).is_spent] == [False, True, True]
