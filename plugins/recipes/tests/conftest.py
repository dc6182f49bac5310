"""Fixtures for the tests of recipes: an engine with the families that recipes use, a project, the owner's client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library
from armarium_testing.fixtures import http_client

sys.path.insert(0, str(Path(__file__).parent))

FAMILIES = (
    "documents",
    "source_model",
    "images",
    "reading",
    "layout",
    "workflows",
    "checking",
    "knowledge",
    "exports",
    "finding",
    "paleography",
    "training",
    "rights",
    "recipes",
)


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with recipes and the families whose jobs these tests use."""
    return make_engine(
        plugins=[import_module(f"armarium_{family}.plugin").armarium_plugin() for family in FAMILIES]
    )


@pytest.fixture
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client, naming the project."""
    yield from http_client(engine, library)
