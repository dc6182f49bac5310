"""Fixtures of the tests of exports: an engine with what they stand on, records of a made-up family, and a project."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from exports_desk import Desk

from armarium.api import Engine, Library, Plugin
from armarium_canvas.plugin import armarium_plugin as canvas
from armarium_checking.api import Layer, Target
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_exports.plugin import armarium_plugin as exports
from armarium_formats.plugin import armarium_plugin as formats
from armarium_iiif.plugin import armarium_plugin as iiif
from armarium_images.plugin import armarium_plugin as images
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.answers import answering


@pytest.fixture
def known() -> dict[str, list[Mapping[str, Any]]]:
    """What a made-up family contributes: record type to its records."""
    return {"entity": [], "claim": [], "mention": []}


@pytest.fixture
def engine(make_engine: Callable[..., Engine], known: dict[str, list[Mapping[str, Any]]]) -> Engine:
    """An engine with exports, what these stand on, and a family that contributes records."""

    def rows(name: str) -> Callable[..., Iterator[Mapping[str, Any]]]:
        return lambda _conn, _ids, _withheld: iter(known[name])

    lore = Plugin(
        name="lore",
        summary="Made-up records",
        hooks=answering(
            armarium_exports_records=lambda: {name: rows(name) for name in known},
            armarium_checking_layers=lambda: [
                Layer(name, lambda _conn, _id: Target(None), {}) for name in ("claims", "entities")
            ],
        ),
    )
    return make_engine(
        plugins=[
            *(documents(), source_model(), images(), canvas(), formats(), iiif(), reading()),
            *(rights(), checking(), exports(), lore),
        ]
    )


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any, tmp_path: Path) -> Desk:
    """A person at work in a fresh project."""
    return Desk(engine, library, client, tmp_path)
