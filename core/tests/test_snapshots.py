"""Snapshots at intervals, and their copies elsewhere: planned, taken, copied, refused, and usable as projects."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Invalid, ServiceError, Unavailable
from armarium.ids import now
from armarium.jobs.body_ends import JobStopped
from armarium.principals import LOCAL_OWNER
from armarium.projects import doctor, offsite_copies, snapshot_actions, snapshots
from armarium.projects.libraries import DATABASE, Library
from armarium.store.database import raw_of

Run = Callable[..., Any]
HOUR = 3600


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder on another disk."""
    place = tmp_path / "other disk"
    place.mkdir()
    return place


def jobs(library: Library, kind: str = "snapshot") -> list[tuple[str, str | None]]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return raw.execute("SELECT state, reason FROM job WHERE kind = ? ORDER BY seq", (kind,)).fetchall()


def results(library: Library, kind: str) -> list[Any]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        rows = raw.execute("SELECT result FROM job WHERE kind = ? ORDER BY seq", (kind,)).fetchall()
    return [json.loads(row[0]) if row[0] else None for row in rows]


def age_of_newest(library: Library, at: str) -> None:
    """Set the time at which the newest snapshot claims to have been taken to *at*."""
    card = Path(snapshots.list_snapshots(library.path)[0]["path"]) / "snapshot.json"
    card.write_text(json.dumps({**json.loads(card.read_text()), "created_at": at}))


def work(engine: Engine, library: Library) -> None:
    """Run the jobs until each is done or postponed."""
    engine.jobs.start()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with library.db.read() as conn:
            raw = raw_of(conn)
            now_due = raw.execute(
                "SELECT 1 FROM job WHERE state = 'running' "
                "OR state = 'waiting' AND (not_before IS NULL OR not_before <= ?)",
                (now(),),
            ).fetchone()
        if now_due is None:
            return
        time.sleep(0.01)
    raise AssertionError(jobs(library))


def due_again(engine: Engine, library: Library) -> None:
    with library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET not_before = NULL WHERE state = 'waiting'")
    engine.jobs.wake(library)


def test_snapshots_that_claim_one_time_are_listed_in_one_order_wherever_the_disk_has_them(
    tmp_path: Path,
) -> None:
    names = [f"{number:02}" for number in range(20)]
    for name in random.Random(7).sample(names, len(names)):
        folder = tmp_path / "snapshots" / name
        folder.mkdir(parents=True)
        card = {"id": name, "created_at": "2026-01-01T00:00:00.000Z"}
        (folder / "snapshot.json").write_text(json.dumps(card), "utf-8")
    assert [entry["id"] for entry in snapshots.list_snapshots(tmp_path)] == names[::-1]


def test_without_an_interval_nothing_is_planned(
    run: Run, shelf_engine: Engine, shelf_library: Library
) -> None:
    run("shelf.create", name="a")
    work(shelf_engine, shelf_library)
    assert (jobs(shelf_library), snapshots.list_snapshots(shelf_library.path)) == ([], [])


def test_a_change_plans_one_snapshot_and_the_next_waits_for_the_interval(
    run: Run, shelf_engine: Engine, shelf_library: Library
) -> None:
    run("library.set", snapshot_interval_seconds=HOUR)
    for name in "abc":
        run("shelf.create", name=name)
    assert [state for state, _ in jobs(shelf_library)] == ["waiting"]
    work(shelf_engine, shelf_library)
    (first,) = snapshots.list_snapshots(shelf_library.path)
    assert first["reason"] == "by the interval set"
    assert jobs(shelf_library) == [("done", None)]
    # Taking the snapshot is no change that needs another one.
    run("shelf.create", name="d")
    run("shelf.create", name="e")
    work(shelf_engine, shelf_library)
    assert jobs(shelf_library)[1:] == [("waiting", "The next snapshot is not due yet.")]
    age_of_newest(shelf_library, "2020-01-01T00:00:00.000Z")
    due_again(shelf_engine, shelf_library)
    work(shelf_engine, shelf_library)
    assert [state for state, _ in jobs(shelf_library)] == ["done", "done"]
    assert len(snapshots.list_snapshots(shelf_library.path)) == 2


def test_another_interval_counts_at_once_and_undoing_it_too(
    run: Run, shelf_engine: Engine, shelf_library: Library
) -> None:
    run("snapshot.take")
    run("library.set", snapshot_interval_seconds=HOUR)
    run("shelf.create", name="a")
    work(shelf_engine, shelf_library)
    assert jobs(shelf_library) == [("waiting", "The next snapshot is not due yet.")]
    age_of_newest(shelf_library, "2020-01-01T00:00:00.000Z")
    shorter = run("library.set", snapshot_interval_seconds=60)
    work(shelf_engine, shelf_library)
    assert jobs(shelf_library)[0] == ("done", None)
    shelf_engine.undo(shelf_library, [shorter.audit_id], LOCAL_OWNER)
    run("library.set", snapshot_interval_seconds=None)
    work(shelf_engine, shelf_library)
    assert {state for state, _ in jobs(shelf_library)} == {"done"}
    run("shelf.create", name="b")
    assert {state for state, _ in jobs(shelf_library)} == {"done"}


def test_an_interval_set_while_the_job_reads_the_former_one_counts_too(
    run: Run, shelf_engine: Engine, shelf_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds_left = snapshot_actions._seconds_left

    def changed_meanwhile(library: Library, interval: int) -> float:
        if library.setting("snapshot_interval_seconds"):
            run("library.set", snapshot_interval_seconds=None)
        return seconds_left(library, interval)

    monkeypatch.setattr(snapshot_actions, "_seconds_left", changed_meanwhile)
    run("snapshot.take")
    run("library.set", snapshot_interval_seconds=HOUR)
    run("shelf.create", name="a")
    work(shelf_engine, shelf_library)
    assert [state for state, _ in jobs(shelf_library)] == ["done"]


def test_a_clock_that_was_set_back_delays_no_snapshot_beyond_the_interval(
    run: Run, shelf_engine: Engine, shelf_library: Library
) -> None:
    run("snapshot.take")
    age_of_newest(shelf_library, "2090-01-01T00:00:00.000Z")
    run("library.set", snapshot_interval_seconds=60)
    run("shelf.create", name="a")
    work(shelf_engine, shelf_library)
    with shelf_library.db.read() as conn:
        raw = raw_of(conn)
        (until,) = raw.execute("SELECT not_before FROM job WHERE kind = 'snapshot'").fetchone()
    assert until[:4] == now()[:4]


def test_a_planned_snapshot_that_was_cancelled_is_planned_again_by_the_next_change(
    run: Run, shelf_engine: Engine, shelf_library: Library
) -> None:
    run("library.set", snapshot_interval_seconds=HOUR)
    with shelf_library.db.read() as conn:
        raw = raw_of(conn)
        (job,) = raw.execute("SELECT id FROM job WHERE kind = 'snapshot'").fetchone()
    run("job.cancel", job_id=job)
    run("shelf.create", name="a")
    assert [state for state, _ in jobs(shelf_library)] == ["cancelled", "waiting"]


def test_a_snapshot_taken_before_its_step_was_announced_hides_no_later_change(
    run: Run, shelf_engine: Engine, shelf_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = shelf_engine.bus.tell
    run("library.set", snapshot_interval_seconds=HOUR)
    work(shelf_engine, shelf_library)

    def late(ctx: Any, **given: Any) -> None:
        # The job is faster than the thread whose step planned it.
        if ctx.action_name == "shelf.create":
            age_of_newest(shelf_library, "2020-01-01T00:00:00.000Z")
            shelf_engine.jobs.wake(shelf_library)
            work(shelf_engine, shelf_library)
        tell(ctx, **given)

    with monkeypatch.context() as patch:
        patch.setattr(shelf_engine.bus, "tell", late)
        run("shelf.create", name="a")
    assert [state for state, _ in jobs(shelf_library)] == ["done", "done"]
    run("library.set", name="later")
    assert len(jobs(shelf_library)) == 3


def test_a_disk_that_refuses_a_snapshot_is_reported_and_tried_again(
    run: Run, shelf_engine: Engine, shelf_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    run("library.set", snapshot_interval_seconds=HOUR)
    with monkeypatch.context() as patch:
        patch.setattr(snapshots.os, "rename", full)
        work(shelf_engine, shelf_library)
    ((state, reason),) = jobs(shelf_library)
    assert state == "waiting"
    assert "No space left" in (reason or "")
    due_again(shelf_engine, shelf_library)
    work(shelf_engine, shelf_library)
    assert jobs(shelf_library) == [("done", None)]


def test_the_registry_shows_the_settings_of_a_project_that_is_closed(
    run: Run, shelf_engine: Engine, shelf_library: Library, elsewhere: Path
) -> None:
    outcome = run(
        "library.set", name="Ours", snapshot_interval_seconds=60, snapshot_offsite_path=str(elsewhere)
    )

    def entry() -> dict[str, Any]:
        (one,) = shelf_engine.libraries.list_registered()
        return {key: one[key] for key in ("name", "snapshot_interval_seconds", "snapshot_offsite_path")}

    shown = {"name": "Ours", "snapshot_interval_seconds": 60, "snapshot_offsite_path": str(elsewhere)}
    assert entry() == shown
    assert shelf_engine.libraries.resolve("ours")["path"] == str(shelf_library.path)
    shelf_engine.libraries.release(shelf_library.path)
    assert entry() == shown
    shelf_engine.undo(shelf_engine.libraries.get(shelf_library.path), [outcome.audit_id], LOCAL_OWNER)
    assert entry() == {"name": None, "snapshot_interval_seconds": 0, "snapshot_offsite_path": None}


def test_a_snapshot_is_copied_with_its_files_and_one_can_go_on_from_the_copy(
    run: Run, shelf_engine: Engine, shelf_library: Library, elsewhere: Path, tmp_path: Path
) -> None:
    shelf_library.objects.put_bytes(b"a page")
    linked = tmp_path / "original.bin"
    linked.write_bytes(b"an original that stayed where it was")
    shelf_library.objects.link_file(linked)
    run("library.set", snapshot_offsite_path=str(elsewhere), snapshot_retention_count=2)
    run("shelf.create", name="kept")
    assert run("snapshot.take").result["copy_job_id"]
    work(shelf_engine, shelf_library)
    (result,) = results(shelf_library, "snapshot-copy")
    assert (result["files_copied"], result["files_lost"]) == (2, 0)
    home = offsite_copies.home_of(shelf_library, elsewhere)
    assert [snapshot["path"] for snapshot in snapshots.list_snapshots(home)] == [result["path"]]
    for _ in range(3):
        run("snapshot.take")
        work(shelf_engine, shelf_library)
    assert [result["files_copied"] for result in results(shelf_library, "snapshot-copy")] == [2, 0, 0, 0]
    assert len(snapshots.list_snapshots(home)) == 2
    assert not [file for file in home.rglob("*") if file.name.startswith(".") or file.is_symlink()]
    # As the manual says: the folder becomes a package once a snapshot's database is put in its place.
    restored = tmp_path / "Restored.library"
    shutil.copytree(home, restored)
    shutil.copyfile(Path(snapshots.list_snapshots(restored)[0]["path"]) / DATABASE, restored / DATABASE)
    shelf_engine.run(None, "library.release", {"path": str(shelf_library.path)}, LOCAL_OWNER)
    again = shelf_engine.libraries.get(restored)
    report = doctor.examine(shelf_engine, str(restored), files=True, rebuild=False)
    assert report["healthy"], report
    with again.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT name FROM shelf").fetchall() == [("kept",)]
    assert {again.objects.open(digest).read() for digest in again.objects.digests()} == {
        b"a page",
        b"an original that stayed where it was",
    }


def test_a_copy_resumes_where_it_was_stopped_and_copies_no_damaged_file(
    run: Run, shelf_library: Library, elsewhere: Path
) -> None:
    digests = [shelf_library.objects.put_bytes(bytes([n]) * 1000) for n in range(6)]
    spoiled, gone = shelf_library.objects.path(digests[1]), shelf_library.objects.path(digests[2])
    spoiled.chmod(0o644)
    spoiled.write_bytes(b"\xff" * 1000)
    snapshot = Path(run("snapshot.take").result["path"])
    gone.unlink()

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise JobStopped("shutdown")

    with pytest.raises(JobStopped):
        offsite_copies.copy_away(shelf_library, snapshot, elsewhere, keep=3, on_file=stop)
    home = offsite_copies.home_of(shelf_library, elsewhere)
    assert snapshots.list_snapshots(home) == []
    copied = offsite_copies.copy_away(
        shelf_library, snapshot, elsewhere, keep=3, on_file=lambda done, total: None
    )
    assert (copied["files_lost"], len(snapshots.list_snapshots(home))) == (2, 1)
    there = {file.parent.name + file.name for file in (home / "objects").rglob("*") if file.is_file()}
    assert there == {digests[0], *digests[3:]}


def test_a_place_that_is_gone_fails_the_copy_with_a_sentence_and_keeps_the_snapshot(
    run: Run, shelf_engine: Engine, shelf_library: Library, elsewhere: Path
) -> None:
    run("library.set", snapshot_offsite_path=str(elsewhere))
    elsewhere.rmdir()
    run("snapshot.take")
    work(shelf_engine, shelf_library)
    ((state, reason),) = jobs(shelf_library, "snapshot-copy")
    assert state == "failed"
    assert "there is no such folder" in (reason or "")
    assert len(snapshots.list_snapshots(shelf_library.path)) == 1
    elsewhere.mkdir()
    with shelf_library.db.read() as conn:
        raw = raw_of(conn)
        (job,) = raw.execute("SELECT id FROM job WHERE kind = 'snapshot-copy'").fetchone()
    run("job.retry", job_id=job)
    work(shelf_engine, shelf_library)
    assert len(snapshots.list_snapshots(offsite_copies.home_of(shelf_library, elsewhere))) == 1


@pytest.mark.parametrize("what", ["full", "link"])
def test_a_place_that_cannot_be_copied_to_is_reported(
    run: Run,
    shelf_library: Library,
    elsewhere: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    shelf_library.objects.put_bytes(b"a page")
    snapshot = Path(run("snapshot.take").result["path"])
    home = offsite_copies.home_of(shelf_library, elsewhere)
    if what == "link":
        (tmp_path / "private").mkdir()
        home.symlink_to(tmp_path / "private")
    else:

        def full(*args: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Unavailable, match="was not copied to") as refused:
        offsite_copies.copy_away(shelf_library, snapshot, elsewhere, keep=3, on_file=lambda done, total: None)
    assert refused.value.code == "offsite_failed"
    assert snapshots.list_snapshots(home) == []
    assert not any((tmp_path / "private").rglob("*")) if what == "link" else True


@pytest.mark.parametrize(
    ("given", "why", "code"),
    [
        ("relative/folder", "full path", "bad_path"),
        ("{tmp}/../x", "full path", "invalid_offsite_path"),
        ("{tmp}/none", "no such folder", "invalid_offsite_path"),
        ("{library}", "inside a project", "path_not_allowed"),
        ("{library}/snapshots", "inside a project", "path_not_allowed"),
        ("{tmp}/into", "inside a project", "path_not_allowed"),
        ("/etc", "outside the folders", "path_not_allowed"),
        ("{tmp}/file", "no such folder", "invalid_offsite_path"),
    ],
)
def test_a_place_that_may_hold_no_copies_is_refused_when_it_is_set(
    run: Run, shelf_library: Library, tmp_path: Path, given: str, why: str, code: str
) -> None:
    (tmp_path / "into").symlink_to(shelf_library.path / "derived")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ServiceError) as refused:
        run("library.set", snapshot_offsite_path=given.format(tmp=tmp_path, library=shelf_library.path))
    assert (refused.value.code, why in refused.value.detail) == (code, True)
    assert shelf_library.setting("snapshot_offsite_path") is None


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_place_that_cannot_be_written_is_refused_when_it_is_set(run: Run, elsewhere: Path) -> None:
    elsewhere.chmod(0o500)
    with pytest.raises(Invalid, match="cannot be written"):
        run("library.set", snapshot_offsite_path=str(elsewhere))
