"""Fixtures for the tests of reading: an engine with the families it needs and fake readers, and a project."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from armarium.api import Engine, Library
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_reading.plugin import armarium_plugin as reading_plugin
from armarium_source_model.plugin import armarium_plugin as source_model_plugin
from armarium_testing.model_provider import LoopbackProvider

sys.path.insert(0, str(Path(__file__).parent))

from reading_project import ReadingProject, register_fake_readers


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with reading, the families it depends on, and the fake readers."""
    new_engine = make_engine(plugins=[documents_plugin(), source_model_plugin(), reading_plugin()])
    register_fake_readers(new_engine)
    return new_engine


@pytest.fixture
def project(engine: Engine, library: Library) -> ReadingProject:
    """A new project with helpers to fill and query it."""
    return ReadingProject(engine, library)


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """A running provider on this machine."""
    with LoopbackProvider() as running:
        yield running
