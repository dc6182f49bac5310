"""Fixtures for the tests of canvas: an engine with documents and canvas, a folder with cards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine

sys.path.insert(0, str(Path(__file__).parent))

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """A started engine with only documents and canvas, since they depend on no other family."""
    from armarium_canvas.plugin import armarium_plugin as canvas
    from armarium_documents.plugin import armarium_plugin as documents

    return make_engine(plugins=[documents(), canvas()])


@pytest.fixture
def folder(do: Run) -> str:
    """The id of an empty folder."""
    return str(do("document.create", {"name": "Box"})["id"])


@pytest.fixture
def card(do: Run, folder: str) -> Callable[..., str]:
    """A function that creates a note in the folder and returns its id."""

    def make(name: str = "Letter", parent_id: str | None = None, **fields: Any) -> str:
        result = do(
            "document.create",
            {"name": name, "parent_id": parent_id or folder, "node_kind": "note", **fields},
        )
        return str(result["id"])

    return make
