"""The jobs of reading: page by page, exactly once; a bad page does not stop the others, a crash fails only
the job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_readers import CRASH, EMPTY, FAIL, REFUSE
from reading_project import ReadingProject

from armarium.api import JobContext
from armarium.principals import LOCAL_OWNER
from armarium_reading import ledger
from armarium_reading.queries.reading import list_episodes

NOTHING_LEFT = {"skipped": 0, "failed": [], "without_lines": [], "without_lines_count": 0}
"""The counts in a job's result when every page had some lines."""


def test_lines_are_found_and_read(project: ReadingProject) -> None:
    page = project.page()
    _, found = project.job("reading.find_lines", scope_ids=[page])
    output = {"output": {"pass_id": project.passes(page)[0]}}
    assert (found["state"], found["result"]) == ("done", {"pages": 1, "lines": 2, **NOTHING_LEFT, **output})
    segments = project.rows(
        "SELECT kind, bbox_x, bbox_y, bbox_w, bbox_h, direction, confidence FROM segment ORDER BY id"
    )
    assert segments == [
        ("region", 0.1, 0.125, 0.8, 0.75, None, None),
        ("line", 0.1, 0.125, 0.8, 0.25, None, 0.5),
        ("line", 0.1, 0.5, 0.8, 0.25, "rtl", 0.5),
    ]
    assert project.rows("SELECT provider, model, name, provenance_kind FROM segment_pass") == [
        ("fake", "fake", "Lines by Fake", "workflow")
    ]
    _, read = project.job("reading.read_lines", scope_ids=[page], language="he")
    assert read["result"] == {
        "pages": 1,
        "lines": 2,
        "skipped": 0,
        "failed": [],
        "reader": "fake",
        "model": "fake",
        "by_hand": [],
        "by_hand_count": 0,
        "confidence": {"mean": 0.75, "below_half": 0.0, "lines": 2},
        **output,
    }
    assert project.readings(page) == ["height 20", "שלום עולם"]
    assert project.rows("SELECT DISTINCT producer_tool, producer_model FROM content_representation") == [
        ("fake", "fake")
    ]


def test_a_page_is_read_in_one_go(project: ReadingProject) -> None:
    page = project.page()
    _, read = project.job("reading.read_pages", scope_ids=[page], name="First look")
    assert read["result"]["lines"] == 2
    assert project.readings(page) == ["height 20", "שלום עולם"]
    assert project.rows("SELECT name FROM segment_pass") == [("First look",)]


def test_an_empty_page_counts_as_without_lines(project: ReadingProject) -> None:
    page = project.page(EMPTY)
    _, found = project.job("reading.find_lines", scope_ids=[page])
    empty = {"without_lines": [{"document_id": page, "name": "1.png"}], "without_lines_count": 1}
    assert found["result"] == {
        "pages": 1,
        "lines": 0,
        **NOTHING_LEFT,
        **empty,
        "output": {"pass_id": project.passes(page)[0]},
    }
    assert len(project.passes(page)) == 1
    _, read = project.job("reading.read_lines", scope_ids=[page])
    assert (read["state"], read["result"]["skipped"]) == ("done", 1)


def test_one_page_that_fails_is_named_and_the_rest_goes_on(project: ReadingProject) -> None:
    pages = [
        project.page(name="a.png"),
        project.page(REFUSE, "b.png"),
        project.page(FAIL, "c.png"),
        project.page(name="d.png"),
    ]
    job_id, found = project.job("reading.find_lines", scope_ids=pages)
    assert found["state"] == "done"
    assert found["result"]["pages"] == 2
    refused, failed = found["result"]["failed"]
    assert (refused["name"], refused["why"]) == ("b.png", "The page is too faint to find lines on.")
    assert failed["document_id"] == pages[2]
    assert "weights do not fit" in failed["why"]
    assert [len(project.passes(page)) for page in pages] == [1, 0, 0, 1]
    logged = project.rows("SELECT message FROM job_log WHERE row_id = ? AND level = 'warning'", job_id)
    assert ("The page is too faint to find lines on.",) in logged


def test_a_job_of_which_no_page_could_be_done_fails_with_the_reason(project: ReadingProject) -> None:
    _, found = project.job("reading.find_lines", scope_ids=[project.page(REFUSE)])
    assert found["state"] == "failed"
    assert "The page is too faint" in str(found["reason"])


def test_a_crash_fails_the_job_in_words_and_nothing_else(project: ReadingProject) -> None:
    pages = [project.page(name="a.png"), project.page(CRASH, "b.png"), project.page(name="c.png")]
    job_id, found = project.job("reading.find_lines", scope_ids=pages)
    assert found["state"] == "failed"
    assert "ended unexpectedly" in str(found["reason"])
    assert [len(project.passes(page)) for page in pages] == [1, 0, 0]
    project.run("job.retry", {"job_id": job_id})
    assert project.engine.jobs.run_until_idle(project.library)
    assert [len(project.passes(page)) for page in pages] == [1, 0, 0]
    _, other = project.job("reading.find_lines", scope_ids=[pages[2]])
    assert other["state"] == "done"


def test_a_job_that_was_interrupted_goes_on_where_it_was(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [project.page(name=f"{number}.png") for number in range(4)]
    whole, seen = JobContext.act, [0]

    def break_off(self: JobContext, *given: Any, **named: Any) -> Any:
        seen[0] += 1
        if seen[0] == 3:
            raise OSError("the disk is full")
        return whole(self, *given, **named)

    monkeypatch.setattr(JobContext, "act", break_off)
    job_id, found = project.job("reading.find_lines", scope_ids=pages)
    assert found["state"] == "failed"
    assert [len(project.passes(page)) for page in pages] == [1, 1, 0, 0]
    project.run("job.retry", {"job_id": job_id})
    assert project.engine.jobs.run_until_idle(project.library)
    assert project.job_row(job_id)["result"] == {"pages": 4, "lines": 8, **NOTHING_LEFT}
    assert [len(project.passes(page)) for page in pages] == [1, 1, 1, 1]


def test_the_steps_of_a_job_are_undone_together(project: ReadingProject) -> None:
    pages = [project.page(name="a.png"), project.page(name="b.png")]
    job_id, _ = project.job("reading.find_lines", scope_ids=pages)
    steps = project.rows("SELECT id FROM audit WHERE set_id = ?", job_id)
    assert len(steps) == 2
    project.engine.undo(project.library, [row[0] for row in steps], LOCAL_OWNER)
    assert [project.passes(page) for page in pages] == [[], []]


def test_undoing_the_start_cancels_a_job_that_has_not_begun_and_a_redo_queues_it_again(
    project: ReadingProject,
) -> None:
    outcome = project.engine.run(
        project.library, "reading.find_lines", {"scope_ids": [project.page()], "reader": "fake"}, LOCAL_OWNER
    )
    assert outcome.result is not None
    job_id = outcome.result["job_id"]
    undone = project.engine.undo(project.library, [outcome.audit_id], LOCAL_OWNER)
    assert project.job_row(job_id)["state"] == "cancelled"
    project.engine.undo(project.library, undone["audit_ids"], LOCAL_OWNER)
    assert project.job_row(job_id)["state"] == "waiting"


def test_a_named_pass_is_read_and_no_other(project: ReadingProject) -> None:
    page = project.page()
    project.job("reading.find_lines", scope_ids=[page])
    project.job("reading.find_lines", scope_ids=[page])
    first = project.passes(page)[0]
    project.job("reading.read_lines", scope_ids=[page], pass_id=first)
    read = project.rows(
        "SELECT DISTINCT s.pass_id FROM content_representation r JOIN segment s ON s.id = r.segment_id"
    )
    assert read == [(first,)]


def test_a_model_file_of_the_project_is_read_with(project: ReadingProject) -> None:
    folder = project.library.models / "fakes"
    folder.mkdir(parents=True)
    (folder / "hand.fake").write_text("by the hand model", "utf-8")
    page = project.page()
    project.job("reading.read_pages", scope_ids=[page], model="hand")
    assert project.readings(page) == ["by the hand model", "by the hand model"]
    assert project.rows("SELECT model FROM segment_pass") == [("hand.fake",)]


def test_every_call_is_an_episode(project: ReadingProject) -> None:
    page = project.page()
    job_id, _ = project.job("reading.find_lines", scope_ids=[page])
    read_id, _ = project.job("reading.read_lines", scope_ids=[page])
    with project.library.db.read() as conn:
        (episode,) = list_episodes(conn, job_id=job_id)
        (read,) = list_episodes(conn, job_id=read_id)
        both = list_episodes(conn, document_id=page)
    assert episode["episode_id"].startswith("ep_")
    assert (episode["kind"], episode["use_case"]) == ("model_call", "find-lines")
    assert episode["subject"] == {"kind": "page", "id": page, "segment_id": None, "target_id": None}
    assert episode["model"] == {"provider": "fake", "model": "fake", "version": None}
    assert episode["run"] == {"thread_id": job_id, "workflow_id": None, "job_id": job_id, "attempt": 1}
    assert episode["exchange"] == {
        "prompt": "Find the lines of a page of 100 x 80 pixels.",
        "output": "2 lines, 1 regions",
    }
    assert read["exchange"]["output"] == "height 20\nשלום עולם"
    assert read["timing"]["seconds"] >= 0
    assert [item["episode_id"] for item in both] == [episode["episode_id"], read["episode_id"]]


def test_the_ledger_is_never_changed(project: ReadingProject) -> None:
    project.job("reading.find_lines", scope_ids=[project.page()])
    with pytest.raises(Exception, match="never changed"), project.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE episode SET model = 'another'")


def test_a_ledger_that_cannot_be_written_never_fails_the_call(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_table: Any) -> Any:
        raise OSError("the disk is full")

    monkeypatch.setattr(ledger, "insert", fail)
    page = project.page()
    job_id, found = project.job("reading.find_lines", scope_ids=[page])
    assert found["state"] == "done"
    assert len(project.passes(page)) == 1
    assert project.rows("SELECT count(*) FROM episode WHERE job_id = ?", job_id) == [(0,)]


def test_neither_log_nor_audit_holds_what_was_read(project: ReadingProject) -> None:
    page = project.page()
    project.job("reading.read_pages", scope_ids=[page])
    everything = project.rows("SELECT params FROM audit") + project.rows(
        "SELECT message || data FROM job_log"
    )
    assert not any("שלום" in str(row) or "height 20" in str(row) for row in everything)


def link_picture(project: ReadingProject, page: str, folder: Path) -> Path:
    """Replace the page's picture by a link to a file of its owner; return that file."""
    ((digest,),) = project.rows("SELECT checksum FROM rendition WHERE document_id = ?", page)
    kept = project.library.objects.path(digest)
    original = folder / "scan.png"
    original.write_bytes(kept.read_bytes())
    kept.unlink()
    assert project.library.objects.link_file(original) == digest
    return original


def test_a_worker_reads_the_checked_file_even_if_its_owner_replaces_it(
    project: ReadingProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = project.page()
    original = link_picture(project, page, tmp_path)
    before = original.read_bytes()
    right, seen = JobContext.call_worker, []

    def swap_file(self: JobContext, runtime: Any, worker: str, method: str, params: Any, *more: Any) -> Any:
        secret = tmp_path / "secret"
        secret.write_bytes(b"what nobody named")
        original.unlink()
        original.symlink_to(secret)
        seen.append(Path(params["image"]).read_bytes())
        return right(self, runtime, worker, method, params, *more)

    monkeypatch.setattr(JobContext, "call_worker", swap_file)
    _, found = project.job("reading.find_lines", scope_ids=[page])
    assert seen == [before]
    assert found["result"]["lines"] == 2
    assert not list((project.library.objects.root / "tmp").iterdir())


def test_a_linked_picture_that_was_changed_is_not_read(project: ReadingProject, tmp_path: Path) -> None:
    page = project.page()
    original = link_picture(project, page, tmp_path)
    original.write_bytes(original.read_bytes() + b"more")
    other_page = project.page((255, 255, 254), "2.png")
    _, found = project.job("reading.find_lines", scope_ids=[page, other_page])
    assert [entry["document_id"] for entry in found["result"]["failed"]] == [page]
    assert "was changed where it lies" in found["result"]["failed"][0]["why"]
    assert (project.passes(page), len(project.passes(other_page))) == ([], 1)


def test_only_lines_without_text_are_read_or_those_that_nobody_decided(project: ReadingProject) -> None:
    page = project.page()
    project.job("reading.find_lines", scope_ids=[page])
    first, second = (
        row[0] for row in project.rows("SELECT id FROM segment WHERE kind = 'line' ORDER BY bbox_y")
    )
    project.run("representation.create", {"segment_id": first, "text": "By hand"})
    _, read = project.job("reading.read_lines", scope_ids=[page], lines="unread")
    assert read["result"]["lines"] == 1
    assert project.rows("SELECT segment_id, content FROM content_representation ORDER BY id") == [
        (first, "By hand"),
        (second, "height 20"),
    ]
    _, again = project.job("reading.read_lines", scope_ids=[page], lines="unread")
    assert (again["state"], again["reason"]) == (
        "done",
        "Nothing was done. Every line of the page has already been read.",
    )
    # The machine's own reading is repeated, the person's is not; once a person has chosen one it is not either.
    _, unchecked = project.job("reading.read_lines", scope_ids=[page], lines="unchecked", language="he")
    assert unchecked["result"]["lines"] == 1
    newest = project.rows("SELECT id FROM content_representation WHERE segment_id = ? ORDER BY id", second)
    assert len(newest) == 2
    chosen = {"segment_id": second, "kind": "transcription", "representation_id": newest[0][0]}
    project.run("reading.choose", chosen)
    _, nothing = project.job("reading.read_lines", scope_ids=[page], lines="unchecked")
    assert nothing["reason"] == "Nothing was done. A person made or checked every line of the page."
