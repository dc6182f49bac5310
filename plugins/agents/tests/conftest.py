"""Fixtures of the tests of agents: an engine with documents, rights, and a family that keeps entities and claims."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import Connection

from armarium.api import Conflict, Engine, Library, NotFound, Plugin, Settings, WithheldAlong
from armarium.principals import LOCAL_OWNER
from armarium.web.app import create_app
from armarium_agents.plugin import armarium_plugin as agents
from armarium_documents.plugin import armarium_plugin as documents
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.answers import answering
from armarium_testing.command_line import desk as desk
from armarium_testing.command_line import pictures as pictures
from armarium_testing.command_line import read_pages as read_pages
from armarium_testing.command_line import serving as serving
from armarium_testing.command_line import world as world
from armarium_testing.fixtures import OWNER_TOKEN

sys.path.insert(0, str(Path(__file__).parent))

from agent_fixtures import Place
from branch_pair import Pair


class End:
    """Entities or claims, as another family lets links end on them."""

    def __init__(self, kind: str, known: set[str]) -> None:
        self.kind, self.known = kind, known

    def check(self, conn: Connection, identity: str) -> None:
        """NotFound for no such thing, Conflict for a merged one."""
        if identity == "merged":
            raise Conflict("It was merged into e1; name that one.", code="merged", id="e1")
        if identity not in self.known:
            raise NotFound(f"There is no {self.kind} {identity} in this project.", id=identity)


class SecretRows(WithheldAlong):
    """Entities and claims withheld from whoever does not see everything."""

    def __init__(self, ids: set[str]) -> None:
        self.ids = ids

    def find_withheld(self, conn: Connection, documents: str, parts: str) -> set[str]:
        """Return all of them, to whomever something is withheld from."""
        return self.ids


@pytest.fixture
def secret() -> set[str]:
    """Ids of the entities and claims that rest on withheld pages alone."""
    return set()


@pytest.fixture
def known() -> set[str]:
    """Ids of the entities and claims there are."""
    return {"e1", "c1"}


@pytest.fixture
def engine(make_engine: Callable[..., Engine], known: set[str], secret: set[str]) -> Engine:
    """An engine with agents and what it stands on."""
    ends = (End("entity", known), End("claim", known))
    keeper = Plugin(
        name="keeper",
        summary="Keeps entities and claims",
        withheld_along=(SecretRows(secret),),
        hooks=answering(armarium_source_model_link_ends=lambda: ends),
    )
    return make_engine(plugins=[documents(), source_model(), rights(), agents(), keeper])


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, FastAPI]]:
    """An engine with every installed family and its application: one for a module, since both take seconds to make."""
    folder = tmp_path_factory.mktemp("everything")
    settings = Settings(state_dir=folder / "state", owner_token=OWNER_TOKEN, library_roots=[folder.parent])
    whole = Engine(settings)
    whole.start(jobs=False)
    yield whole, create_app(engine=whole)
    whole.close()


@pytest.fixture
def place(everything: tuple[Engine, FastAPI], tmp_path: Path) -> Place:
    """A new project in that engine."""
    whole, app = everything
    path = tmp_path / "Letters.library"
    whole.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    return Place(whole, app, whole.libraries.get(path), tmp_path)


@pytest.fixture
def pair(engine: Engine, library: Library, tmp_path: Path) -> Pair:
    """A project with one page of two lines, and a branch of it."""
    return Pair(engine, library, tmp_path)
