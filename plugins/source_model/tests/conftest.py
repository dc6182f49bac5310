"""What the tests of the source model share: an engine with this family and the one it stands on, a person at work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from armarium.api import Engine, Library
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_source_model.plugin import armarium_plugin

sys.path.insert(0, str(Path(__file__).parent))

from source_model_desk import Desk


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine that holds documents and the source model and nothing else."""
    return make_engine(plugins=[documents_plugin(), armarium_plugin()])


@pytest.fixture
def desk(engine: Engine, library: Library) -> Desk:
    """A person at work in a fresh library."""
    return Desk(engine, library)
