"""An import finds what was imported already by its name, however many siblings there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Library, new_id
from armarium_documents.jobs.present import Place


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of every connection opened from now on."""
    heard: list[str] = []
    plain: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(*args: Any, **named: Any) -> sqlite3.Connection:
        made = plain(*args, **named)
        made.set_trace_callback(heard.append)
        return made

    monkeypatch.setattr(sqlite3, "connect", connect)
    return heard


@pytest.fixture
def engine(statements: list[str], make_engine: Callable[..., Engine]) -> Engine:
    from armarium_documents.plugin import armarium_plugin

    return make_engine(plugins=[armarium_plugin()])


def test_a_file_is_looked_for_by_its_name(
    statements: list[str], library: Library, folder: Callable[..., str], tmp_path: Path
) -> None:
    inner = folder("Letters", folder("Box"))
    place = Place(library, inner, new_id(), again=False)
    statements.clear()
    assert place.holds((), "1.jpg", tmp_path / "1.jpg") is None
    assert place.folder(("2",)) is None
    asked_statements = [statement for statement in statements if "FROM document WHERE parent_id" in statement]
    assert len(asked_statements) == 2
    with closing(sqlite3.connect(library.db.path)) as conn:
        for statement in asked_statements:
            plan = [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {statement}")]
            assert any("ix_document_name (parent_id=? AND name=?)" in line for line in plan), plan
