"""Refusals of reading's actions: each is a sentence, given before any job is created."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reading_project import ReadingProject

from armarium.api import ServiceError
from armarium_reading.api import Runtime
from armarium_testing.conformance import exercise_plugin


def refusal(project: ReadingProject, name: str, **params: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        project.run(name, {"reader": "fake", **params})
    assert project.rows("SELECT count(*) FROM job WHERE kind LIKE 'read-%' OR kind = 'find-lines'") == [(0,)]
    return caught.value


def test_actions_conform(engine: Any, tmp_path: Path) -> None:
    assert [str(fault) for fault in exercise_plugin(engine, "reading", tmp_path / "kit")] == []


def test_nothing_to_read(project: ReadingProject) -> None:
    folder = project.run("document.create", {"name": "Empty", "doc_type": "folder"})["id"]
    error = refusal(project, "reading.find_lines", scope_ids=[folder])
    assert (error.status, error.code) == (422, "no_pages")


def test_an_unknown_page(project: ReadingProject) -> None:
    assert refusal(project, "reading.find_lines", scope_ids=["0" * 32]).status == 404


def test_the_refusal_of_an_unknown_reader_lists_the_installed_ones(project: ReadingProject) -> None:
    error = refusal(project, "reading.find_lines", scope_ids=[project.page()], reader="nobody")
    assert (error.status, "fake" in error.detail) == (404, True)


def test_a_driver_that_is_no_reader_is_refused(project: ReadingProject) -> None:
    error = refusal(project, "reading.find_lines", scope_ids=[project.page()], reader="broken")
    assert "is not a Reader" in error.detail


def test_a_reader_without_the_ability_is_refused(project: ReadingProject) -> None:
    error = refusal(project, "reading.read_pages", scope_ids=[project.page()], reader="finder")
    assert error.code == "reader_cannot"
    assert "These do: fake" in error.detail


def test_a_language_the_reader_does_not_read(project: ReadingProject) -> None:
    error = refusal(project, "reading.read_pages", scope_ids=[project.page()], language="es")
    assert error.detail == "Fake does not read the language 'es'; it reads he, la."


def test_an_invalid_language_tag_is_refused(project: ReadingProject) -> None:
    for tag in ("../es", "", "e", "es\n", "no tag at all"):
        error = refusal(project, "reading.read_pages", scope_ids=[project.page()], language=tag)
        assert error.code == "invalid_request"
        assert f"{tag!r} is not a language tag; write one such as es, la or de-Latf" in error.detail


def test_pages_without_lines(project: ReadingProject) -> None:
    assert refusal(project, "reading.read_lines", scope_ids=[project.page()]).code == "no_lines"


def test_a_pass_of_another_page(project: ReadingProject) -> None:
    page, other_page = project.page(name="a.png"), project.page(name="b.png")
    pass_id = project.run("segment.pass_create", {"document_id": other_page, "name": "By hand"})["id"]
    error = refusal(project, "reading.read_lines", scope_ids=[page], pass_id=pass_id)
    assert error.code == "other_document"


def test_a_reader_that_needs_a_model(project: ReadingProject) -> None:
    error = refusal(project, "reading.read_pages", scope_ids=[project.page()], reader="needy")
    assert error.code == "model_needed"
    assert "None is on this machine yet" in error.detail


def test_an_unknown_model(project: ReadingProject) -> None:
    error = refusal(project, "reading.read_pages", scope_ids=[project.page()], model="hand")
    assert (error.status, error.code) == (404, "unknown_model")


def test_a_model_for_a_reader_that_takes_none(project: ReadingProject) -> None:
    error = refusal(project, "reading.find_lines", scope_ids=[project.page()], reader="finder", model="hand")
    assert error.code == "model_not_taken"


def test_a_model_file_by_its_path(project: ReadingProject, tmp_path: Path) -> None:
    missing = refusal(
        project, "reading.read_pages", scope_ids=[project.page()], model=str(tmp_path / "gone.fake")
    )
    assert missing.code == "unknown_model"
    outside = refusal(
        project, "reading.read_pages", scope_ids=[project.page(name="2.png")], model="/etc/hostname"
    )
    assert outside.code == "path_not_allowed"
    climbing = refusal(
        project, "reading.read_pages", scope_ids=[project.page(name="3.png")], model="../../etc/hostname"
    )
    assert climbing.code == "unknown_model"


def test_a_runtime_that_is_not_installed(
    project: ReadingProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fake_readers

    package = tmp_path / "site" / "heavy_plugin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "requirements.txt").write_text("absent==1.0\n")
    monkeypatch.syspath_prepend(str(package.parent))
    needed = Runtime("absent", "heavy_plugin", "requirements.txt", "absent", size_mb=10)
    monkeypatch.setattr(fake_readers.NeedsRuntime, "runtime", needed)
    error = refusal(project, "reading.find_lines", scope_ids=[project.page()], reader="heavy")
    assert (error.status, error.code) == (409, "runtime_missing")
    assert "armarium runtime install absent" in error.detail
