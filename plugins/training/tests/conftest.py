"""Fixtures of the tests of training: an engine with what it stands on, and a person at work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from training_desk import Desk

from armarium.api import Engine, Library
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_images.plugin import armarium_plugin as images
from armarium_layout.plugin import armarium_plugin as layout
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_training.plugin import armarium_plugin as training


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with training, rights and what these stand on."""
    stands_on = [documents(), source_model(), images(), layout(), reading(), rights(), checking()]
    return make_engine(plugins=[*stands_on, training()])


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """A person at work in a fresh project."""
    return Desk(engine, library, client)
