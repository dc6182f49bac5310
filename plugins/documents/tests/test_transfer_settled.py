"""A move cut short, and a project that was removed, renamed or set back: always settled, nothing lost, nothing held."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from documents_ground import OWNER, rows
from transfer_ground import Two, failing, ground, reopen

from armarium.api import Library, raw_of
from armarium_documents.actions.transfer import copying
from armarium_testing.kills import Killed


def read_activity(library: Library) -> list[str]:
    """What the activity of a project says of transfers that were settled."""
    return [
        m
        for (m,) in rows(library, "SELECT message FROM activity ORDER BY seq")
        if "interrupted transfer" in m
    ]


def copy_database(library: Library, name: str) -> Path:
    """A copy of the project's database as it stands now, as a snapshot makes it."""
    kept = library.path.with_name(f"{name}.sqlite")
    with (
        closing(sqlite3.connect(kept)) as copy,
        closing(sqlite3.connect(library.path / "library.sqlite")) as own,
    ):
        own.backup(copy)
    return kept


def put_back(two: Two, path: Path, kept: Path) -> None:
    """Set the project at *path*, which is then closed, back to *kept*."""
    two.engine.libraries.release(path)
    for name in ("library.sqlite-wal", "library.sqlite-shm"):
        (path / name).unlink(missing_ok=True)
    shutil.copyfile(kept, path / "library.sqlite")


CUT_AT = [("carry_out", "_copy_files"), ("moving", "_send_out")]


@pytest.mark.parametrize(("state", "step"), CUT_AT)
@pytest.mark.parametrize("what", ["removed", "renamed", "another in its place"])
def test_a_move_is_not_held_by_a_project_that_is_gone(
    two: Two, monkeypatch: pytest.MonkeyPatch, state: str, step: str, what: str
) -> None:
    box = ground(two)
    failing(monkeypatch, copying._Transfer, step, Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([box], "move")
    monkeypatch.undo()
    old = two.target.path
    two.engine.libraries.release(old)
    renamed = old.with_name("Renamed.library")
    old.rename(renamed)
    if what == "removed":
        shutil.rmtree(renamed)
    elif what == "another in its place":
        two.engine.run(None, "library.create", {"path": str(old)}, OWNER)
        two.engine.libraries.release(old)
    made = two.engine.run(None, "library.create", {"path": str(old.with_name("Third.library"))}, OWNER)
    assert made.result is not None
    third = Two(two.engine, two.source, two.engine.libraries.get(made.result["path"]))
    # Neither closing and opening nor anything else by hand: the next transfer finds that nothing holds it any more.
    assert third.transfer([box], "move")["source_audit_id"]
    with two.source.db.read() as conn:
        raw = raw_of(conn)
        reasons = [row[0] for row in raw.execute("SELECT reason FROM document_transfer ORDER BY id")]
    assert reasons[0] == f"The project {old} no longer exists."
    assert (len(third.live(third.source)), len(third.live(third.target))) == (0, 3)
    if what == "removed":
        return
    # It comes back under another name: its half of the move that was taken back is taken back too.
    back = Two(two.engine, two.source, two.engine.libraries.get(renamed))
    assert back.live(back.target) == []
    assert len(third.live(third.target)) == 3


@pytest.mark.parametrize("first", ["source", "target"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_move_is_settled_with_a_project_set_back_to_before_it(two: Two, side: str, first: str) -> None:
    """Whichever side a snapshot from before the move is put back on, nothing is lost and nothing held."""
    box = ground(two)
    library = two.source if side == "source" else two.target
    kept = copy_database(library, "kept")
    before = two.live(two.source)
    assert two.transfer([box], "move")["source_audit_id"]
    path = library.path
    put_back(two, path, kept)
    two.engine.libraries.get(path)
    again = reopen(
        Two(two.engine, two.engine.libraries.get(two.source.path), two.engine.libraries.get(two.target.path)),
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
    two: Two, monkeypatch: pytest.MonkeyPatch, state: str, step: str, renamed: str, first: str
) -> None:
    """Opened alone, the other side finds its partner gone; once that is opened the thing is in one place again."""
    box = ground(two)
    before = two.live(two.source)
    failing(monkeypatch, copying._Transfer, step, Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([box], "move")
    monkeypatch.undo()
    paths = {"source": two.source.path, "target": two.target.path}
    for path in paths.values():
        two.engine.libraries.release(path)
    moved = paths[renamed].with_name("Renamed.library")
    paths[renamed].rename(moved)
    paths[renamed] = moved
    for side in ("source", "target") if first == "source" else ("target", "source"):
        two.engine.libraries.get(paths[side])
    again = Two(two.engine, *(two.engine.libraries.get(paths[side]) for side in ("source", "target")))
    live = again.live(again.source), again.live(again.target)
    assert sorted(map(len, live)) == [0, 3]
    assert live[0] in ([], before)
    # Where nobody was missing when it was looked for, a copy that stood complete is not given up.
    if state == "moving" and renamed == "source":
        assert live[0] == []
    assert set(again.states()) <= {"done", "taken-back", None}
    if live[0]:
        assert again.transfer([box], "move")["source_audit_id"]


@pytest.mark.parametrize("first", ["source", "target"])
def test_a_source_set_back_into_the_midst_of_a_move_keeps_what_was_moved(
    two: Two, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Whoever puts such a snapshot back wants what it holds: both projects hold it then, and one says why."""
    box = ground(two)
    before = two.live(two.source)
    kept: list[Path] = []
    send_out = copying._Transfer._send_out

    def keep_and_send(self: copying._Transfer, audit_id: str) -> None:
        kept.append(copy_database(two.source, "midst"))
        send_out(self, audit_id)

    monkeypatch.setattr(copying._Transfer, "_send_out", keep_and_send)
    assert two.transfer([box], "move")["source_audit_id"]
    put_back(two, two.source.path, kept[0])
    again = reopen(two, first)
    for _ in range(2):
        assert again.live(again.source) == before
        assert len(again.live(again.target)) == 3
        assert again.states() == ("done", "done")
        assert len(read_activity(again.source)) == 1
        again = reopen(again, first)
    assert again.transfer([box], "copy")["written"]["documents"] == 3


def test_a_target_set_back_and_renamed_is_known_again(two: Two) -> None:
    box = ground(two)
    before = two.live(two.source)
    kept = copy_database(two.target, "kept")
    assert two.transfer([box], "move")["source_audit_id"]
    put_back(two, two.target.path, kept)
    two.engine.libraries.release(two.source.path)
    renamed = two.target.path.with_name("Renamed.library")
    two.target.path.rename(renamed)
    again = Two(two.engine, two.engine.libraries.get(two.source.path), two.engine.libraries.get(renamed))
    assert again.live(again.source) == before
    assert again.live(again.target) == []


def test_a_copy_that_was_deleted_meanwhile_does_not_send_out_what_it_was_made_of(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut short before its second half, and the copy deleted while the source was away: it stays where it was."""
    box = ground(two)
    before = two.live(two.source)
    failing(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([box], "move")
    monkeypatch.undo()
    two.engine.libraries.release(two.source.path)
    ((copy,),) = rows(two.target, "SELECT id FROM document WHERE name = 'Box'")
    two.engine.run(two.target, "document.delete", {"ids": [copy]}, OWNER)
    again = Two(two.engine, two.engine.libraries.get(two.source.path), two.target)
    assert again.live(again.source) == before
    assert again.states() == ("taken-back", "taken-back")
