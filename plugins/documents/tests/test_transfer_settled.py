"""An interrupted move, and a project that was removed, renamed or restored from a snapshot: the move is always settled,
nothing is lost, nothing stays held.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from documents_fixtures import OWNER, rows
from transfer_fixtures import OpenProjects, fail_at, fill_source, reopen

from armarium.api import Library, raw_of
from armarium_documents.actions.transfer import copying
from armarium_testing.kills import Killed


def read_activity(library: Library) -> list[str]:
    """Return the messages about settled transfers in a project's activity."""
    return [
        m
        for (m,) in rows(library, "SELECT message FROM activity ORDER BY seq")
        if "interrupted transfer" in m
    ]


def copy_database(library: Library, name: str) -> Path:
    """Return a copy of the project's database as it is now, made as a snapshot is."""
    kept = library.path.with_name(f"{name}.sqlite")
    with (
        closing(sqlite3.connect(kept)) as copy,
        closing(sqlite3.connect(library.path / "library.sqlite")) as own,
    ):
        own.backup(copy)
    return kept


def put_back(projects: OpenProjects, path: Path, kept: Path) -> None:
    """Restore *kept*, a copy of its database, to the project at *path*, and leave that closed."""
    projects.engine.libraries.release(path)
    for name in ("library.sqlite-wal", "library.sqlite-shm"):
        (path / name).unlink(missing_ok=True)
    shutil.copyfile(kept, path / "library.sqlite")


CUT_AT = [("carry_out", "_copy_files"), ("moving", "_send_out")]


@pytest.mark.parametrize(("state", "step"), CUT_AT)
@pytest.mark.parametrize("what", ["removed", "renamed", "another in its place"])
def test_a_move_is_not_held_by_a_project_that_is_gone(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch, state: str, step: str, what: str
) -> None:
    box = fill_source(projects)
    fail_at(monkeypatch, copying._Transfer, step, Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([box], "move")
    monkeypatch.undo()
    old = projects.target.path
    projects.engine.libraries.release(old)
    renamed = old.with_name("Renamed.library")
    old.rename(renamed)
    if what == "removed":
        shutil.rmtree(renamed)
    elif what == "another in its place":
        projects.engine.run(None, "library.create", {"path": str(old)}, OWNER)
        projects.engine.libraries.release(old)
    result = projects.engine.run(None, "library.create", {"path": str(old.with_name("Third.library"))}, OWNER)
    assert result.result is not None
    third = OpenProjects(
        projects.engine, projects.source, projects.engine.libraries.get(result.result["path"])
    )
    # Nothing has to be closed, opened or repaired by hand: the next transfer finds that nothing is held any more.
    assert third.transfer([box], "move")["source_audit_id"]
    with projects.source.db.read() as conn:
        raw = raw_of(conn)
        reasons = [row[0] for row in raw.execute("SELECT reason FROM document_transfer ORDER BY id")]
    assert reasons[0] == f"The project {old} no longer exists."
    assert (len(third.live(third.source)), len(third.live(third.target))) == (0, 3)
    if what == "removed":
        return
    # The target comes back under another name: its half of the abandoned move is reverted too.
    back = OpenProjects(projects.engine, projects.source, projects.engine.libraries.get(renamed))
    assert back.live(back.target) == []
    assert len(third.live(third.target)) == 3


@pytest.mark.parametrize("first", ["source", "target"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_move_is_settled_with_a_project_set_back_to_before_it(
    projects: OpenProjects, side: str, first: str
) -> None:
    """Whichever side is restored from a snapshot before the move, nothing is lost and nothing stays held."""
    box = fill_source(projects)
    library = projects.source if side == "source" else projects.target
    database = copy_database(library, "kept")
    before = projects.live(projects.source)
    assert projects.transfer([box], "move")["source_audit_id"]
    path = library.path
    put_back(projects, path, database)
    projects.engine.libraries.get(path)
    again = reopen(
        OpenProjects(
            projects.engine,
            projects.engine.libraries.get(projects.source.path),
            projects.engine.libraries.get(projects.target.path),
        ),
        first,
    )
    assert again.live(again.source) == before
    assert len(again.live(again.target)) == (3 if side == "source" else 0)
    for _ in range(2):
        assert len(read_activity(again.target if side == "source" else again.source)) == 1
        again = reopen(again, first)
    assert again.transfer([box], "copy")["written"]["documents"] == 3


@pytest.mark.parametrize("first", ["source", "target"])
@pytest.mark.parametrize("renamed", ["source", "target"])
@pytest.mark.parametrize(("state", "step"), CUT_AT)
def test_a_move_cut_short_is_finished_with_a_project_that_was_renamed(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch, state: str, step: str, renamed: str, first: str
) -> None:
    """Opened alone, the other side does not find its partner; once both are open, everything is in one place again."""
    box = fill_source(projects)
    before = projects.live(projects.source)
    fail_at(monkeypatch, copying._Transfer, step, Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([box], "move")
    monkeypatch.undo()
    paths = {"source": projects.source.path, "target": projects.target.path}
    for path in paths.values():
        projects.engine.libraries.release(path)
    moved = paths[renamed].with_name("Renamed.library")
    paths[renamed].rename(moved)
    paths[renamed] = moved
    for side in ("source", "target") if first == "source" else ("target", "source"):
        projects.engine.libraries.get(paths[side])
    again = OpenProjects(
        projects.engine, *(projects.engine.libraries.get(paths[side]) for side in ("source", "target"))
    )
    live = again.live(again.source), again.live(again.target)
    assert sorted(map(len, live)) == [0, 3]
    assert live[0] in ([], before)
    # If no partner was missing when the projects were opened, a complete copy is not abandoned.
    if state == "moving" and renamed == "source":
        assert live[0] == []
    assert set(again.states()) <= {"done", "taken-back", None}
    if live[0]:
        assert again.transfer([box], "move")["source_audit_id"]


@pytest.mark.parametrize("first", ["source", "target"])
def test_a_source_set_back_into_the_midst_of_a_move_keeps_what_was_moved(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Whoever restores such a snapshot wants its content: both projects then have the items, and one of them says why."""
    box = fill_source(projects)
    before = projects.live(projects.source)
    kept: list[Path] = []
    send_out = copying._Transfer._send_out

    def keep_and_send(self: copying._Transfer, audit_id: str) -> None:
        kept.append(copy_database(projects.source, "midst"))
        send_out(self, audit_id)

    monkeypatch.setattr(copying._Transfer, "_send_out", keep_and_send)
    assert projects.transfer([box], "move")["source_audit_id"]
    put_back(projects, projects.source.path, kept[0])
    again = reopen(projects, first)
    for _ in range(2):
        assert again.live(again.source) == before
        assert len(again.live(again.target)) == 3
        assert again.states() == ("done", "done")
        assert len(read_activity(again.source)) == 1
        again = reopen(again, first)
    assert again.transfer([box], "copy")["written"]["documents"] == 3


def test_a_target_set_back_and_renamed_is_known_again(projects: OpenProjects) -> None:
    box = fill_source(projects)
    before = projects.live(projects.source)
    database = copy_database(projects.target, "kept")
    assert projects.transfer([box], "move")["source_audit_id"]
    put_back(projects, projects.target.path, database)
    projects.engine.libraries.release(projects.source.path)
    renamed = projects.target.path.with_name("Renamed.library")
    projects.target.path.rename(renamed)
    again = OpenProjects(
        projects.engine,
        projects.engine.libraries.get(projects.source.path),
        projects.engine.libraries.get(renamed),
    )
    assert again.live(again.source) == before
    assert again.live(again.target) == []


def test_a_copy_that_was_deleted_meanwhile_does_not_send_out_what_it_was_made_of(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted before the source removed its items; then the copy was deleted while the source was closed: the items
    stay in the source.
    """
    box = fill_source(projects)
    before = projects.live(projects.source)
    fail_at(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([box], "move")
    monkeypatch.undo()
    projects.engine.libraries.release(projects.source.path)
    ((copy,),) = rows(projects.target, "SELECT id FROM document WHERE name = 'Box'")
    projects.engine.run(projects.target, "document.delete", {"ids": [copy]}, OWNER)
    again = OpenProjects(
        projects.engine, projects.engine.libraries.get(projects.source.path), projects.target
    )
    assert again.live(again.source) == before
    assert again.states() == ("taken-back", "taken-back")
