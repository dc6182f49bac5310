"""Fixtures of the tests of synced folders: an engine with what they stand on, a folder on the disk."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sync_desk import SyncDesk

from armarium.api import Engine, Library

FAMILIES = ("documents", "source_model", "images", "formats", "rights", "sync")


@pytest.fixture(autouse=True)
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file counts as written whole at once, but where a test says otherwise."""
    monkeypatch.setattr("armarium_sync.looking.SETTLED", 0.0)


@pytest.fixture
def families() -> list[Any]:
    """The plugins that synced folders stand on, and they."""
    return [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]


@pytest.fixture
def engine(make_engine: Callable[..., Engine], families: list[Any]) -> Engine:
    """An engine with synced folders and what they stand on."""
    return make_engine(plugins=families)


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any, tmp_path: Path) -> SyncDesk:
    """A fresh project with a folder to tie."""
    folder = tmp_path / "shared"
    folder.mkdir()
    return SyncDesk(engine, library, client, folder)
