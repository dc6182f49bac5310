"""A project of each earlier release, made by that release's own code with an example of every action, opens with the same rows."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import release
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from checkout import ROOT

STORED = sorted((ROOT / "tests" / "releases").glob("*.tar.xz"))

NEWEST = "SELECT id FROM audit WHERE undoable AND NOT undone AND images <> '{}' ORDER BY seq DESC LIMIT 1"


@pytest.mark.parametrize("stored", STORED, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_stored_project_opens_with_the_same_rows_and_its_steps_can_be_undone(
    stored: Path, tmp_path: Path, make_engine: Callable[..., Engine]
) -> None:
    with tarfile.open(stored) as packed:
        packed.extractall(tmp_path, filter="data")
    place = tmp_path / "Stored.library"
    before = release.tracked_rows(place)
    assert sum(map(bool, before.values())) > 60
    engine = make_engine()
    library = engine.libraries.get(place)
    assert engine.verify_audit(library) is None
    assert release.differing_tables(before, release.tracked_rows(place)) == []
    engine.run(None, "library.create", {"path": str(tmp_path / "New.library")}, LOCAL_OWNER)
    assert parts_of(library) == parts_of(engine.libraries.get(tmp_path / "New.library"))
    # A step that the earlier release recorded is undone, and that is undone again.
    for is_changed in (True, False):
        with library.db.read() as conn:
            newest = conn.exec_driver_sql(NEWEST).scalar_one()
        engine.undo(library, [newest], LOCAL_OWNER)
        assert bool(release.differing_tables(before, release.tracked_rows(place))) == is_changed


def parts_of(library: Library) -> dict[str, str]:
    """Return the tables, indexes, triggers and views of a project by their names."""
    with library.db.read_all() as conn:
        return {row[0]: row[1] for row in conn.exec_driver_sql("SELECT name, type FROM sqlite_master")}
