"""Fixtures of the tests of knowledge: an engine with what it stands on, and a historian at work."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from knowledge_desk import Desk

from armarium.api import Engine, Library

FAMILIES = ("documents", "source_model", "reading", "rights", "checking", "search", "knowledge")


@pytest.fixture
def settings() -> dict[str, Any]:
    """What is set of the engine besides its plugins."""
    return {}


@pytest.fixture
def engine(make_engine: Callable[..., Engine], settings: dict[str, Any]) -> Engine:
    """An engine with knowledge and what it stands on."""
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    return make_engine(plugins=made, **settings)


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """A historian at work in a fresh project."""
    return Desk(engine, library, client)
