"""Makes the recorded threads again: `scripts/eras [VERSION …]`. Each version of Codex is installed by npm into the project's cache when it is missing."""

import argparse
import asyncio
import shutil
import sys
from pathlib import Path

from tests.eras.recordings import ERAS, RECORDINGS, Era
from tests.eras.run import RecordingError, record
from tests.eras.scrub import scrubbed
from tests.matrix.codex import NoCodexError

FOLDER = Path(__file__).parents[1] / "threads" / "eras"


async def remake(era: Era) -> list[str]:
    """All recordings of a version; what went wrong."""
    problems: list[str] = []
    for recording in RECORDINGS:
        if recording.name in era.lacks:
            continue
        folder = FOLDER / era.number / recording.name
        try:
            recorded = await record(recording, era)
        except (RecordingError, NoCodexError, TimeoutError) as failed:
            problems.append(f"{era.number} {recording.name}: {failed}")
            continue
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, data in scrubbed(recorded.files, recorded.root).items():
            (folder / name).write_bytes(data)
        sys.stdout.write(f"{era.number} {recording.name}: {len(recorded.files)} file(s)\n")
    return problems


async def main() -> int:
    """The versions that were named, else all."""
    parser = argparse.ArgumentParser(prog="scripts/eras", description=__doc__)
    parser.add_argument("version", nargs="*", choices=[[], *ERAS], default=[])
    problems = [problem for number in parser.parse_args().version or ERAS for problem in await remake(ERAS[number])]
    sys.stdout.writelines(f"FAILED {problem}\n" for problem in problems)
    return len(problems)


raise SystemExit(asyncio.run(main()))
