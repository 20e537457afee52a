"""The only caller of a JSON decoder, so that each oddity has one treatment.

| oddity | treatment |
|---|---|
| byte order mark | taken off |
| invalid UTF-8 | refused with its position (`check`); `mend` replaces it by U+FFFD for text that is already streaming |
| lone surrogate escape (`\\ud800`) | replaced by `\\ufffd`, noted |
| duplicate keys | the last one wins, and is the only one sent on (`repeats` tells) |
| NaN, Infinity | refused: they are not JSON |
| huge numbers | kept as spelled; read as Python's int or float where a rule needs the value |
| depth | refused where the decoder's own recursion limit is met (about a thousand levels) |

Not here: what a document means (views), or that it keeps its bytes (`document`).
"""

import json as _stdlib
import re
from collections.abc import Iterable
from types import UnionType
from typing import Any, TypeVar, cast, overload

import msgspec
from msgspec import Raw

T = TypeVar("T")

_fields = msgspec.json.Decoder(dict[str, Raw])
_elements = msgspec.json.Decoder(list[Raw])
_anything = msgspec.json.Decoder()
_text = msgspec.json.Decoder(str)
_encoder = msgspec.json.Encoder()

# Every escape, left to right, so that an escaped backslash before a `u` is never mistaken for one; the one named group is the lone half.
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_KEY = re.compile(rb'\s*"((?:[^"\\]|\\.)*)"\s*:\s*')
_GAP = re.compile(rb"\s*(,|\})")
_BOM = b"\xef\xbb\xbf"
_TEXT, _ARRAY, _OBJECT, _NULL = (memoryview(start) for start in (b'"', b"[", b"{", b"null"))


class BadJson(ValueError):
    """Bytes that are not JSON as Antiphon reads it; the message says where and why."""


class WrongType(ValueError):
    """JSON of another shape than asked for: `path` is where, `expected` and `got` are the two shapes."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(f"{path}: {expected}" if path else expected)
        self.path = path
        self.expected = expected


def check(data: bytes) -> tuple[bytes, bool]:
    """The bytes of one JSON text fit for reading, and whether a lone surrogate had to be replaced."""
    data = data.removeprefix(_BOM)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as bad:
            raise BadJson(f"invalid UTF-8 at byte {bad.start}") from None
    if _SURROGATE.search(data) is None:
        return data, False
    mended = _ESCAPES.sub(lambda found: b"\\ufffd" if found["lone"] else found[0], data)
    return mended, mended != data


def mend(data: bytes) -> bytes:
    """Bytes of a stream under way, made readable instead of refused."""
    try:
        return check(data)[0]
    except BadJson:
        return check(data.decode(errors="replace").encode())[0]


def fields(data: bytes | Raw) -> dict[str, Raw]:
    """The members of an object, each value as it was spelled."""
    return view(data, _fields)


def elements(data: bytes | Raw) -> list[Raw]:
    """The elements of an array, each as it was spelled."""
    return view(data, _elements)


def text(data: bytes | Raw) -> str:
    """A JSON string's text."""
    return view(data, _text)


def value(data: bytes | Raw) -> Any:
    """Any JSON as Python's own types."""
    try:
        return view(data, _anything)
    except WrongType:  # a number that msgspec cannot hold; Python's decoder reads it as infinity
        return _forgiving(bytes(data), strict=True)


def an_object(value: Any) -> dict[str, Any]:
    """A decoded value as an object; empty where it is anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def lenient(spelled: str) -> Any:
    """JSON as a model writes it: raw line ends inside strings are forgiven, lone surrogates replaced. Raises ValueError."""
    return _forgiving(mend(spelled.encode()), strict=False)


@overload
def reader(shape: type[T]) -> "msgspec.json.Decoder[T]": ...
@overload
def reader(shape: UnionType) -> "msgspec.json.Decoder[Any]": ...
def reader(shape: Any) -> "msgspec.json.Decoder[Any]":
    """A decoder of one view, to be made once and kept."""
    return msgspec.json.Decoder(shape)


def encode(what: Any) -> bytes:
    """Compact JSON; `Raw` values keep their spelling."""
    return _encoder.encode(what)


def schemas(shapes: Iterable[Any], template: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """JSON Schemas of types, and of what they refer to; `template` is where a reference points, with `{name}`."""
    found, components = msgspec.json.schema_components(tuple(shapes), ref_template=template)
    return list(found), components


def indented(what: Any) -> str:
    """JSON for people."""
    return msgspec.json.format(encode(what), indent=2).decode()


def one_line(data: bytes) -> bytes:
    """JSON without raw line ends; they can only be white space between its values."""
    return data.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in data or b"\r" in data else data


def is_text(data: bytes | Raw) -> bool:
    """Whether a spelled value is a string."""
    return memoryview(data)[:1] == _TEXT


def is_array(data: bytes | Raw) -> bool:
    """Whether a spelled value is an array."""
    return memoryview(data)[:1] == _ARRAY


def is_object(data: bytes | Raw) -> bool:
    """Whether a spelled value is an object."""
    return memoryview(data)[:1] == _OBJECT


def is_null(data: bytes | Raw) -> bool:
    """Whether a spelled value is null."""
    return memoryview(data)[:5] == _NULL


def joined_text(pieces: Iterable[bytes]) -> bytes:
    """JSON strings joined without being decoded, so that a surrogate pair cut between two pieces becomes whole."""
    return b'"' + b"".join(piece[1:-1] for piece in pieces) + b'"'


def repeats(data: bytes, members: dict[str, Raw]) -> bool:
    """Whether the object spelled in `data` has a key twice; `members` is what `fields` made of it."""
    if len(data) == sum(len(key.encode()) + len(memoryview(spelled)) + 4 for key, spelled in members.items()) + 1:
        return False  # compact and complete: nothing is hidden between the members
    return spans(data, members) is None


def spans(data: bytes, members: dict[str, Raw]) -> dict[str, tuple[int, int]] | None:
    """Where each member's value stands in the object spelled in `data`; None where a key is there twice."""
    at = data.index(b"{") + 1
    found: dict[str, tuple[int, int]] = {}
    for key, spelled in members.items():
        name = _KEY.match(data, at)
        if name is None or text(b'"' + name[1] + b'"') != key:
            return None
        end = name.end() + len(memoryview(spelled))
        gap = _GAP.match(data, end)
        if gap is None or data[name.end() : end] != bytes(spelled):
            return None
        found[key] = (name.end(), end)
        at = gap.end()
    return None if data[at:].strip() and members else found


def view(data: bytes | Raw, decoder: "msgspec.json.Decoder[T]") -> T:
    """JSON read through a typed view; `decoder` is made once with `reader`."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as wrong:
        raise _wrong_type(str(wrong)) from None
    except msgspec.DecodeError as bad:
        raise BadJson(str(bad)) from None
    except UnicodeDecodeError as bad:
        raise BadJson(f"invalid UTF-8 at byte {bad.start}") from None
    except RecursionError:
        raise BadJson("nested too deeply") from None


def _forgiving(data: bytes, *, strict: bool) -> Any:
    try:
        return _stdlib.loads(data.decode(), strict=strict, parse_constant=_not_a_number, parse_int=_integer)
    except RecursionError:
        raise BadJson("nested too deeply") from None
    except ValueError as bad:
        raise BadJson(str(bad)) from None


def _integer(spelled: str) -> int | float:
    return int(spelled) if len(spelled) < 4_000 else float(spelled)  # Python refuses to read more digits than that


def _not_a_number(spelled: str) -> Any:
    raise BadJson(f"{spelled} is not JSON")


def _wrong_type(message: str) -> WrongType:
    what, _, path = message.partition(" - at `")
    return WrongType(path.rstrip("`").removeprefix("$").removeprefix("."), what)
