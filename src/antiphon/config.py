"""All settings: one frozen struct out of file, environment and flags, in that order of growing weight.

`SETTINGS` is the table: each row is a key of `antiphon.toml`, an `ANTIPHON_…` variable and, where `flag` says so, a flag of `antiphon serve`; the
reference in `docs/` is generated from it. Upstreams, aliases and failure rows have no flags and live in the file.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

import msgspec

from antiphon import upstream_settings
from antiphon.protocol.failures import Becomes, Row, row
from antiphon.translation.presets import DIALECTS
from antiphon.upstream_settings import APIS, SHARED, BadConfig, ModelSettings, UpstreamSettings

DEFAULT_PORT = 8787


class Setting(NamedTuple):
    """One setting. `choices` empty: any value of the type; a number lies between `least` and `most`."""

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    flag: bool = True
    least: float = 0
    most: float = 1_000_000


SETTINGS: tuple[Setting, ...] = (
    Setting("host", str, "127.0.0.1", "Address to listen on; beyond loopback only with keys (antiphon keys add)."),
    Setting("port", int, DEFAULT_PORT, "Port to listen on; 0 takes a free one.", most=65535),
    Setting("upstream", str, "", "The model server's base URL, such as http://localhost:8000/v1."),
    Setting("api", str, "auto", "The API to speak with it.", APIS),
    Setting("dialect", str, "", "What kind of server it is; empty: find out.", ("", *DIALECTS)),
    Setting("upstream_key_env", str, "", "The environment variable that holds the upstream's key."),
    Setting(
        "drain_seconds",
        float,
        8.0,
        "How long answers under way may still take when the gateway is told to end; then they are failed.",
        most=86_400,
    ),
    Setting("workers", int, 1, "How many processes share the port; each keeps its own queue, threads and health.", least=1, most=64),
    Setting(
        "store",
        str,
        "sqlite",
        "Where to keep state: `sqlite` (a file in the data folder), a path that ends in .db, `postgresql://…`, `memory`, `none`.",
    ),
    Setting("key_env", str, "", "The environment variable that holds keys for clients, besides those of `antiphon keys`."),
    Setting("keep_days", int, 30, "How long responses are kept that nobody continues; 0: for ever.", flag=False),
    Setting("keep_stream_hours", int, 24, "How long the events of a background response are kept.", flag=False, least=1),
    Setting("gguf", str, "", "Another model file for the embedded model server."),
    Setting("strict", bool, False, "Refuse a request that would lose something, instead of telling what was lost."),
    Setting("length_cut", str, "incomplete", "How an answer ends that the token limit cut.", ("incomplete", "completed")),
    Setting("retry_after_default", int, 0, "Seconds to tell with a 429 that has no Retry-After; 0: tell none.", flag=False),
    Setting("max_body_mb", int, 128, "Largest request body, after decompression, in MiB.", flag=False, least=1),
    Setting("keepalive_seconds", float, 15.0, "How long a stream may be silent before a keep-alive event is sent.", flag=False, least=0.01),
    Setting(
        "proxy",
        str,
        "none",
        "The proxy on the way to upstreams: a URL, `environment` (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), or `none`.",
        flag=False,
    ),
    Setting("ca_file", str, "", "A PEM file of authorities to trust besides the system's.", flag=False),
    Setting("connect_seconds", float, 10.0, "How long connecting to an upstream may take; 0: no limit.", flag=False),
    Setting(
        "first_byte_seconds",
        float,
        900.0,
        "How long an upstream may take to the first byte of an answer, prefill included; 0: no limit.",
        flag=False,
    ),
    Setting("idle_seconds", float, 900.0, "How long an upstream may be silent within an answer; 0: no limit.", flag=False),
    Setting("retries", int, 0, "How often a request that failed before the first byte of its answer is sent again.", flag=False, most=100),
    Setting(
        "retry_after_seconds",
        float,
        0.0,
        "The longest Retry-After of a 429 or 503 that such a retry waits for; a longer one is told to the client.",
        flag=False,
    ),
    Setting(
        "max_concurrent",
        int,
        0,
        "The most requests to send an upstream at once, others wait by turns; 0: as many as llama.cpp has slots, any number to other servers.",
        flag=False,
    ),
    Setting(
        "max_queued", int, 2000, "The most requests that may wait for an upstream, or a group of them; more are answered 429.", flag=False
    ),
    Setting(
        "review_model",
        str,
        "",
        "The model for Codex's approval review (codex-auto-review); empty: that name goes to the upstream as it is.",
        flag=False,
    ),
    Setting(
        "default_model",
        str,
        "",
        "The model for names that no upstream lists, as Codex asks for on its own (its memories); empty: the first upstream gets the name as it is.",
        flag=False,
    ),
    Setting(
        "deferred_tools",
        bool,
        False,
        "Let Codex keep MCP tools back until its model searches for them; a small model calls better what it sees.",
        flag=False,
    ),
    Setting("capture", bool, False, "Keep the body of unknown tools and items too, not only their shape.", flag=False),
    Setting("tool_rounds", int, 16, "The most model calls in one response whose tools the gateway runs.", flag=False, least=1, most=1000),
    Setting("tool_seconds", float, 120.0, "How long one call of a tool that the gateway runs may take.", flag=False, least=0.1),
    Setting("tool_turn_seconds", float, 900.0, "How long all rounds of such a response may take together.", flag=False, least=0.1),
    Setting("tool_result_kb", int, 64, "The most of a tool's result that the model is shown, in KiB.", flag=False, least=1),
    Setting("log_level", str, "info", "How much to log.", ("debug", "info", "warning", "error")),
)
TABLES = frozenset({"upstreams", "models", "aliases", "failures", "web_search", "fetch"})
"""What the file may hold besides settings."""
BY_NAME = {setting.name: setting for setting in SETTINGS}
REVIEW_MODEL = "codex-auto-review"
_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_Status = Annotated[int, msgspec.Meta(ge=400, le=599)]


class FailureRow(msgspec.Struct, forbid_unknown_fields=True):
    """One row of `[[failures]]`: which upstream answers it speaks of, and what they become."""

    name: str
    statuses: str = ""
    wording: str = ""
    status: _Status | None = None
    code: str | None = None
    type: str | None = None

    def row(self) -> Row:
        """The row as the table has it."""
        return row(self.name, self.statuses, self.wording, Becomes(self.status, self.code, self.type))


class WebSearchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[web_search]`: the service that searches the web for models whose server cannot."""

    provider: Literal["searxng", "brave", "tavily", "duckduckgo"]
    url: str = ""
    key_env: str = ""


class FetchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[fetch]`: what may be fetched besides public addresses."""

    allow_urls: tuple[str, ...] = ()
    seconds: float = 20.0
    max_mb: int = 10


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was decided before the first request."""

    host: str
    port: int
    api: str
    dialect: str
    drain_seconds: float
    workers: int
    upstreams: dict[str, UpstreamSettings]
    models: dict[str, ModelSettings]
    aliases: dict[str, str]
    failures: tuple[Row, ...]
    store: str
    key_env: str
    keep_days: int
    keep_stream_hours: int
    gguf: str
    strict: bool
    length_cut: str
    retry_after_default: int
    max_body_mb: int
    keepalive_seconds: float
    proxy: str
    ca_file: str
    connect_seconds: float
    first_byte_seconds: float
    idle_seconds: float
    retries: int
    retry_after_seconds: float
    max_concurrent: int
    max_queued: int
    review_model: str
    default_model: str
    deferred_tools: bool
    capture: bool
    tool_rounds: int
    tool_seconds: float
    tool_turn_seconds: float
    tool_result_kb: int
    log_level: str
    web_search: WebSearchSettings | None
    fetch: FetchSettings


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where Antiphon keeps what is its own: models, logs, a private Codex home."""
    if own := environ.get("ANTIPHON_HOME"):
        return Path(own)
    shared = environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "antiphon"


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The file that is read where none is named. Never one in the working folder: a cloned repository must not choose where keys are sent."""
    home = environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "antiphon" / "antiphon.toml"


def load(flags: Mapping[str, Any] | None = None, *, file: str = "", environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration. Flags that are None were not given."""
    written = _read_file(file or environ.get("ANTIPHON_CONFIG", ""), environ)
    given = _plain(written) | _from_environment(environ) | {name: value for name, value in (flags or {}).items() if value is not None}
    for name, value in given.items():
        _check(BY_NAME[name], value)
    settings: dict[str, Any] = {setting.name: setting.default for setting in SETTINGS} | given
    upstreams = _upstreams(written, settings, environ)
    named = {name: settings[name] for name in settings if name in Config.__struct_fields__}
    aliases = _shaped(written, "aliases", dict[str, str])
    web_search = _shaped(written, "web_search", WebSearchSettings) if "web_search" in written else None
    fetch = _shaped(written, "fetch", FetchSettings)
    tables: dict[str, Any] = {"upstreams": upstreams, "models": _models(written), "aliases": aliases, "failures": _failures(written)}
    return Config(**named, **tables, web_search=web_search, fetch=fetch)


def _read_file(named: str, environ: Mapping[str, str]) -> dict[str, Any]:
    path = Path(named) if named else config_file(environ)
    if not named and not path.exists():
        return {}
    try:
        written = tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as bad:
        raise BadConfig(f"{path}: {bad}") from None
    unknown = set(written) - set(BY_NAME) - TABLES
    if unknown:
        raise BadConfig(f"{path}: unknown setting {', '.join(sorted(unknown))}")
    return written


def _plain(written: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in written.items() if name in BY_NAME}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in SETTINGS:
        name = f"ANTIPHON_{setting.name.upper()}"
        if environ.get(name):
            found[setting.name] = _parsed(setting, environ[name], name)
    return found


def _parsed(setting: Setting, text: str, where: str) -> Any:
    try:
        return _BOOLEANS[text.lower()] if setting.type is bool else setting.type(text)
    except (ValueError, KeyError):
        raise BadConfig(f"{where}: expected {setting.type.__name__}, got {text!r}") from None


def _check(setting: Setting, value: Any) -> None:
    fits = isinstance(value, setting.type) or (setting.type is float and isinstance(value, int))
    if not fits or (isinstance(value, bool) and setting.type is not bool):
        raise BadConfig(f"{setting.name}: expected {setting.type.__name__}, got {value!r}")
    if isinstance(value, int | float) and not setting.least <= value <= setting.most:
        raise BadConfig(f"{setting.name}: expected {setting.least:g} to {setting.most:g}, got {value!r}")
    if setting.choices and value not in setting.choices:
        raise BadConfig(f"{setting.name}: expected one of {', '.join(filter(None, setting.choices))}, got {value!r}")


def _upstreams(written: dict[str, Any], settings: dict[str, Any], environ: Mapping[str, str]) -> dict[str, UpstreamSettings]:
    tables = _shaped(written, "upstreams", dict[str, dict[str, Any]])
    given = [name for name in ("api", "dialect", "upstream_key_env") if settings[name] != BY_NAME[name].default]
    if given and not settings["upstream"] and (tables or "upstream_key_env" in given):
        raise BadConfig(f"{', '.join(given)}: this is of 'upstream', which is not set; those in the file have it in [upstreams.NAME]")
    if settings["upstream"]:
        own = {"url": settings["upstream"], "key_env": settings["upstream_key_env"]}
        tables = {"upstream": own | {name: settings[name] for name in ("api", "dialect")}, **tables}
    shared = {name: settings[name] for name in SHARED}
    found: dict[str, UpstreamSettings] = _shaped(
        {"upstreams": {n: shared | t for n, t in tables.items()}}, "upstreams", dict[str, UpstreamSettings]
    )
    for name, one in found.items():
        upstream_settings.check(name, one, environ)
        if one.group in found:
            raise BadConfig(f"upstream {name}: {one.group!r} is an upstream already, and cannot be a group")
    return found


def with_upstream(settings: Config, name: str, url: str) -> Config:
    """The same configuration with one upstream, which general settings speak of."""
    general = {shared: getattr(settings, shared) for shared in SHARED}
    own = UpstreamSettings(url=url, api=settings.api, dialect=settings.dialect, **general)
    return msgspec.structs.replace(settings, upstreams={name: own})


def _models(written: dict[str, Any]) -> dict[str, ModelSettings]:
    found = _shaped(written, "models", dict[str, ModelSettings])
    for name, one in found.items():
        upstream_settings.check_dialect(f'[models."{name}"]', one)
        upstream_settings.check_defaults(f'[models."{name}"]', one)
    return found


def _failures(written: dict[str, Any]) -> tuple[Row, ...]:
    rows: list[Row] = []
    for one in _shaped(written, "failures", list[FailureRow], empty=[]):
        try:
            rows.append(one.row())
        except (ValueError, re.error) as bad:
            raise BadConfig(f"[[failures]] {one.name}: {bad}") from None
    return tuple(rows)


def _shaped(written: dict[str, Any], name: str, shape: Any, *, empty: Any = None) -> Any:
    given = written.get(name, {} if empty is None else empty)
    try:
        return msgspec.convert(given, shape)
    except msgspec.ValidationError as wrong:
        misfit = _misfit(name, cast("dict[str, Any]", given), shape) if isinstance(given, dict) and empty is None else None
        raise BadConfig(misfit or f"[{name}]: {wrong}") from None


def _misfit(name: str, tables: dict[str, Any], shape: Any) -> str | None:
    """What is wrong with the first of some named tables that is not as it should be."""
    for key, table in tables.items():
        try:
            msgspec.convert({key: table}, shape)
        except msgspec.ValidationError as wrong:
            return f"[{name}.{key}]: {str(wrong).replace(' - at `$[...]`', '').replace('$[...]', '$')}"
    return None
