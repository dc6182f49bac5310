"""Transfers that go wrong: failing disks, kills, concurrent changes, two transfers at once. Nothing is lost, doubled or
half done.
"""

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
from documents_fixtures import OWNER, count, rows
from transfer_fixtures import OpenProjects, digests, fail_at, fill_source, reopen

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
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch, step: str, mode: str, error: Exception
) -> None:
    box = fill_source(projects)
    before = digests(projects)
    fail_at(monkeypatch, copying._Transfer, step, error, after=False)
    with pytest.raises(ServiceError) as refused:
        projects.transfer([box], mode)
    assert (refused.value.status, refused.value.code) == (500, "transfer_failed")
    assert "Nothing was changed" in refused.value.detail
    assert digests(projects) == before
    assert projects.states() in (("taken-back", "taken-back"), ("taken-back", None))
    assert list(projects.target.objects.digests()) == []
    monkeypatch.undo()
    assert projects.transfer([box], mode)["written"]["documents"] == 3


def test_a_failure_between_two_parts_leaves_nothing(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    before = digests(projects)
    monkeypatch.setattr(copying, "PART_ROWS", 1)
    real, written = ActionContext.bulk_insert, []

    def insert(self: ActionContext, table: Any, columns: Any, given: Any) -> int:
        written.append(table.name)
        if len(written) == 3:
            raise sqlite3.OperationalError("database or disk is full")
        return real(self, table, columns, given)

    monkeypatch.setattr(ActionContext, "bulk_insert", insert)
    with pytest.raises(ServiceError) as refused:
        projects.transfer([box])
    assert refused.value.status == 500
    assert "full" in refused.value.detail
    assert digests(projects) == before
    assert rows(projects.target, "SELECT count(*) FROM document__history WHERE op = 'D'") == [(0,)]


def test_a_choice_that_finds_no_room_for_its_lists_is_refused(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = projects.make("Box")
    for number in range(60):
        projects.note(f"Note {number}", box)
    before = digests(projects)
    monkeypatch.setattr(choosing, "SCRATCH", (*choosing.SCRATCH, "max_page_count=3"))
    with pytest.raises(ServiceError) as refused:
        projects.transfer([box])
    assert refused.value.detail == (
        "The transfer failed: Database or disk is full. Nothing was changed in either project."
    )
    assert digests(projects) == before


def test_rows_that_do_not_read_back_are_no_copy(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    before = digests(projects)
    real = ActionContext.bulk_insert

    def spoil(self: ActionContext, table: Any, columns: Any, given: Any) -> int:
        place = list(columns).index("name") if table.name == "document" else None
        spoilt = [
            tuple("spoilt" if i == place and v == "Note" else v for i, v in enumerate(row)) for row in given
        ]
        return real(self, table, columns, spoilt)

    monkeypatch.setattr(ActionContext, "bulk_insert", spoil)
    with pytest.raises(ServiceError, match="Only 2 of 3 rows of document could be read back"):
        projects.transfer([box], "move")
    assert digests(projects) == before


def test_a_file_that_changed_on_disk_is_not_carried(projects: OpenProjects) -> None:
    box = fill_source(projects)
    before = digests(projects)
    ((digest,),) = rows(projects.source, "SELECT checksum FROM rendition")
    place = projects.source.objects.path(digest)
    place.chmod(0o644)
    place.write_bytes(b"other bytes")
    with pytest.raises(ServiceError, match="no longer has the content"):
        projects.transfer([box], "move")
    assert digests(projects) == before


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


def test_the_second_half_is_tried_twice(projects: OpenProjects, monkeypatch: pytest.MonkeyPatch) -> None:
    box = fill_source(projects)
    out_failing(monkeypatch, 1)
    assert projects.transfer([box], "move")["source_audit_id"]
    assert projects.live(projects.source) == []


def test_after_two_failures_the_copy_is_taken_back(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    before = digests(projects)
    out_failing(monkeypatch, 2)
    with pytest.raises(ServiceError) as refused:
        projects.transfer([box], "move")
    assert refused.value.status == 500
    assert "The copy was undone" in refused.value.detail
    assert digests(projects) == before
    assert projects.states() == ("taken-back", "taken-back")


def test_a_copy_that_was_used_meanwhile_stays(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)

    def use() -> None:
        ((new,),) = rows(projects.target, "SELECT id FROM document WHERE name = 'Note'")
        projects.do("document.update", projects.target, document_id=new, is_starred=True)

    out_failing(monkeypatch, 2, use)
    with pytest.raises(ServiceError, match="The copy has already been changed, so it stays"):
        projects.transfer([box], "move")
    assert len(projects.live(projects.target)) == len(projects.live(projects.source)) == 3
    assert reopen(projects).states() == ("taken-back", "taken-back")


def test_what_is_deleted_while_it_is_moved_is_reported(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    check = copying._Transfer._check
    monkeypatch.setattr(
        copying._Transfer, "_check", lambda self: (check(self), projects.do("document.delete", ids=[box]))
    )
    with pytest.raises(Conflict, match=r"is in the Trash.* The copy was undone") as refused:
        projects.transfer([box], "move")
    assert (refused.value.status, refused.value.code) == (409, "document_in_trash")
    assert projects.live(projects.target) == []
    with projects.source.db.read() as conn:
        (entry,) = trash.entries(conn, limit=9, offset=0)["items"]
    assert entry["reason"] == "deleted"


def test_a_trash_emptied_while_something_is_moved_asks_for_another_try(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a purge the numbers of history images are used again, so a concurrent change could go unnoticed."""
    box, scrap = fill_source(projects), projects.note("Scrap")
    projects.do("document.delete", ids=[scrap])
    check = copying._Transfer._check
    monkeypatch.setattr(
        copying._Transfer, "_check", lambda self: (check(self), projects.do("document.empty_trash"))
    )
    with pytest.raises(Conflict, match="changed while it was copied"):
        projects.transfer([box], "move")
    monkeypatch.undo()
    assert projects.transfer([box], "move")["source_audit_id"]


def test_a_target_folder_deleted_meanwhile_refuses_the_transfer(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    place = projects.do("document.create", projects.target, name="Place")["id"]
    before = digests(projects)[0]
    check = copying._Transfer._check
    monkeypatch.setattr(
        copying._Transfer,
        "_check",
        lambda self: (check(self), projects.do("document.delete", projects.target, ids=[place])),
    )
    with pytest.raises(Conflict) as refused:
        projects.transfer([box], "move", target_parent_id=place)
    assert refused.value.code == "document_in_trash"
    assert digests(projects)[0] == before
    assert count(projects.target, "document") == 2


def test_copies_that_are_still_written_are_seen_by_nobody(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    looked = []
    real = copying._Transfer._check

    def look(self: Any) -> None:
        with projects.target.db.read() as conn:
            assert trash.entries(conn, limit=9, offset=0)["total"] == 0
            assert trash.plan(conn, projects.engine)["items"] == 0
        new = self.items[0]["id"]
        with pytest.raises(Conflict) as refused:
            projects.do("document.restore", projects.target, document_id=new)
        assert refused.value.code == "still_arriving"
        assert projects.do("document.empty_trash", projects.target)["removed"]["documents"] == 0
        looked.append(new)
        real(self)

    monkeypatch.setattr(copying._Transfer, "_check", look)
    projects.transfer([box])
    assert len(looked) == 1
    assert len(projects.live(projects.target)) == 3


KILLED_BEFORE = [("carry_out", False), ("_copy_files", False), ("_check", False), ("_make_live", False)]


@pytest.mark.parametrize(("step", "after"), [*KILLED_BEFORE, ("_check", True)])
@pytest.mark.parametrize(("mode", "first"), [("copy", "source"), ("move", "source"), ("move", "target")])
def test_what_a_crash_left_unseen_is_removed_when_both_are_open(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch, step: str, after: bool, mode: str, first: str
) -> None:
    box = fill_source(projects)
    before = digests(projects)
    monkeypatch.setattr(copying, "PART_ROWS", 1)
    fail_at(monkeypatch, copying._Transfer, step, Killed(), after=after)
    with pytest.raises(Killed):
        projects.transfer([box], mode)
    monkeypatch.undo()
    again = reopen(projects, first)
    assert digests(again) == before
    assert again.states() in (("taken-back", "taken-back"), ("taken-back", None), (None, None))
    assert again.transfer([box], mode)["written"]["documents"] == 3


def test_a_move_that_a_crash_left_half_way_is_finished(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    fail_at(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([box], "move")
    monkeypatch.undo()
    assert projects.states() == ("planned", "moving")
    projects.engine.libraries.release(projects.target.path)
    # While the other project is closed, nothing else can use what is being moved.
    third = projects.engine.run(
        None, "library.create", {"path": str(projects.source.path.parent / "Third.library")}, OWNER
    )
    assert third.result is not None
    elsewhere = OpenProjects(
        projects.engine, projects.source, projects.engine.libraries.get(third.result["path"])
    )
    for items in ([box], [rows(projects.source, "SELECT id FROM document WHERE name = 'Note'")[0][0]]):
        with pytest.raises(Conflict) as refused:
            elsewhere.transfer(items)
        assert refused.value.code == "held_by_move"
    projects = OpenProjects(
        projects.engine, projects.source, projects.engine.libraries.get(projects.target.path)
    )
    assert projects.live(projects.source) == []
    assert len(projects.live(projects.target)) == 3
    assert projects.states() == ("done", "done")
    ((made,),) = rows(projects.target, "SELECT id FROM audit WHERE action_name = 'document.transfer'")
    projects.engine.undo(projects.target, [made], OWNER)
    assert len(projects.live(projects.source)) == 3


def test_a_folder_around_a_held_thing_is_held(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    note = rows(projects.source, "SELECT id FROM document WHERE name = 'Note'")[0][0]
    fail_at(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([note], "move")
    projects.engine.libraries.release(projects.target.path)
    projects.engine.run(
        None, "library.create", {"path": str(projects.source.path.parent / "Third.library")}, OWNER
    )
    third = projects.engine.libraries.get(projects.source.path.parent / "Third.library")
    with pytest.raises(Conflict) as refused:
        OpenProjects(projects.engine, projects.source, third).transfer([box])
    assert refused.value.code == "held_by_move"


def test_a_crash_after_both_halves_loses_only_the_journal_s_last_line(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    fail_at(monkeypatch, copying, "note", Killed(), after=False)
    monkeypatch.setattr(copying._Transfer, "_check", lambda self: self.result.update(written={}))
    with pytest.raises(Killed):
        projects.transfer([box], "move")
    assert projects.states() == ("done", "moving")
    monkeypatch.undo()
    again = reopen(projects)
    assert again.states() == ("done", "done")
    assert again.live(again.source) == []


def test_a_move_that_cannot_be_finished_is_taken_back_when_both_are_open(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    fail_at(monkeypatch, copying._Transfer, "_send_out", Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([box], "move")
    monkeypatch.undo()
    projects.do("document.update", document_id=box, name="Box, described since")
    again = reopen(projects)
    assert again.live(again.target) == []
    assert len(again.live(again.source)) == 3
    assert again.states() == ("taken-back", "taken-back")
    ((reason,),) = rows(again.target, "SELECT reason FROM document_transfer")
    assert "changed while it was copied" in reason


KILLED = """
import os, sys
from pathlib import Path
from transfer_fixtures import OpenProjects, OWNER
from armarium.engine import Engine
from armarium.settings import Settings
from armarium_documents.actions.transfer import copying
from armarium_documents.queries.carrying import choosing

home = Path(sys.argv[1])
engine = Engine(Settings(state_dir=home / "state", library_roots=[home]))
engine.start(jobs=False)
for name in ("From", "To"):
    engine.run(None, "library.create", {"path": str(home / f"{name}.library")}, OWNER)
projects = OpenProjects(engine, *(engine.libraries.get(home / f"{name}.library") for name in ("From", "To")))
box = projects.make("Box")
for number in range(60):
    projects.note(f"Note {number}", box)
# So small that the lists do not fit into memory, as those of a large box do not.
choosing.SCRATCH = (*choosing.SCRATCH[:-1], "cache_size=2")
copying._Transfer._check = lambda self: print("copied", flush=True) or os._exit(9)
projects.transfer([box])
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
def test_an_undo_that_a_crash_left_on_one_side_is_finished(projects: OpenProjects, undone: str) -> None:
    box = fill_source(projects)
    before = digests(projects)[0]
    outcome = projects.outcome([box], "move")
    assert outcome.result is not None
    side, audit_id = (
        (projects.source, outcome.result["source_audit_id"])
        if undone == "source"
        else (projects.target, outcome.audit_id)
    )
    # Undo one half alone, as after a crash between the two commits: as a copy, it has no other half to undo.
    with side.db.write() as conn:
        conn.exec_driver_sql("UPDATE document_transfer SET mode = 'copy'")
    projects.engine.undo(side, [audit_id], OWNER)
    with side.db.write() as conn:
        conn.exec_driver_sql("UPDATE document_transfer SET mode = 'move'")
    assert sorted(map(str, projects.states())) == ["done", "taken-back"]
    again = reopen(projects)
    assert again.states() == ("taken-back", "taken-back")
    assert digests(again)[0] == before
    assert again.live(again.target) == []


def test_what_cannot_be_finished_yet_is_left_for_later(
    projects: OpenProjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = fill_source(projects)
    fail_at(monkeypatch, copying._Transfer, "_check", Killed(), after=False)
    with pytest.raises(Killed):
        projects.transfer([box])
    monkeypatch.undo()
    fail_at(monkeypatch, recovery, "abandon", Unavailable("The disk is full."), after=False)
    again = reopen(projects)
    assert again.states() == ("planned", "copying")
    assert again.live(again.target) == []
    monkeypatch.undo()
    # The next transfer between the two tries again.
    assert again.transfer([box])["written"]["documents"] == 3
    assert rows(again.target, "SELECT state FROM document_transfer ORDER BY id") == [
        ("taken-back",),
        ("done",),
    ]


def test_two_transfers_at_once_and_against_each_other(projects: OpenProjects) -> None:
    box = fill_source(projects)
    there = projects.do("document.create", projects.target, name="There")["id"]
    back = OpenProjects(projects.engine, projects.target, projects.source)
    failed: list[BaseException] = []

    def run(which: OpenProjects, item: str, mode: str) -> None:
        try:
            which.transfer([item], mode)
        except BaseException as error:
            failed.append(error)

    threads = [
        threading.Thread(target=run, args=given)
        for given in (
            (projects, box, "copy"),
            (back, there, "move"),
            (projects, box, "copy"),
            (projects, box, "move"),
        )
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    # A copy that comes after the move finds its item in the Trash; nothing else can fail.
    assert all(isinstance(error, Conflict) for error in failed)
    assert [name for name, _ in projects.live(projects.source)] == ["There"]
    assert len(projects.live(projects.target)) == 3 * (3 - len(failed))
    for library in (projects.source, projects.target):
        assert examine(projects.engine, library.path)["findings"] == []


def test_the_same_package_twice_on_disk_is_two_projects(projects: OpenProjects, tmp_path: Path) -> None:
    """A copy of a whole package contains the same ids, but what is transferred gets new ones."""

    box = fill_source(projects)
    projects.engine.libraries.release(projects.source.path)
    shutil.copytree(projects.source.path, tmp_path / "Twin.library")
    source = projects.engine.libraries.get(projects.source.path)
    twin = projects.engine.libraries.get(tmp_path / "Twin.library")
    again = OpenProjects(projects.engine, source, twin)
    again.transfer([box], "move")
    assert again.live(source) == []
    assert len(again.live(twin)) == 6


@pytest.mark.slow
def test_as_many_items_as_a_request_may_name(projects: OpenProjects, client: Any) -> None:
    box = projects.make("Box")
    nodes = [
        {"id": f"{n:032x}", "parent_id": box, "doc_type": "page", "name": f"{n:05}"} for n in range(10_000)
    ]
    for start in range(0, 10_000, 500):
        projects.do("document.add_files", nodes=nodes[start : start + 500])
    items = [node["id"] for node in nodes]
    result = projects.transfer(items, "move")
    assert result["written"]["documents"] == len(result["new_items"]) == 10_000
    assert count(projects.target, "document", "deleted_at IS NULL AND doc_type = 'page'") == 10_000
    body = {"source_library": str(projects.source.path), "items": [*items, "a" * 32]}
    assert client.post("/api/documents/transfer", json=body).status_code == 422


@pytest.mark.slow
def test_long_texts_do_not_gather_in_memory(projects: OpenProjects) -> None:
    box = projects.make("Box")
    for number in range(60):
        projects.note(str(number), box, "a long text " * 100_000)
    tracemalloc.start()
    try:
        projects.transfer([box])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 72 MB of text were transferred.
    assert peak < 48 * 1024 * 1024


def test_a_transfer_is_unknown_where_it_never_was(projects: OpenProjects) -> None:
    result = projects.transfer([fill_source(projects)], "move")
    with pytest.raises(NotFound):
        projects.do("document.transfer_out", projects.target, transfer_id=result["transfer_id"])


def test_an_engine_that_works_elsewhere_opens_a_project_all_the_same(
    projects: OpenProjects, engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def busy(wait: float = 0) -> Any:
        raise Unavailable("Another piece of work between two projects is going on.", code="busy")

    monkeypatch.setattr(engine, "lock_across", busy)
    assert reopen(projects).states() == (None, None)
    assert "are deferred" in caplog.text
