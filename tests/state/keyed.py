"""A gateway whose store holds keys."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.http.keyring import hashed
from antiphon.loop.ports import Key
from antiphon.store.state import store
from tests.state.conftest import World, echo
from tests.wires.gateway import gateway
from tests.wires.upstream import Upstream


class Keyed(NamedTuple):
    """Two who have a key each, on one gateway."""

    one: World
    two: World
    secrets: tuple[str, str]


async def add_key(url: str, folder: Path, **rights: Any) -> str:
    """A key in a store; the secret."""
    secret = f"sk-antiphon-{secrets.token_urlsafe(32)}"
    opened = store(url, folder)
    assert opened is not None
    await opened.open()
    await opened.add_key(Key(f"key_{secrets.token_hex(6)}", "somebody", hashed(secret), 1, **rights))
    await opened.close()
    return secret


@asynccontextmanager
async def keyed(
    url: str, folder: Path, *, rights: tuple[dict[str, Any], dict[str, Any]] = ({}, {}), written: str = "", **settings: Any
) -> AsyncIterator[Keyed]:
    """`written` is a configuration file that names the upstream URL."""
    both = (await add_key(url, folder, **rights[0]), await add_key(url, folder, **rights[1]))
    async with Upstream(echo) as upstream:
        upstream.pages["/v1/models"] = b'{"object":"list","data":[{"id":"m","object":"model"},{"id":"other","object":"model"}]}'
        file = folder / "antiphon.toml"
        file.write_text(written.replace("URL", upstream.url))
        place = {"upstream": "", "file": file} if written else {"upstream": upstream.url, "api": "chat"}
        async with gateway(**place, store=url, environ={"ANTIPHON_HOME": str(folder)}, **settings) as at:
            one, two = (World(at, upstream, {"authorization": f"Bearer {secret}"}) for secret in both)
            yield Keyed(one, two, both)
