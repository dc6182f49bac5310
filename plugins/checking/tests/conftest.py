"""Fixtures for the tests of checking: an engine with the families it needs, and a project."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from checking_project import CheckingProject

from armarium.api import Engine, Library
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with checking, rights and the families they depend on."""
    return make_engine(plugins=[documents(), source_model(), reading(), rights(), checking()])


@pytest.fixture
def project(engine: Engine, library: Library, client: Any) -> CheckingProject:
    """A new project with helpers to fill and query it."""
    return CheckingProject(engine, library, client)
