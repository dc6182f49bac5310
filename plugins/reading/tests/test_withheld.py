"""Pages that may not be shown to a model are checked when their turn comes, skipped, and reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from reading_project import ReadingProject, register_fake_readers

from armarium.api import Engine, raw_of
from armarium.principals import LOCAL_OWNER, asking
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_reading.jobs import pages as jobs
from armarium_reading.plugin import armarium_plugin as reading_plugin
from armarium_rights.plugin import armarium_plugin as rights_plugin
from armarium_source_model.plugin import armarium_plugin as source_model_plugin

EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor", token_id="an-editor", token_kind="device")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with reading, rights, and the fake readers."""
    new_engine = make_engine(
        plugins=[documents_plugin(), source_model_plugin(), reading_plugin(), rights_plugin()]
    )
    register_fake_readers(new_engine)
    return new_engine


def set_rights(project: ReadingProject, target_id: str, **stated: Any) -> None:
    project.run("rights.set", {"target_kind": "document", "target_id": target_id, **stated})


def log_of(project: ReadingProject, job_id: str) -> list[str]:
    return [row[0] for row in project.rows("SELECT message FROM job_log WHERE row_id = ?", job_id)]


def test_a_page_that_no_model_may_have_is_skipped_and_the_log_says_why(project: ReadingProject) -> None:
    barred, free = project.page(name="1.png"), project.page(name="2.png")
    set_rights(project, barred, model_use="none")
    job_id, found = project.job("reading.find_lines", scope_ids=[barred, free])
    assert (found["state"], found["result"]["pages"], found["result"]["skipped"]) == ("done", 1, 1)
    assert project.rows("SELECT DISTINCT document_id FROM segment") == [(free,)]
    assert project.rows("SELECT DISTINCT document_id FROM episode") == [(free,)]
    assert "Its rights records allow no model to receive it." in log_of(project, job_id)


def test_a_local_model_may_have_pages_limited_to_local_models(project: ReadingProject) -> None:
    page = project.page()
    set_rights(project, page, model_use="local")
    _, found = project.job("reading.find_lines", scope_ids=[page])
    assert found["result"]["pages"] == 1


def test_a_page_restricted_in_mid_run_is_skipped(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both the next page and the one being read; the run itself continues."""
    pages = [project.page(name=f"{number}.png") for number in range(4)]
    assert project.folder is not None
    call = jobs.PageJob.call
    called: list[int] = []

    def restricting(self: Any, choice: Any, picture: Any, more: dict[str, Any]) -> dict[str, Any]:
        answer = call(self, choice, picture, more)
        called.append(1)
        if len(called) == 2:
            for page in pages[1:3]:
                set_rights(project, page, restricted=True)
        return answer

    monkeypatch.setattr(jobs.PageJob, "call", restricting)
    started = (
        project.engine.run(
            project.library, "reading.find_lines", {"scope_ids": pages, "reader": "fake"}, EDITOR
        ).result
        or {}
    )
    project.engine.jobs.run_until_idle(project.library)
    ((state, result),) = project.rows("SELECT state, result FROM job WHERE id = ?", started["job_id"])
    assert (state, '"pages":2' in result, '"skipped":2' in result, '"failed":[]' in result) == (
        "done",
        True,
        True,
        True,
    )
    assert {row[0] for row in project.rows("SELECT document_id FROM segment")} == {pages[0], pages[3]}
    assert len(called) == 3
    with asking(EDITOR), project.library.db.read() as conn:
        # The editor who started the job still sees it, but nothing that names these pages.
        raw = raw_of(conn)
        assert raw.execute("SELECT state FROM job WHERE id = ?", (started["job_id"],)).fetchall() == [
            ("done",)
        ]
        assert raw.execute("SELECT data FROM job_log WHERE data LIKE ?", (f"%{pages[1]}%",)).fetchall() == []
    assert sum("restricted" in line for line in log_of(project, started["job_id"])) == 2
