"""Fixtures for the tests of workflows: an engine with small third-party recipe jobs, and a project."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library
from armarium_testing.fixtures import http_client

sys.path.insert(0, str(Path(__file__).parent))

from small_jobs import WorkflowProject, small_plugin


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with workflows, the families they depend on, and the small jobs."""
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_reading.plugin import armarium_plugin as reading
    from armarium_source_model.plugin import armarium_plugin as source_model
    from armarium_workflows.plugin import armarium_plugin as workflows

    return make_engine(plugins=[documents(), source_model(), reading(), workflows(), small_plugin()])


@pytest.fixture
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client in the project."""
    yield from http_client(engine, library)


@pytest.fixture
def project(engine: Engine, library: Library, client: Any) -> WorkflowProject:
    """Helpers to create pages, run workflows and query the results."""
    return WorkflowProject(engine, library, client)
