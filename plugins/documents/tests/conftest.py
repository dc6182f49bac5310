"""Fixtures for the tests of documents: an engine with this family, and functions that run actions and create nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library, Outcome
from armarium.principals import LOCAL_OWNER as OWNER
from armarium.principals import Principal

sys.path.insert(0, str(Path(__file__).parent))

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def act(engine: Engine, library: Library) -> Callable[..., Outcome]:
    """Runs an action; returns its outcome."""

    def run(name: str, params: dict[str, Any], who: Principal = OWNER) -> Outcome:
        return engine.run(library, name, params, who)

    return run


@pytest.fixture
def do(act: Callable[..., Outcome]) -> Run:
    """Runs an action; returns its result."""

    def run(name: str, params: dict[str, Any], who: Principal = OWNER) -> dict[str, Any]:
        return act(name, params, who).result or {}

    return run


@pytest.fixture
def folder(do: Run) -> Callable[..., str]:
    """Creates a folder; returns its id."""

    def make(name: str, parent_id: str | None = None, **fields: Any) -> str:
        return str(do("document.create", {"name": name, "parent_id": parent_id, **fields})["id"])

    return make


@pytest.fixture
def note(do: Run) -> Callable[..., str]:
    """Creates a note; returns its id."""

    def make(name: str, parent_id: str | None = None, text: str = "words") -> str:
        result = do(
            "document.create",
            {"name": name, "parent_id": parent_id, "node_kind": "note", "page_content": text},
        )
        return str(result["id"])

    return make


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """An empty folder to import from."""
    place = tmp_path / "pages"
    place.mkdir()
    return place


@pytest.fixture
def import_and_wait(engine: Engine, library: Library, do: Run) -> Run:
    """Imports and waits; returns state, result, reason and id of the job."""
    import orjson
    from documents_fixtures import rows

    def run(**params: Any) -> dict[str, Any]:
        job_id = do("document.import", params)["job_id"]
        engine.jobs.run_until_idle(library)
        ((state, result, reason),) = rows(
            library, "SELECT state, result, reason FROM job WHERE id = ?", job_id
        )
        return {"id": job_id, "state": state, "reason": reason, **(orjson.loads(result) if result else {})}

    return run


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """A started engine with this family only."""
    from armarium_documents.plugin import armarium_plugin

    return make_engine(plugins=[armarium_plugin()])


@pytest.fixture(scope="session")
def shared_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of one engine for all tests whose requests are refused and so change nothing."""
    from armarium.settings import Settings
    from armarium_documents.plugin import armarium_plugin
    from armarium_testing.fixtures import OWNER_TOKEN, http_client

    place = tmp_path_factory.mktemp("shared")
    settings = Settings(state_dir=place / "state", owner_token=OWNER_TOKEN, library_roots=[place])
    engine = Engine(settings, plugins=[armarium_plugin()])
    engine.start(jobs=False)
    engine.run(None, "library.create", {"path": str(place / "Shared.library")}, OWNER)
    yield from http_client(engine, engine.libraries.get(place / "Shared.library"))
    engine.close()


@pytest.fixture
def projects(engine: Engine, tmp_path: Path) -> Any:
    """Two new projects of the engine."""
    from transfer_fixtures import OpenProjects

    for name in ("From", "To"):
        engine.run(None, "library.create", {"path": str(tmp_path / f"{name}.library")}, OWNER)
    return OpenProjects(
        engine,
        engine.libraries.get(tmp_path / "From.library"),
        engine.libraries.get(tmp_path / "To.library"),
    )
