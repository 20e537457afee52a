"""Another program in our place, or in front of us: it has the terminal, gets the signals, and its exit status is ours.

Not here: children in the background (`antiphon.child`).
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import FrameType

import click

# What a terminal sends to all of its foreground processes, so that handing it on would make it two.
BY_TERMINAL = ("SIGINT", "SIGQUIT")
BY_OTHERS = ("SIGTERM", "SIGHUP")


def become(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """The program takes our place where the platform has that; else as `run_and_wait`."""
    if os.name != "posix":
        return run_and_wait(command, environment)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(command[0], [*command], environment)  # noqa: S606 - no shell is wanted
    except OSError as failed:
        raise _not_started(command, failed) from None


def run_and_wait(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the program to its end, handing signals on; the exit status, as a shell tells it."""
    processes: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def hand_on(number: int, _: FrameType | None) -> None:
        if signal.Signals(number).name in BY_TERMINAL and _in_foreground():
            return
        if not processes:
            early.append(number)
        for process in processes:
            process.send_signal(number)

    # Before the program is there, so that no signal is lost; a handler, unlike "ignore", is not inherited.
    for name in (*BY_TERMINAL, *BY_OTHERS):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), hand_on)
    try:
        processes.append(subprocess.Popen(command, env=environment))
    except OSError as failed:
        raise _not_started(command, failed) from None
    for number in early:
        processes[0].send_signal(number)
    ended = processes[0].wait()
    return ended if ended >= 0 else 128 - ended


def _in_foreground() -> bool:
    """Whether a terminal sends us its Ctrl-C."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return os.name != "posix"
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _not_started(command: Sequence[str], failed: OSError) -> click.ClickException:
    return click.ClickException(f"{command[0]} cannot be run: {failed.strerror}")
