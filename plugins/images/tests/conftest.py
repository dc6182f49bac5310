"""Fixtures for the tests of images: an engine with documents and images, pictures in a folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library

sys.path.insert(0, str(Path(__file__).parent))

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """A started engine with only documents and images, since they depend on no other family."""
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_images.plugin import armarium_plugin as images

    return make_engine(plugins=[documents(), images()])


@pytest.fixture
def folder(do: Run) -> str:
    """The id of an empty folder."""
    return str(do("document.create", {"name": "Box"})["id"])


@pytest.fixture
def page(engine: Engine, library: Library, folder: str) -> str:
    """The id of a picture of 120 by 90 pixels in the folder."""
    from images_helpers import add_page

    return add_page(engine, library, folder)
