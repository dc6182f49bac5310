"""A move cut short, and a project that was removed, renamed or set back: always settled, nothing lost, nothing held."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from documents_ground import OWNER
from transfer_ground import Two, failing, ground, reopened

from armarium.api import raw_of
from armarium.testing.kills import Killed
from armarium_documents.actions.transfer import copying

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
    assert reasons[0] == f"The project {old} is not there any more."
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
    kept = library.path.with_name("kept.sqlite")
    with (
        closing(sqlite3.connect(kept)) as copy,
        closing(sqlite3.connect(library.path / "library.sqlite")) as own,
    ):
        own.backup(copy)
    before = two.live(two.source)
    assert two.transfer([box], "move")["source_audit_id"]
    path = library.path
    two.engine.libraries.release(path)
    for name in ("library.sqlite-wal", "library.sqlite-shm"):
        (path / name).unlink(missing_ok=True)
    shutil.copyfile(kept, path / "library.sqlite")
    two.engine.libraries.get(path)
    again = reopened(
        Two(two.engine, two.engine.libraries.get(two.source.path), two.engine.libraries.get(two.target.path)),
        first,
    )
    assert again.live(again.source) == before
    assert len(again.live(again.target)) == (3 if side == "source" else 0)
    assert again.transfer([box], "copy")["written"]["documents"] == 3
