"""Fixtures for the tests of layout: an engine with layout and the families it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from armarium.api import Engine

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """A started engine with documents, images, source model and layout."""
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_images.plugin import armarium_plugin as images
    from armarium_layout.plugin import armarium_plugin as layout
    from armarium_source_model.plugin import armarium_plugin as source_model

    return make_engine(plugins=[documents(), source_model(), images(), layout()])
