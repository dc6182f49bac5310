"""Transfers that go wrong: disks, kills, changes meanwhile, two at once. Nothing is lost, doubled or half-made."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from documents_ground import OWNER, count, rows
from transfer_ground import Two, digests, failing, ground, reopen

from armarium.api import ActionContext, Conflict, Engine, NotFound, ServiceError, Unavailable
from armarium.projects.doctor import examine
from armarium_documents.actions.transfer import copying, recovery
from armarium_documents.queries import trash
from armarium_documents.queries.carrying import choosing
from armarium_testing.kills import Killed

STEPS = ["_copy_files", "_in_parts", "_check", "_make_live"]


FULL = Unavailable("The disk that holds To.library is full; nothing was changed.", code="disk_full")
ERRORS = [FULL, OSError(30, "Read-only file system"), sqlite3.DatabaseError("disk I/O error")]


@pytest.mark.parametrize(
    ("step", "mode", "error"),
    [(step, ("copy", "move")[n % 2], ERRORS[n % 3]) for n, step in enumerate(STEPS * 2)],
)
def test_a_write_failure_rolls_the_target_back(
    two: Two, monkeypatch: pytest.MonkeyPatch, step: str, mode: str, error: Exception
) -> None:
    box = ground(two)
    before = digests(two)
    failing(monkeypatch, copying._Transfer, step, error, after=False)
    with pytest.raises(ServiceError) as refused:
        two.transfer([box], mode)
    assert (refused.value.status, refused.value.code) == (500, "transfer_failed")
    assert "Nothing was changed" in refused.value.detail
    assert digests(two) == before
    assert two.states() in (("taken-back", "taken-back"), ("taken-back", None))
    assert list(two.target.objects.digests()) == []
    monkeypatch.undo()
    assert two.transfer([box], mode)["written"]["documents"] == 3


def test_a_failure_between_two_parts_leaves_nothing(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    before = digests(two)
    monkeypatch.setattr(copying, "PART_ROWS", 1)
    real, written = ActionContext.bulk_insert, []

    def insert(self: ActionContext, table: Any, columns: Any, given: Any) -> int:
        written.append(table.name)
        if len(written) == 3:
            raise sqlite3.OperationalError("database or disk is full")
        return real(self, table, columns, given)

    monkeypatch.setattr(ActionContext, "bulk_insert", insert)
    with pytest.raises(ServiceError) as refused:
        two.transfer([box])
    assert refused.value.status == 500
    assert "full" in refused.value.detail
    assert digests(two) == before
    assert rows(two.target, "SELECT count(*) FROM document__history WHERE op = 'D'") == [(0,)]


def test_a_choice_that_finds_no_room_for_its_lists_is_refused(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = two.make("Box")
    for number in range(60):
        two.note(f"Note {number}", box)
    before = digests(two)
    monkeypatch.setattr(choosing, "SCRATCH", (*choosing.SCRATCH, "max_page_count=3"))
    with pytest.raises(ServiceError) as refused:
        two.transfer([box])
    assert refused.value.detail == (
        "The transfer failed: Database or disk is full. Nothing was changed in either project."
    )
    assert digests(two) == before


def test_rows_that_do_not_read_back_are_no_copy(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    before = digests(two)
    real = ActionContext.bulk_insert

    def spoil(self: ActionContext, table: Any, columns: Any, given: Any) -> int:
        place = list(columns).index("name") if table.name == "document" else None
        spoilt = [
            tuple("spoilt" if i == place and v == "Note" else v for i, v in enumerate(row)) for row in given
        ]
        return real(self, table, columns, spoilt)

    monkeypatch.setattr(ActionContext, "bulk_insert", spoil)
    with pytest.raises(ServiceError, match="Only 2 of 3 rows of document could be read back"):
        two.transfer([box], "move")
    assert digests(two) == before


def test_a_file_that_changed_on_disk_is_not_carried(two: Two) -> None:
    box = ground(two)
    before = digests(two)
    ((digest,),) = rows(two.source, "SELECT checksum FROM rendition")
    place = two.source.objects.path(digest)
    place.chmod(0o644)
    place.write_bytes(b"other bytes")
    with pytest.raises(ServiceError, match="no longer has the content"):
        two.transfer([box], "move")
    assert digests(two) == before


def out_failing(monkeypatch: pytest.MonkeyPatch, times: int, then: Callable[[], None] = lambda: None) -> None:
    real, tried = copying._Transfer._send_out, []

    def send(self: Any, audit_id: str) -> None:
        run = self.engine.run

        def refuse(library: Any, name: str, *given: Any) -> Any:
            if name == "document.transfer_out":
                tried.append(name)
                if len(tried) <= times:
                    then()
                    raise Unavailable("The disk answered with an error.", code="disk_error")
            return run(library, name, *given)

        with monkeypatch.context() as patched:
            patched.setattr(self.engine, "run", refuse)
            real(self, audit_id)

    monkeypatch.setattr(copying._Transfer, "_send_out", send)


def test_the_second_half_is_tried_twice(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    out_failing(monkeypatch, 1)
    assert two.transfer([box], "move")["source_audit_id"]
    assert two.live(two.source) == []


def test_after_two_failures_the_copy_is_taken_back(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    before = digests(two)
    out_failing(monkeypatch, 2)
    with pytest.raises(ServiceError) as refused:
        two.transfer([box], "move")
    assert refused.value.status == 500
    assert "The copy was undone" in refused.value.detail
    assert digests(two) == before
    assert two.states() == ("taken-back", "taken-back")


def test_a_copy_that_was_used_meanwhile_stays(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)

    def use() -> None:
        ((new,),) = rows(two.target, "SELECT id FROM document WHERE name = 'Note'")
        two.do("document.update", two.target, document_id=new, is_starred=True)

    out_failing(monkeypatch, 2, use)
    with pytest.raises(ServiceError, match="The copy has already been changed, so it stays"):
        two.transfer([box], "move")
    assert len(two.live(two.target)) == len(two.live(two.source)) == 3
    assert reopen(two).states() == ("taken-back", "taken-back")


def test_what_is_trashed_while_it_is_moved_is_told(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    check = copying._Transfer._check
    monkeypatch.setattr(
        copying._Transfer, "_check", lambda self: (check(self), two.do("document.delete", ids=[box]))
    )
    with pytest.raises(Conflict, match=r"is in the Trash.* The copy was undone") as refused:
        two.transfer([box], "move")
    assert (refused.value.status, refused.value.code) == (409, "document_in_trash")
    assert two.live(two.target) == []
    with two.source.db.read() as conn:
        (entry,) = trash.entries(conn, limit=9, offset=0)["items"]
    assert entry["reason"] == "deleted"


def test_a_trash_emptied_while_something_is_moved_asks_for_another_try(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers of history images are given anew after a purge, so a later change could hide behind them."""
    box, scrap = ground(two), two.note("Scrap")
    two.do("document.delete", ids=[scrap])
    check = copying._Transfer._check
    monkeypatch.setattr(
        copying._Transfer, "_check", lambda self: (check(self), two.do("document.empty_trash"))
    )
    with pytest.raises(Conflict, match="changed while it was copied"):
        two.transfer([box], "move")
    monkeypatch.undo()
    assert two.transfer([box], "move")["source_audit_id"]


def test_a_place_that_goes_meanwhile_refuses_the_transfer(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    place = two.do("document.create", two.target, name="Place")["id"]
    before = digests(two)[0]
    check = copying._Transfer._check
    monkeypatch.setattr(
        copying._Transfer,
        "_check",
        lambda self: (check(self), two.do("document.delete", two.target, ids=[place])),
    )
    with pytest.raises(Conflict) as refused:
        two.transfer([box], "move", target_parent_id=place)
    assert refused.value.code == "document_in_trash"
    assert digests(two)[0] == before
    assert count(two.target, "document") == 2


def test_copies_that_are_still_written_are_seen_by_nobody(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    looked = []
    real = copying._Transfer._check

    def look(self: Any) -> None:
        with two.target.db.read() as conn:
            assert trash.entries(conn, limit=9, offset=0)["total"] == 0
            assert trash.plan(conn, two.engine)["items"] == 0
        new = self.items[0]["id"]
        with pytest.raises(Conflict) as refused:
            two.do("document.restore", two.target, document_id=new)
        assert refused.value.code == "still_arriving"
        assert two.do("document.empty_trash", two.target)["removed"]["documents"] == 0
        looked.append(new)
        real(self)

    monkeypatch.setattr(copying._Transfer, "_check", look)
    two.transfer([box])
    assert len(looked) == 1
    assert len(two.live(two.target)) == 3


KILLED_BEFORE = [("carry_out", False), ("_copy_files", False), ("_check", False), ("_make_live", False)]


@pytest.mark.parametrize(("step", "after"), [*KILLED_BEFORE, ("_check", True)])
@pytest.mark.parametrize(("mode", "first"), [("copy", "source"), ("move", "source"), ("move", "target")])
def test_what_a_crash_left_unseen_is_removed_when_both_are_open(
    two: Two, monkeypatch: pytest.MonkeyPatch, step: str, after: bool, mode: str, first: str
) -> None:
    box = ground(two)
    before = digests(two)
    monkeypatch.setattr(copying, "PART_ROWS", 1)
    failing(monkeypatch, copying._Transfer, step, Killed(), after=after)
    with pytest.raises(Killed):
        two.transfer([box], mode)
    monkeypatch.undo()
    again = reopen(two, first)
    assert digests(again) == before
    assert again.states() in (("taken-back", "taken-back"), ("taken-back", None), (None, None))
    assert again.transfer([box], mode)["written"]["documents"] == 3


def test_a_move_that_a_crash_left_half_way_is_finished(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    failing(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([box], "move")
    monkeypatch.undo()
    assert two.states() == ("planned", "moving")
    two.engine.libraries.release(two.target.path)
    # While the other project is closed, the move holds what it takes.
    third = two.engine.run(
        None, "library.create", {"path": str(two.source.path.parent / "Third.library")}, OWNER
    )
    assert third.result is not None
    elsewhere = Two(two.engine, two.source, two.engine.libraries.get(third.result["path"]))
    for items in ([box], [rows(two.source, "SELECT id FROM document WHERE name = 'Note'")[0][0]]):
        with pytest.raises(Conflict) as refused:
            elsewhere.transfer(items)
        assert refused.value.code == "held_by_move"
    two = Two(two.engine, two.source, two.engine.libraries.get(two.target.path))
    assert two.live(two.source) == []
    assert len(two.live(two.target)) == 3
    assert two.states() == ("done", "done")
    ((made,),) = rows(two.target, "SELECT id FROM audit WHERE action_name = 'document.transfer'")
    two.engine.undo(two.target, [made], OWNER)
    assert len(two.live(two.source)) == 3


def test_a_folder_around_a_held_thing_is_held(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    note = rows(two.source, "SELECT id FROM document WHERE name = 'Note'")[0][0]
    failing(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([note], "move")
    two.engine.libraries.release(two.target.path)
    two.engine.run(None, "library.create", {"path": str(two.source.path.parent / "Third.library")}, OWNER)
    third = two.engine.libraries.get(two.source.path.parent / "Third.library")
    with pytest.raises(Conflict) as refused:
        Two(two.engine, two.source, third).transfer([box])
    assert refused.value.code == "held_by_move"


def test_a_crash_after_both_halves_loses_only_the_journal_s_last_line(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = ground(two)
    failing(monkeypatch, copying, "note", Killed(), after=False)
    monkeypatch.setattr(copying._Transfer, "_check", lambda self: self.result.update(written={}))
    with pytest.raises(Killed):
        two.transfer([box], "move")
    assert two.states() == ("done", "moving")
    monkeypatch.undo()
    again = reopen(two)
    assert again.states() == ("done", "done")
    assert again.live(again.source) == []


def test_a_move_that_cannot_be_finished_is_taken_back_when_both_are_open(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = ground(two)
    failing(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([box], "move")
    monkeypatch.undo()
    two.do("document.update", document_id=box, name="Box, described since")
    again = reopen(two)
    assert again.live(again.target) == []
    assert len(again.live(again.source)) == 3
    assert again.states() == ("taken-back", "taken-back")
    ((reason,),) = rows(again.target, "SELECT reason FROM document_transfer")
    assert "changed while it was copied" in reason


KILLED = """
import os, sys
from pathlib import Path
from transfer_ground import Two, OWNER
from armarium.engine import Engine
from armarium.settings import Settings
from armarium_documents.actions.transfer import copying
from armarium_documents.queries.carrying import choosing

home = Path(sys.argv[1])
engine = Engine(Settings(state_dir=home / "state", library_roots=[home]))
engine.start(jobs=False)
for name in ("From", "To"):
    engine.run(None, "library.create", {"path": str(home / f"{name}.library")}, OWNER)
two = Two(engine, *(engine.libraries.get(home / f"{name}.library") for name in ("From", "To")))
box = two.make("Box")
for number in range(60):
    two.note(f"Note {number}", box)
# So small that the lists do not fit into memory, as those of a large box do not.
choosing.SCRATCH = (*choosing.SCRATCH[:-1], "cache_size=2")
copying._Transfer._check = lambda self: print("copied", flush=True) or os._exit(9)
two.transfer([box])
"""


def test_a_kill_leaves_nothing_among_the_temporary_files(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    places = {"TMPDIR": str(temporary), "SQLITE_TMPDIR": str(temporary)}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        env={**os.environ, **places, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (killed.returncode, killed.stdout) == (9, "copied\n"), killed.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("undone", ["source", "target"])
def test_an_undo_that_a_crash_left_on_one_side_is_finished(two: Two, undone: str) -> None:
    box = ground(two)
    before = digests(two)[0]
    outcome = two.outcome([box], "move")
    assert outcome.result is not None
    side, audit_id = (
        (two.source, outcome.result["source_audit_id"])
        if undone == "source"
        else (two.target, outcome.audit_id)
    )
    # One half alone, as after a crash between the two commits: its partner is hidden from the undo.
    with side.db.write() as conn:
        conn.exec_driver_sql("UPDATE document_transfer SET mode = 'copy'")
    two.engine.undo(side, [audit_id], OWNER)
    with side.db.write() as conn:
        conn.exec_driver_sql("UPDATE document_transfer SET mode = 'move'")
    assert sorted(map(str, two.states())) == ["done", "taken-back"]
    again = reopen(two)
    assert again.states() == ("taken-back", "taken-back")
    assert digests(again)[0] == before
    assert again.live(again.target) == []


def test_what_cannot_be_finished_yet_is_left_for_later(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    box = ground(two)
    failing(monkeypatch, copying._Transfer, "_check", Killed(), after=False)
    with pytest.raises(Killed):
        two.transfer([box])
    monkeypatch.undo()
    failing(monkeypatch, recovery, "abandon", Unavailable("The disk is full."), after=False)
    again = reopen(two)
    assert again.states() == ("planned", "copying")
    assert again.live(again.target) == []
    monkeypatch.undo()
    # The next transfer between the two tries again.
    assert again.transfer([box])["written"]["documents"] == 3
    assert rows(again.target, "SELECT state FROM document_transfer ORDER BY id") == [
        ("taken-back",),
        ("done",),
    ]


def test_two_transfers_at_once_and_against_each_other(two: Two) -> None:
    box = ground(two)
    there = two.do("document.create", two.target, name="There")["id"]
    back = Two(two.engine, two.target, two.source)
    failed: list[BaseException] = []

    def run(which: Two, item: str, mode: str) -> None:
        try:
            which.transfer([item], mode)
        except BaseException as error:
            failed.append(error)

    threads = [
        threading.Thread(target=run, args=given)
        for given in ((two, box, "copy"), (back, there, "move"), (two, box, "copy"), (two, box, "move"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    # A copy that comes after the move finds its item in the Trash; nothing else can fail.
    assert all(isinstance(error, Conflict) for error in failed)
    assert [name for name, _ in two.live(two.source)] == ["There"]
    assert len(two.live(two.target)) == 3 * (3 - len(failed))
    for library in (two.source, two.target):
        assert examine(two.engine, library.path)["findings"] == []


def test_the_same_package_twice_on_disk_is_two_projects(two: Two, tmp_path: Path) -> None:
    """A copy of a whole package has the same ids within; what is carried gets new ones all the same."""

    box = ground(two)
    two.engine.libraries.release(two.source.path)
    shutil.copytree(two.source.path, tmp_path / "Twin.library")
    source = two.engine.libraries.get(two.source.path)
    twin = two.engine.libraries.get(tmp_path / "Twin.library")
    again = Two(two.engine, source, twin)
    again.transfer([box], "move")
    assert again.live(source) == []
    assert len(again.live(twin)) == 6


@pytest.mark.slow
def test_as_many_items_as_a_request_may_name(two: Two, client: Any) -> None:
    box = two.make("Box")
    nodes = [
        {"id": f"{n:032x}", "parent_id": box, "doc_type": "page", "name": f"{n:05}"} for n in range(10_000)
    ]
    for start in range(0, 10_000, 500):
        two.do("document.add_files", nodes=nodes[start : start + 500])
    items = [node["id"] for node in nodes]
    result = two.transfer(items, "move")
    assert result["written"]["documents"] == len(result["new_items"]) == 10_000
    assert count(two.target, "document", "deleted_at IS NULL AND doc_type = 'page'") == 10_000
    body = {"source_library": str(two.source.path), "items": [*items, "a" * 32]}
    assert client.post("/api/documents/transfer", json=body).status_code == 422


@pytest.mark.slow
def test_long_texts_do_not_gather_in_memory(two: Two) -> None:
    box = two.make("Box")
    for number in range(60):
        two.note(str(number), box, "a long text " * 100_000)
    tracemalloc.start()
    try:
        two.transfer([box])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 72 MB of text went by.
    assert peak < 48 * 1024 * 1024


def test_a_transfer_is_unknown_where_it_never_was(two: Two) -> None:
    result = two.transfer([ground(two)], "move")
    with pytest.raises(NotFound):
        two.do("document.transfer_out", two.target, transfer_id=result["transfer_id"])


def test_an_engine_that_works_elsewhere_opens_a_project_all_the_same(
    two: Two, engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def busy(wait: float = 0) -> Any:
        raise Unavailable("Another piece of work between two projects is going on.", code="busy")

    monkeypatch.setattr(engine, "lock_across", busy)
    assert reopen(two).states() == (None, None)
    assert "are deferred" in caplog.text
