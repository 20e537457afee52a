"""Takes out of recorded files what differs from run to run and from machine to machine: folders, ids, times, sizes of the terminal's output.

The bytes are replaced in place, so that the files keep the spelling of the Codex that wrote them. What points at bytes is put right afterwards.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.scripted import mcp_echo

UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-([1-8])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
START = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = int(START.timestamp())
PATTERNS: tuple[tuple[re.Pattern[bytes], bytes], ...] = (
    (re.compile(rb'"(started_at|completed_at)":\d+'), rb'"\1":%d' % SECONDS),
    (re.compile(rb'"(started_at_ms|completed_at_ms)":\d+'), rb'"\1":%d000' % SECONDS),
    (re.compile(rb'"create_time":[\d.]+'), rb'"create_time":%d.5' % SECONDS),
    (re.compile(rb'"(duration_ms|time_to_first_token_ms)":\d+'), rb'"\1":100'),
    (re.compile(rb'"duration":\{"secs":\d+,"nanos":\d+\}'), rb'"duration":{"secs":0,"nanos":1000}'),
    (re.compile(rb'(\\?"duration_seconds\\?"): ?[\d.]+'), rb"\1:0.1"),
    (re.compile(rb"Wall time: [\d.]+ seconds"), rb"Wall time: 0.1000 seconds"),
    (re.compile(rb"Chunk ID: [0-9a-f]{6}"), rb"Chunk ID: abcdef"),
    (re.compile(rb'"process_id":"\d+"'), rb'"process_id":"1000"'),
    (re.compile(rb"<current_date>[^<]*</current_date>"), rb"<current_date>2026-01-01</current_date>"),
    (re.compile(rb"<timezone>[^<]*</timezone>"), rb"<timezone>Etc/UTC</timezone>"),
    (re.compile(rb'"current_date":"[^"]*"'), rb'"current_date":"2026-01-01"'),
    (re.compile(rb'"timezone":"[^"]*"'), rb'"timezone":"Etc/UTC"'),
    (re.compile(rb"<shell>[^<]*</shell>"), rb"<shell>bash</shell>"),
)
BASE = re.compile(rb'"history_base":\{"thread_id":"([^"]*)","end_ordinal_exclusive":(\d+),"end_byte_offset":\d+\}')


def scrubbed(files: Mapping[str, bytes], root: Path) -> dict[str, bytes]:
    """The files under the names they would have, without anything of this run."""
    places = ((str(root), "/home/user"), (mcp_echo.__file__, "/home/user/mcp_echo.py"), (sys.executable, "/usr/bin/python3"))
    plain = {name: _replaced(data, places) for name, data in files.items()}
    ids, times = _ids(plain), _times(plain.values())
    done = {_renamed(name, ids): _with(TIME, times, _with(UUID, ids, data)) for name, data in plain.items()}
    return {name: BASE.sub(_based(done), data) for name, data in done.items()}


def _replaced(data: bytes, places: Iterable[tuple[str, str]]) -> bytes:
    for place, name in places:
        data = data.replace(place.encode(), name.encode())
    for pattern, stand_in in PATTERNS:
        data = pattern.sub(stand_in, data)
    return data


def _ids(files: Mapping[str, bytes]) -> dict[bytes, bytes]:
    """Ids by their order; those that hold a time keep it."""
    found = {(match[1], match[0]) for name, data in files.items() for match in UUID.finditer(name.encode() + data)}
    return {id: _id(kind, number) for number, (kind, id) in enumerate(sorted(found), 1)}


def _id(kind: bytes, number: int) -> bytes:
    if kind == b"7":
        at = f"{SECONDS * 1000 + number:012x}"
        return f"{at[:8]}-{at[8:]}-7000-8000-{number:012x}".encode()
    return b"%08x-0000-%s000-8000-%012x" % (number, kind, number)


def _times(files: Iterable[bytes]) -> dict[bytes, bytes]:
    found = sorted({match[0] for data in files for match in TIME.finditer(data)})
    return {time: _time(START + timedelta(milliseconds=number)) for number, time in enumerate(found)}


def _time(at: datetime) -> bytes:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()


def _with(pattern: re.Pattern[bytes], by: Mapping[bytes, bytes], data: bytes) -> bytes:
    return pattern.sub(lambda match: by[match[0]], data)


def _renamed(name: str, ids: Mapping[bytes, bytes]) -> str:
    file = _with(UUID, ids, name.rpartition("/")[2].encode()).decode()
    return re.sub(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-", "rollout-2026-01-01T00-00-00-", file)


def _based(files: Mapping[str, bytes]) -> Callable[[re.Match[bytes]], bytes]:
    """The offset at which another file's lines up to the ordinal end, as they are now."""

    def based(match: re.Match[bytes]) -> bytes:
        id, ordinal = match[1].decode(), int(match[2])
        lines = next(data for name, data in files.items() if name.endswith(f"{id}.jsonl")).splitlines(keepends=True)
        kept = [line for line in lines if int(line.partition(b'"ordinal":')[2].partition(b",")[0]) < ordinal]
        told = b'"history_base":{"thread_id":"%s","end_ordinal_exclusive":%d,"end_byte_offset":%d}'
        return told % (match[1], ordinal, sum(map(len, kept)))

    return based
