"""A model server that keeps state itself: everything goes on to it as it came, and nothing of it is kept here."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.state.conftest import echo
from tests.wires.client import fetch, get
from tests.wires.gateway import gateway
from tests.wires.upstream import Upstream

pytestmark = pytest.mark.anyio
WRITTEN = '[upstreams.main]\nurl = "URL"\napi = "responses"\ndialect = "DIALECT"\n\n[upstreams.main.responses]\nkeeps_state = true\n'


@pytest.mark.requirement("state.upstream-keeps-nothing")
@pytest.mark.parametrize("dialect", ["openai", "responses"])
async def test_state_is_the_servers_where_the_configuration_says_so(tmp_path: Path, dialect: str) -> None:
    store, file = tmp_path / "state.db", tmp_path / "antiphon.toml"
    async with Upstream(echo) as upstream:
        file.write_text(WRITTEN.replace("URL", upstream.url).replace("DIALECT", dialect))
        async with gateway(file=file, store=str(store), environ={"ANTIPHON_HOME": str(tmp_path)}) as url:
            asked = {"model": "m", "input": "hi", "store": True, "previous_response_id": "resp_theirs", "background": False, "x": 1.0}
            reply = await fetch(url, json.dumps(asked).encode())
            assert reply.status == 200
            assert upstream.posts[-1].body == json.dumps(asked).encode()
            assert (await get(url, f"/v1/responses/{reply.json['id']}")).status == 404
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*) FROM turns").fetchall() == [(0,)]
    connection.close()
