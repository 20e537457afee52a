"""Children tied by pipes: their line, their end, and ours."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon import child

READY = re.compile(rb"ready (\w+)")
MODULE = """
import os, sys
from antiphon.child import when_parent_ends
when_parent_ends(lambda: os._exit(7))
print("not yet", flush=True)
print("a word for the log", file=sys.stderr, flush=True)
print("ready steady", flush=True)
{then}
"""
STAY = "import threading; threading.Event().wait()"


def environment(folder: Path, then: str) -> dict[str, str]:
    (folder / "a_child.py").write_text(MODULE.format(then=then))
    return os.environ | {"PYTHONPATH": str(folder)}


def test_its_line_is_waited_for_and_its_end_is_ours(tmp_path: Path) -> None:
    with child.start(["a_child"], tmp_path / "logs" / "log", environment(tmp_path, STAY)) as started:
        assert started.line(READY, within=30)[1] == b"steady"
        assert started.process.poll() is None
    assert started.process.returncode == 7
    assert started.last_words() == "a word for the log"


def test_a_child_that_ends_early_is_told_with_its_last_words(tmp_path: Path) -> None:
    with (
        child.start(["a_child"], tmp_path / "log", environment(tmp_path, "")) as started,
        pytest.raises(child.NotReady, match=r"ended: a word for the log \(log: .*log\)"),
    ):
        started.line(re.compile(rb"never"), within=30)


def test_a_child_that_says_nothing_is_not_waited_for_longer(tmp_path: Path) -> None:
    with (
        child.start(["a_child"], tmp_path / "log", environment(tmp_path, STAY)) as started,
        pytest.raises(child.NotReady, match="was not ready within 0 s"),
    ):
        started.line(re.compile(rb"never"), within=0.01)


def test_much_that_is_said_later_does_not_stop_it(tmp_path: Path) -> None:
    then = "print('x' * 1_000_000, flush=True); print('ready again', flush=True); " + STAY
    with child.start(["a_child"], tmp_path / "log", environment(tmp_path, then)) as started:
        assert started.line(re.compile(rb"ready (again)"), within=30)[1] == b"again"


PARENT = """
import re, sys
from pathlib import Path
from antiphon import child
started = child.start(["a_child"], Path(sys.argv[1]))
started.line(re.compile(rb"ready"), within=30)
print(started.process.pid, flush=True)
import threading; threading.Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_it_ends_even_when_its_parent_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(tmp_path, STAY)) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        handle = os.pidfd_open(pid)
        try:
            parent.send_signal(signal.SIGKILL)
            parent.wait(10)
            assert ended(handle), "the child lives on"
        finally:
            os.close(handle)


def ended(handle: int) -> bool:
    """Whether that process ends within ten seconds."""
    import select

    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(10_000))
