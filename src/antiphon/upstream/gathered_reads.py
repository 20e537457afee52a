"""A reader of a body that hands over in one piece what has arrived in many.

Model servers send each event as an HTTP chunk of its own, and aiohttp 3.14 asks its parser to go on after every one of them: for a burst of 200
events that costs as much as all that the gateway itself does with them. Joined before they are taken, they are one chunk to it.

This reaches into aiohttp's reader by one name (`_buffer`), so the tests read real sockets through it.
"""

import aiohttp


class GatheredReads(aiohttp.StreamReader):
    """aiohttp's reader with its waiting chunks joined."""

    __slots__ = ()

    def _read_nowait(self, n: int) -> bytes:
        if len(self._buffer) > 1 and not self._buffer_offset:
            joined = b"".join(self._buffer)
            self._buffer.clear()
            self._buffer.append(joined)
        return super()._read_nowait(n)


def gathered(reader: aiohttp.StreamReader) -> None:
    """Makes the reader of a body such a one; that of an empty body is another already and stays."""
    if type(reader) is aiohttp.StreamReader:
        reader.__class__ = GatheredReads
