"""Fixtures for the tests of the source model: an engine with this family and documents, and a project to work in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from armarium.api import Engine, Library
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_source_model.plugin import armarium_plugin

sys.path.insert(0, str(Path(__file__).parent))

from source_model_fixtures import Desk


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with documents and the source model only."""
    return make_engine(plugins=[documents_plugin(), armarium_plugin()])


@pytest.fixture
def desk(engine: Engine, library: Library) -> Desk:
    """A new project, and short ways to work in it."""
    return Desk(engine, library)
