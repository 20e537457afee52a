"""Puts together the tools that the gateway runs itself, as far as the configuration names any."""

import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.config import BadConfig, Config
from antiphon.loop.hosts import Hosts
from antiphon.loop.rounds import Limits
from antiphon.loop.tools import Tool

if TYPE_CHECKING:
    from antiphon.gateway_tools.web_search import WebSearch


def hosts(settings: Config, folder: Path, *, new_id: Callable[[str], str], environ: Mapping[str, str] = os.environ) -> Hosts | None:
    """All of them; None where there is none. What they need is imported when there is one."""
    search = _web_search(settings, environ)
    tools: list[Tool] = [] if search is None else [search]
    if not tools:
        return None
    from antiphon.store import sealing_keys

    limits = Limits(
        rounds=settings.tool_rounds,
        tool_seconds=settings.tool_seconds,
        turn_seconds=settings.tool_turn_seconds,
        result_bytes=settings.tool_result_kb * 1024,
    )
    lookup = None if search is None else search.lookup
    return Hosts(tools, sealer=cache(lambda: sealing_keys.load(folder)), limits=limits, new_id=new_id, lookup=lookup)


def _web_search(settings: Config, environ: Mapping[str, str]) -> "WebSearch | None":
    wanted = settings.web_search
    if wanted is None:
        return None
    from antiphon.gateway_tools.fetch import Fetcher
    from antiphon.gateway_tools.fetch import Limits as FetchLimits
    from antiphon.gateway_tools.search_providers import PROVIDERS
    from antiphon.gateway_tools.web_pages import WebPages
    from antiphon.gateway_tools.web_search import Service, WebSearch

    provider = PROVIDERS[wanted.provider]
    url, key = wanted.url or provider.url, environ.get(wanted.key_env, "").strip() if wanted.key_env else ""
    if not url:
        raise BadConfig(f"[web_search]: {provider.name} needs its `url`")
    if provider.needs_key and not key:
        raise BadConfig(f"[web_search]: {provider.name} needs a key: name the environment variable that holds it in `key_env`")
    limits = FetchLimits(settings.fetch.seconds, settings.fetch.max_mb * 1024 * 1024)
    fetcher = Fetcher(limits, allowed=[url, *settings.fetch.allow_urls])
    return WebSearch(Service(provider, url, key), fetcher, WebPages(fetcher, clock=time.monotonic))
