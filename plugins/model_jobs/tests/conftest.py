"""Fixtures for the tests of jobs that ask a model: an engine with the families they need, and a provider on
this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from model_project import ModelProject

from armarium.api import Engine, Library
from armarium_documents.plugin import armarium_plugin as documents
from armarium_model_jobs.plugin import armarium_plugin as model_jobs
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.model_provider import LoopbackProvider


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with these jobs, rights, and the families they need."""
    return make_engine(plugins=[documents(), source_model(), reading(), rights(), model_jobs()])


@pytest.fixture
def provider(engine: Engine) -> Iterator[LoopbackProvider]:
    """A provider on this machine that the engine knows as Loopback."""
    with LoopbackProvider() as running:
        running.add_to(engine, "Loopback")
        yield running


@pytest.fixture
def project(engine: Engine, library: Library, provider: LoopbackProvider, tmp_path: Path) -> ModelProject:
    """A new project with a provider and helpers to run jobs."""
    return ModelProject(engine, library, provider, tmp_path)
