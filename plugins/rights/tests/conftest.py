"""Fixtures for the tests of rights: an engine with every family, and a project with two pages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from restricted_project import RestrictedProject, create_project

from armarium.api import Engine, Library


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with every family except the readers."""
    families = ("documents", "source_model", "images", "canvas", "formats", "iiif", "reading", "rights")
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in families]
    return make_engine(plugins=made)


@pytest.fixture
def project(engine: Engine, library: Library, client: Any) -> RestrictedProject:
    """The project, in which nothing is restricted yet."""
    return create_project(engine, library, client)
