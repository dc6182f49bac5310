"""Refusals of reading's actions: each is a sentence, given before any job is created."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reading_desk import Desk

from armarium.api import ServiceError
from armarium_reading.api import Runtime
from armarium_testing.conformance import exercise_plugin


def refusal(desk: Desk, name: str, **params: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        desk.run(name, {"reader": "fake", **params})
    assert desk.rows("SELECT count(*) FROM job WHERE kind LIKE 'read-%' OR kind = 'find-lines'") == [(0,)]
    return caught.value


def test_actions_conform(engine: Any, tmp_path: Path) -> None:
    assert [str(fault) for fault in exercise_plugin(engine, "reading", tmp_path / "kit")] == []


def test_nothing_to_read(desk: Desk) -> None:
    folder = desk.run("document.create", {"name": "Empty", "doc_type": "folder"})["id"]
    error = refusal(desk, "reading.find_lines", scope_ids=[folder])
    assert (error.status, error.code) == (422, "no_pages")


def test_an_unknown_page(desk: Desk) -> None:
    assert refusal(desk, "reading.find_lines", scope_ids=["0" * 32]).status == 404


def test_an_unknown_reader_is_told_the_installed_ones(desk: Desk) -> None:
    error = refusal(desk, "reading.find_lines", scope_ids=[desk.page()], reader="nobody")
    assert (error.status, "fake" in error.detail) == (404, True)


def test_a_driver_that_is_no_reader(desk: Desk) -> None:
    error = refusal(desk, "reading.find_lines", scope_ids=[desk.page()], reader="broken")
    assert "is not a Reader" in error.detail


def test_a_reader_that_cannot(desk: Desk) -> None:
    error = refusal(desk, "reading.read_pages", scope_ids=[desk.page()], reader="finder")
    assert error.code == "reader_cannot"
    assert "These do: fake" in error.detail


def test_a_language_the_reader_does_not_read(desk: Desk) -> None:
    error = refusal(desk, "reading.read_pages", scope_ids=[desk.page()], language="es")
    assert error.detail == "Fake does not read the language 'es'; it reads he, la."


def test_a_language_that_is_no_tag(desk: Desk) -> None:
    for tag in ("../es", "", "e", "es\n", "no tag at all"):
        error = refusal(desk, "reading.read_pages", scope_ids=[desk.page()], language=tag)
        assert error.code == "invalid_request"
        assert f"{tag!r} is not a language tag; write one such as es, la or de-Latf" in error.detail


def test_pages_without_lines(desk: Desk) -> None:
    assert refusal(desk, "reading.read_lines", scope_ids=[desk.page()]).code == "no_lines"


def test_a_pass_of_another_page(desk: Desk) -> None:
    page, other = desk.page(name="a.png"), desk.page(name="b.png")
    pass_id = desk.run("segment.pass_create", {"document_id": other, "name": "By hand"})["id"]
    error = refusal(desk, "reading.read_lines", scope_ids=[page], pass_id=pass_id)
    assert error.code == "other_document"


def test_a_reader_that_needs_a_model(desk: Desk) -> None:
    error = refusal(desk, "reading.read_pages", scope_ids=[desk.page()], reader="needy")
    assert error.code == "model_needed"
    assert "None is on this machine yet" in error.detail


def test_an_unknown_model(desk: Desk) -> None:
    error = refusal(desk, "reading.read_pages", scope_ids=[desk.page()], model="hand")
    assert (error.status, error.code) == (404, "unknown_model")


def test_a_model_for_a_reader_that_takes_none(desk: Desk) -> None:
    error = refusal(desk, "reading.find_lines", scope_ids=[desk.page()], reader="finder", model="hand")
    assert error.code == "model_not_taken"


def test_a_model_file_by_its_path(desk: Desk, tmp_path: Path) -> None:
    missing = refusal(desk, "reading.read_pages", scope_ids=[desk.page()], model=str(tmp_path / "gone.fake"))
    assert missing.code == "unknown_model"
    outside = refusal(desk, "reading.read_pages", scope_ids=[desk.page(name="2.png")], model="/etc/hostname")
    assert outside.code == "path_not_allowed"
    climbing = refusal(
        desk, "reading.read_pages", scope_ids=[desk.page(name="3.png")], model="../../etc/hostname"
    )
    assert climbing.code == "unknown_model"


def test_a_runtime_that_is_not_installed(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fake_readers

    package = tmp_path / "site" / "heavy_plugin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "requirements.txt").write_text("absent==1.0\n")
    monkeypatch.syspath_prepend(str(package.parent))
    needed = Runtime("absent", "heavy_plugin", "requirements.txt", "absent", size_mb=10)
    monkeypatch.setattr(fake_readers.NeedsRuntime, "runtime", needed)
    error = refusal(desk, "reading.find_lines", scope_ids=[desk.page()], reader="heavy")
    assert (error.status, error.code) == (409, "runtime_missing")
    assert "armarium runtime install absent" in error.detail
