"""Exports that a browser saves: the bytes are those of the export, losses come first, and nobody else gets them."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from exports_desk import Desk

from armarium.api import find_moment
from armarium_exports import download_writers


def save(desk: Desk, **body: Any) -> tuple[dict[str, Any], bytes]:
    new_answer = desk.post("/api/export/downloads", **body)
    answer = desk.client.get(f"/api/export/downloads/{new_answer['id']}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    assert len(answer.content) == new_answer["size_bytes"]
    return new_answer, answer.content


def as_device(desk: Desk, role: str) -> dict[str, str]:
    """Return the header of another device with this role."""
    code = desk.post("/api/pair/code", role=role)["code"]
    return {"Authorization": f"Bearer {desk.post('/api/pair', code=code)['device_token']}"}


def names(content: bytes) -> set[str]:
    return set(zipfile.ZipFile(io.BytesIO(content)).namelist())


@pytest.mark.parametrize(
    ("format_name", "ending"),
    [("word", ".docx"), ("markdown", ".md"), ("plain-text", ".txt"), ("pagexml", ".page.xml")],
)
def test_pages_are_saved_as_files_of_one_zip_with_what_was_lost(
    desk: Desk, format_name: str, ending: str
) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", ["Dear Sir", "I am well"])
    desk.page(box, "1.png", ["Farewell"])
    desk.page(box, "blank.png", [])
    made, content = save(desk, what="files", format=format_name, scope_ids=[box])
    assert made["filename"] == "Letters.zip"
    assert {f"1{ending}", f"1 (2){ending}"} <= names(content)
    assert sum(one["lines"] for one in made["made"]) == 3
    if format_name == "word":
        assert [(loss["what"], loss["count"], loss["pages"]) for loss in made["losses"]] == [
            ("shapes of lines", 3, 2)
        ]


def test_a_single_page_is_saved_as_it_is(desk: Desk) -> None:
    page = desk.page(desk.box(), "Brief 7.png", ["Dear Sir"])
    made, content = save(desk, what="files", format="markdown", scope_ids=[page])
    assert made["filename"] == "Brief 7.md"
    assert "Dear Sir" in content.decode()


def test_records_sites_and_packages_for_other_programs_are_saved_too(desk: Desk) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", ["Dear Sir"])
    made, content = save(desk, what="jsonl")
    assert made["filename"].endswith(".jsonl")
    assert b'"record_type"' in content
    assert made["records"] > 0
    _, content = save(desk, what="parquet", scope_ids=[box])
    assert any(name.endswith(".parquet") for name in names(content))
    made, content = save(desk, what="receiver", receiver="escriptorium", scope_ids=[box])
    assert any(name.endswith("1.png") for name in names(content))
    assert made["problems"] == []
    _, content = save(desk, what="site")
    assert "package.json" in names(content)


def test_what_is_withheld_is_left_out_and_what_is_withheld_since_is_not_given(desk: Desk) -> None:
    box = desk.box("Letters")
    page = desk.page(box, "1.png", ["Dear Sir"])
    secret = desk.page(box, "2.png", ["Secret"])
    record = desk.restrict(secret)
    given = {"what": "files", "format": "markdown", "scope_ids": [box]}
    made, content = save(desk, **given)
    assert b"Secret" not in content
    assert [entry["document_id"] for entry in made["withheld"]] == [secret]
    desk.restrict(page)
    refused = desk.client.get(f"/api/export/downloads/{made['id']}")
    assert (refused.status_code, refused.json()["code"]) == (403, "download_withheld")
    assert record


def test_a_file_is_given_to_nobody_else_and_not_for_ever(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    answer = desk.post("/api/export/downloads", what="files", format="markdown", scope_ids=[page])
    viewer = as_device(desk, "viewer")
    body = {"what": "files", "format": "markdown", "scope_ids": [page]}
    assert desk.client.post("/api/export/downloads", json=body, headers=viewer).status_code == 200
    other = as_device(desk, "editor")
    refused = desk.client.get(f"/api/export/downloads/{answer['id']}", headers=other)
    assert (refused.status_code, refused.json()["code"]) == (404, "download_gone")
    place = desk.library.derived_folder / "downloads" / answer["id"]
    os.utime(place, (1, 1))
    second_answer = desk.post("/api/export/downloads", what="files", format="markdown", scope_ids=[page])
    assert not place.exists()
    monkeypatch.setattr("armarium_exports.downloads.time.time", lambda: 1e11)
    assert desk.client.get(f"/api/export/downloads/{second_answer['id']}").status_code == 404
    assert desk.client.get("/api/export/downloads/..").status_code == 404


def test_a_request_that_says_too_little_is_refused(desk: Desk) -> None:
    box = desk.box()
    page = desk.page(box, "1.png", ["Dear Sir"])
    assert (
        desk.post("/api/export/downloads", 422, what="receiver", scope_ids=[box])["code"] == "receiver_needed"
    )
    assert desk.post("/api/export/downloads", 422, what="jsonl", scope_ids=[box, page])["code"] == "one_scope"
    empty = desk.box("Empty")
    refused = desk.post("/api/export/downloads", 422, what="files", scope_ids=[empty])
    assert refused["code"] == "nothing_to_export"


@pytest.mark.parametrize("format_name", ["pagexml", "alto", "tei", "plain-text"])
def test_a_zip_of_a_past_step_says_what_the_project_said_and_is_verified(
    desk: Desk, tmp_path: Path, format_name: str
) -> None:
    box = desk.box("Letters")
    first = desk.page(box, "1.png", ["Dear Sir", "I am well"])
    desk.page(box, "2.png", ["Farewell"])
    with desk.library.db.read() as conn:
        step = find_moment(conn).audit_id
        line = conn.exec_driver_sql(
            "SELECT id FROM segment WHERE kind = 'line' AND document_id = ?", (first,)
        )
        line_id = line.scalars().first()
    desk.post(f"/api/segments/{line_id}/correct", text="Dear Madam")
    made, content = save(desk, what="files", format=format_name, scope_ids=[box], as_of=step)
    assert made["as_of"]["step"] == step
    assert b"Madam" not in b"".join(_members(content).values())
    file = tmp_path / "renamed.zip"
    file.write_bytes(content)
    verified = desk.client.post("/api/formats/verify", json={"path": str(file)}).json()
    assert (verified["count"], verified["is_same"]) == (2, True), verified
    edited = {name: data.replace(b"Farewell", b"Farewall") for name, data in _members(content).items()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in edited.items():
            archive.writestr(name, data)
    verified = desk.client.post("/api/formats/verify", json={"path": str(file)}).json()
    assert [difference["in_file"] for item in verified["items"] for difference in item["differences"]] == [
        "Farewall"
    ]


def test_only_files_are_exported_of_the_past(desk: Desk) -> None:
    body = {"what": "jsonl", "as_of": "2026-01-01"}
    refused = desk.client.post("/api/export/downloads", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "only_files_of_the_past")


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_many_pages_are_made_in_the_background_and_go_on_where_they_were_stopped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = desk.box("Letters")
    pages = [desk.page(box, f"{number}.png", [f"Line {number}"]) for number in range(3)]
    given: dict[str, Any] = {"what": "files", "format": "markdown", "scope_ids": [box]}
    rendered: list[str] = []
    render = download_writers.render

    def rendering(engine: Any, library: Any, unit: Any, format_name: str, file: Any) -> Any:
        rendered.append(unit.id)
        if len(rendered) == 2:
            desk.client.put(f"/api/activity/jobs/{job}/paused", json={"paused": True})
        return render(engine, library, unit, format_name, file)

    monkeypatch.setattr(download_writers, "render", rendering)
    job = desk.post("/api/export/downloads/start", **given)["job_id"]
    desk.work()
    assert rendered == pages[:2]
    assert desk.client.get("/api/export/downloads").json()["exports"] == []
    desk.client.put(f"/api/activity/jobs/{job}/paused", json={"paused": False})
    desk.work()
    assert rendered == pages
    (made,) = desk.client.get("/api/export/downloads").json()["exports"]
    assert (made["job_id"], made["pages"], made["filename"]) == (job, 3, "Letters.zip")
    content = desk.client.get(f"/api/export/downloads/{made['id']}").content
    assert names(content) == {"0.md", "1.md", "2.md"}
    assert not list((desk.library.derived_folder / "downloads").glob(".job-*"))
    assert desk.client.get("/api/export/downloads", headers=as_device(desk, "editor")).json()["count"] == 0
    refused = desk.post("/api/export/downloads/start", 422, what="jsonl", scope_ids=pages)
    assert refused["code"] == "one_scope"
