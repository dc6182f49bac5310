"""Fixtures for the tests of paleography: an engine with the families it needs, and a project."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from paleography_project import FAMILIES, PaleographyProject

from armarium.api import Engine, Library


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with paleography and the families it depends on."""
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    return make_engine(plugins=made)


@pytest.fixture
def project(engine: Engine, library: Library, client: Any) -> PaleographyProject:
    """A new project with helpers to fill and query it."""
    return PaleographyProject(engine, library, client)
