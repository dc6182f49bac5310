"""Fixtures of the tests of searching: an engine with what it stands on, and a person at work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from search_desk import SearchDesk

from armarium.api import Engine, Library
from armarium_documents.plugin import armarium_plugin as documents
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_search.plugin import armarium_plugin as search
from armarium_source_model.plugin import armarium_plugin as source_model


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with searching, rights and what these stand on."""
    return make_engine(plugins=[documents(), source_model(), reading(), rights(), search()])


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> SearchDesk:
    """A person at work in a fresh project."""
    return SearchDesk(engine, library, client)
