"""Fixtures for the tests of rights: an engine with every family, and a project with two pages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from rights_ground import Ground, lay

from armarium.api import Engine, Library


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with every family except the readers."""
    families = ("documents", "source_model", "images", "canvas", "formats", "iiif", "reading", "rights")
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in families]
    return make_engine(plugins=made)


@pytest.fixture
def ground(engine: Engine, library: Library, client: Any) -> Ground:
    """The project, in which nothing is restricted yet."""
    return lay(engine, library, client)
