"""Fixtures for the tests of georeference: an engine with the families it needs, and a project with maps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from map_project import MapProject

from armarium.api import Engine, Library, Plugin
from armarium_documents.plugin import armarium_plugin as documents
from armarium_georeference.plugin import armarium_plugin as georeference
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.answers import answering


@pytest.fixture
def entities() -> dict[str, dict[str, Any]]:
    """The entities of the project by id; `keeping_engine` serves them in place of the knowledge family."""
    return {}


@pytest.fixture
def keeping_engine(make_engine: Callable[..., Engine], entities: dict[str, dict[str, Any]]) -> Engine:
    """An engine with a family that serves `entities`."""
    keeper = Plugin(
        name="keeper",
        summary="Keeps entities",
        hooks=answering(armarium_georeference_entity=lambda entity_id: entities.get(entity_id)),
    )
    return make_engine(plugins=[documents(), source_model(), rights(), georeference(), keeper])


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with georeference, rights and the families they depend on."""
    return make_engine(plugins=[documents(), source_model(), rights(), georeference()])


@pytest.fixture
def project(engine: Engine, library: Library, client: Any) -> MapProject:
    """A new project with helpers to fill and query it."""
    return MapProject(engine, library, client)
