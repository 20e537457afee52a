"""What every test may ask for. Fixtures of one area live in that area's own conftest."""

import asyncio
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from antiphon.local_model import LocalModel, Unavailable, ensure
from antiphon.local_model.server import installed
from tests.databases.postgres import Cluster, NoPostgresError
from tests.matrix import codex

CACHE = Path(__file__).parents[1] / ".cache" / "antiphon"
CI = os.environ.get("CI") == "true"
FULL = os.environ.get("ANTIPHON_FULL") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests at full size run with `scripts/test --all` only."""
    if FULL:
        return
    skip = pytest.mark.skip(reason="full size: scripts/test --all")
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a real part that is missing is a failure: a green run must not mean that nothing real was run."""
    report = yield
    if CI and report.skipped and item.get_closest_marker("real") and not item.get_closest_marker("full"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where every real part must be there: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def codex_binary() -> Path:
    """The real Codex CLI, installed by npm into the project's cache when it is not there yet."""
    try:
        return asyncio.run(codex.find(codex.VERSION))
    except codex.NoCodexError as missing:
        pytest.skip(f"no real Codex: {missing}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL server, started when the first test asks for it."""
    try:
        cluster = Cluster()
    except NoPostgresError as missing:
        pytest.skip(f"no PostgreSQL: {missing}")
    with cluster:
        yield cluster


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.real)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store's setting, on each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "state.db")
    cluster: Cluster = request.getfixturevalue("postgres")
    return cluster.url()


@pytest.fixture(scope="session")
def embedded_model() -> Iterator[LocalModel]:
    """llama.cpp with the pinned weights, which are got once into the project's cache."""
    if not installed():
        pytest.skip("llama.cpp is not installed: pip install 'antiphon[local]'")
    try:
        with ensure(None, CACHE, progress=print) as running:
            yield running
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked `anyio` run on asyncio, as the server does."""
    return "asyncio"
