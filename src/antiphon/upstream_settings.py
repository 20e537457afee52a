"""What a person may say of one model server, and of one model: the tables `[upstreams.NAME]` and `[models."NAME"]`.

The strings behind the fields are the reference in `docs/`. Fields of `SHARED` have a general setting of the same name (`config.SETTINGS`), which
counts where the table says nothing. Not here: reading the file (`config`), acting on any of it.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from antiphon.translation.defaults import NEVER
from antiphon.translation.dialect import Dialect
from antiphon.translation.presets import DIALECTS

APIS = ("auto", "chat", "responses")
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]

NO_URLS = ("none", "environment")
"""What a proxy may be besides a URL."""
SHARED = ("proxy", "ca_file", "connect_seconds", "first_byte_seconds", "idle_seconds", "retries", "retry_after_seconds", "max_concurrent")


class BadConfig(ValueError):
    """A setting that cannot be; the message names it and where it was given."""


class UpstreamSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[upstreams.NAME]` table."""

    url: str
    """Its base URL, such as `http://localhost:8000/v1`; a query in it goes along with every request."""
    api: str = "auto"
    """The API to speak with it: `auto`, `chat` or `responses`."""
    dialect: str = ""
    """What kind of server it is; empty: find out."""
    key_env: str = ""
    """The environment variable that holds its key."""
    key_header: str = "authorization"
    """The header that carries the key: `authorization` as a bearer token, any other (Azure's `api-key`) as it is."""
    pass_authorization: bool = False
    """Whether a request's own `Authorization` goes on to it, instead of the key; else it never leaves the gateway."""
    models: tuple[str, ...] = ()
    """Models that it serves, besides those it lists itself."""
    headers: dict[str, str] = {}
    """Headers to send with every request."""
    query: dict[str, str] = {}
    """Query parameters to send with every request, such as Azure's `api-version`."""
    proxy: str = "none"
    """The proxy on the way to it: a URL, `environment`, or `none`. Loopback is never proxied."""
    ca_file: str = ""
    """A PEM file of authorities to trust besides the system's."""
    client_cert: str = ""
    """A PEM file with the certificate to show it."""
    client_key: str = ""
    """A PEM file with that certificate's key, where it is not in the same file."""
    insecure: bool = False
    """Take any certificate. Said at every start: whoever is on the way can read keys and answers."""
    connect_seconds: Seconds = 10.0
    """How long connecting may take; 0: no limit."""
    first_byte_seconds: Seconds = 900.0
    """How long it may take to the first byte of an answer, prefill included; 0: no limit."""
    idle_seconds: Seconds = 900.0
    """How long it may be silent within an answer; 0: no limit."""
    group: str = ""
    """Upstreams of one group are equal: any of them may answer what another could. A model may be asked for as `GROUP/MODEL`."""
    retries: Count = 0
    """How often a request that failed before the first byte of its answer is sent again, once all of the group have failed."""
    retry_after_seconds: Seconds = 0.0
    """The longest `Retry-After` of a 429 or 503 that such a retry waits for; a longer one is told to the client."""
    max_concurrent: Count = 0
    """The most requests to send it at once, others wait by turns; 0: as many as llama.cpp has slots, any number to other servers."""
    chat: dict[str, Any] = {}
    """Rules of its dialect for Chat Completions that are otherwise here."""
    responses: dict[str, Any] = {}
    """Rules of its dialect for the Responses API that are otherwise here."""


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[models."NAME"]` table. NAME is a model's name upstream, or `UPSTREAM/NAME`, and may hold `*`; of all that fit, the last one wins."""

    dialect: str = ""
    """The dialect of this model, where it is not the upstream's."""
    chat: dict[str, Any] = {}
    """Rules for Chat Completions that are otherwise with this model."""
    responses: dict[str, Any] = {}
    """Rules for the Responses API that are otherwise with this model."""
    defaults: dict[str, Any] = {}
    """What a request asks of this model where the client says nothing: `temperature`, `max_output_tokens`, or any field that the server knows."""


def of_model(models: Mapping[str, ModelSettings], upstream: str, model: str) -> list[ModelSettings]:
    """The tables that speak of a model, in the order of the file."""
    return [one for name, one in models.items() if fnmatchcase(model, name) or fnmatchcase(f"{upstream}/{model}", name)]


def defaults(models: Iterable[ModelSettings]) -> dict[str, Any]:
    """What is asked where the client says nothing; of several the later one's."""
    return {name: value for one in models for name, value in one.defaults.items()}


def dialect(preset: Dialect, settings: UpstreamSettings, models: Iterable[ModelSettings] = (), *, model: str = "") -> Dialect:
    """The preset, or that of a model's own, as it is with the model, with the rules that the upstream and then the model set otherwise."""
    for one in models:
        preset = DIALECTS.get(one.dialect, preset)
    preset = preset.of_model(model)
    for one in (settings, *models):
        preset = preset.but(chat=one.chat, responses=one.responses)
    return preset


def check(name: str, one: UpstreamSettings, environ: Mapping[str, str]) -> None:
    """Refuses a table that cannot be meant."""
    for what, url in (("URL", one.url), ("proxy", one.proxy)):
        if not (_is_url(url) or (what == "proxy" and url in NO_URLS)):
            raise BadConfig(f"upstream {name}: the {what} must be like http://HOST:PORT{'/v1' if what == 'URL' else ''}, got {url!r}")
    if one.api not in APIS:
        raise BadConfig(f"upstream {name}: unknown api {one.api!r}")
    if "/" in one.group:
        raise BadConfig(f"upstream {name}: a group's name holds no '/', got {one.group!r}")
    if one.client_key and not one.client_cert:
        raise BadConfig(f"upstream {name}: client_key is of a client_cert, which is not set")
    check_dialect(f"[upstreams.{name}]", one)
    _check_headers(name, one, environ)


def check_dialect(where: str, one: UpstreamSettings | ModelSettings) -> None:
    """Refuses an unknown dialect, and rules that it does not have."""
    if one.dialect and one.dialect not in DIALECTS:
        raise BadConfig(f"{where}: unknown dialect {one.dialect!r}; 'antiphon dialects' lists them")
    try:
        DIALECTS["chat"].but(chat=one.chat, responses=one.responses)
    except ValueError as wrong:
        raise BadConfig(f"{where}: {wrong}") from None


def check_defaults(where: str, one: ModelSettings) -> None:
    """Refuses what no default may stand for."""
    for name in NEVER & one.defaults.keys():
        raise BadConfig(f"{where}: {name!r} is what a request is about, and cannot be a default")


def _is_url(url: str) -> bool:
    try:
        at = urlsplit(url)
        return at.scheme in ("http", "https") and bool(at.hostname) and at.port != 0
    except ValueError:
        return False


def _check_headers(name: str, one: UpstreamSettings, environ: Mapping[str, str]) -> None:
    """No header may hold what ends one. A key may end in white space: that is taken off."""
    given = {one.key_env: environ.get(one.key_env, "").strip(), one.key_header: "", **one.headers}
    for where, value in given.items():
        if not f"{where}{value}".isprintable():
            raise BadConfig(f"upstream {name}: {where!r} holds a control character")
