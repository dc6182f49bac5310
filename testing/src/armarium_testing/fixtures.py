"""Fixtures for tests of plugins: an engine in a temporary folder, a new project in it, an HTTP client."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from armarium_testing.samples import note_run

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from armarium.engine import Engine
    from armarium.projects.libraries import Library


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the kit's options to the command line of pytest."""
    parser.getgroup("armarium").addoption(
        "--every-refusal",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="fail when a refusal that this package's source makes is produced by none of the tests run",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record refusals when asked to, and note what is asked of this run."""
    note_run(config)
    packages = config.getoption("--every-refusal")
    if packages:
        from armarium_testing.refusals import EveryRefusal

        config.pluginmanager.register(EveryRefusal(config, packages), "every-refusal")


OWNER_TOKEN = "an-owner-token-for-tests-only-0123456789"


@pytest.fixture(scope="session", autouse=True)
def _made_ready_once() -> Iterator[None]:
    from armarium_testing.ready_descriptions import described_once
    from armarium_testing.ready_plugins import plugins_examined_once
    from armarium_testing.ready_tables import nothing_flushed, tables_made_once

    with tables_made_once(), plugins_examined_once(), described_once(), nothing_flushed():
        yield


@pytest.fixture(scope="module")
def short_home() -> Iterator[Path]:
    """A folder with a path short enough for a Unix socket; a Mac's folder for temporary files has a long one."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="arm") as folder:
        yield Path(folder)


@pytest.fixture
def make_engine(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    """Makes started engines, each with a state folder of its own by default; closed after the test.

    `make_engine(plugins=[…])` loads only those plugins; without it, every installed one. Background work does not run
    by itself: call `engine.jobs.run_until_idle(library)`, or pass `jobs=True`.
    """
    from armarium.engine import Engine
    from armarium.settings import Settings

    engines: list[Engine] = []

    def make(*, plugins: Any = None, jobs: bool = False, state: str | None = None, **settings: Any) -> Engine:
        folder = tmp_path / (state or f"state-{len(engines)}")
        values = {"state_dir": folder, "owner_token": OWNER_TOKEN, "library_roots": [tmp_path], **settings}
        engine = Engine(Settings(**values), plugins=plugins)
        engine.start(jobs=jobs)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """A started engine with every installed plugin."""
    return make_engine()


@pytest.fixture
def library(engine: Engine, tmp_path: Path) -> Library:
    """A new project of `engine`, opened."""
    from armarium.principals import LOCAL_OWNER

    place = tmp_path / "Test.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return engine.libraries.get(place)


@pytest.fixture
def do(engine: Engine, library: Library) -> Callable[..., dict[str, Any]]:
    """`do("document.create", {"name": "Box"})` runs an action in `library`, by default as the owner; returns its
    result.
    """
    from armarium.principals import LOCAL_OWNER, Principal

    def run(name: str, params: dict[str, Any], who: Principal = LOCAL_OWNER) -> dict[str, Any]:
        return engine.run(library, name, params, who).result or {}

    return run


@pytest.fixture
def client(engine: Engine, library: Library) -> Iterator[TestClient]:
    """An HTTP client of `engine` that is the owner and names `library`."""
    yield from http_client(engine, library)


def http_client(engine: Engine, library: Library | None = None) -> Iterator[TestClient]:
    """Return a test client with the owner's token and, when given, the project's header."""
    from urllib.parse import quote

    from anyio.from_thread import start_blocking_portal
    from starlette.testclient import TestClient

    from armarium.web.app import create_app

    headers = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    if library is not None:
        headers["X-Service-Library-Path"] = quote(str(library.path))
    # The client is not entered as a context manager: the engine is started and closed by its own fixture.
    client = TestClient(
        create_app(engine=engine),
        base_url="http://127.0.0.1:8765",
        headers=headers,
        client=("127.0.0.1", 50000),
        raise_server_exceptions=False,
    )
    # One event loop for all its requests instead of a thread and a loop for each.
    with start_blocking_portal() as client.portal:
        yield client
    client.close()
