"""Fixtures for the tests of the core: an engine with only the core and the family `shelf`, and a project in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.shelf import shelf_plugin

sys.path.insert(0, str(Path(__file__).parent))

Run = Callable[..., Any]


@pytest.fixture
def shelf_engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with the core and the family `shelf`."""
    return make_engine(plugins=[shelf_plugin()])


@pytest.fixture
def shelf_library(shelf_engine: Engine, tmp_path: Path) -> Library:
    """A project for shelves."""
    place = tmp_path / "Shelves.library"
    shelf_engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return shelf_engine.libraries.get(place)


@pytest.fixture
def run(shelf_engine: Engine, shelf_library: Library) -> Run:
    """`run("shelf.add", shelf_id=…)` runs an action as the owner; returns the outcome."""

    def call(_action: str, **params: Any) -> Any:
        given: Mapping[str, Any] = params
        return shelf_engine.run(shelf_library, _action, given, LOCAL_OWNER)

    return call
