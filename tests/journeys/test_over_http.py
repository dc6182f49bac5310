"""The main job over HTTP, with lines and text from a PAGE file: import, read, correct, export, undo, redo, audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium_demo.samples import SamplePage

Ask = Callable[..., Any]
PageXml = Callable[[SamplePage], bytes]


@pytest.fixture
def imported(ask: Ask, work: Callable[[], None], photographs: Path) -> dict[str, str]:
    """The photographs as documents of the project: id by name."""
    started = ask("POST", "/api/documents/import", json={"folder": str(photographs)})
    assert started["audit_id"]
    work()
    jobs = ask("GET", "/api/activity/jobs")
    assert [job for job in jobs["items"] if job["state"] == "failed"] == []
    found: dict[str, str] = {}

    def walk(parent: str | None) -> None:
        query = {"parent_id": parent} if parent else {}
        for item in ask("GET", "/api/documents", params=query)["items"]:
            if item["doc_type"] in ("file", "page"):
                found[Path(item["name"]).stem] = item["id"]
            else:
                walk(item["id"])

    walk(None)
    return found


def test_a_folder_of_photographs_becomes_documents_with_pictures(
    ask: Ask, imported: dict[str, str], pages: list[SamplePage]
) -> None:
    assert sorted(imported) == sorted(page.name for page in pages)
    for page in pages:
        renditions = ask("GET", f"/api/documents/{imported[page.name]}/renditions")
        assert renditions["items"][0]["is_primary"]
        assert (renditions["items"][0]["pixel_width"], renditions["items"][0]["pixel_height"]) == (
            page.width,
            page.height,
        )


def test_a_line_is_corrected_exported_undone_and_redone(
    ask: Ask, imported: dict[str, str], pages: list[SamplePage], page_xml: PageXml
) -> None:
    page = next(page for page in pages if page.lines)
    document = imported[page.name]
    ask(
        "POST",
        f"/api/documents/{document}/import",
        files={"file": ("page.xml", page_xml(page), "application/xml")},
    )

    def text() -> str:
        return ask("GET", f"/api/segments/document/{document}/text")["text"]

    body = [line.text for region in page.regions if region.kind != "header" for line in region.lines]
    assert [line for line in text().split("\n") if line] == body

    line = next(
        segment
        for segment in segments(ask, document)
        if segment["kind"] == "line" and segment["text"] == body[0]
    )
    answer = ask(
        "POST", f"/api/segments/{line['id']}/correct", json={"text": "Sepan cuantos esta carta vieren"}
    )
    assert "Sepan cuantos esta carta vieren" in text()

    exported = ask("GET", f"/api/documents/{document}/export/pagexml")
    assert "Sepan cuantos esta carta vieren" in exported["content"]

    taken_back = ask("POST", f"/api/actions/audit/{answer['audit_id']}/undo")
    assert "Sepan cuantos" not in text()
    assert body[0] in text()

    ask("POST", f"/api/actions/audit/{taken_back['audit_ids'][0]}/undo")
    assert "Sepan cuantos esta carta vieren" in text()

    second_answer = ask("POST", f"/api/actions/audit/{answer['audit_id']}/undo")
    assert second_answer["audit_ids"]
    refused = ask("POST", f"/api/actions/audit/{answer['audit_id']}/undo", status=409)
    assert refused["reason"] == "already-undone"
    assert refused["audit_id"] == answer["audit_id"]


def test_an_export_is_read_back_the_same(
    ask: Ask, imported: dict[str, str], pages: list[SamplePage], page_xml: PageXml
) -> None:
    page = next(page for page in pages if page.lines)
    document = imported[page.name]
    upload = f"/api/documents/{document}/import"
    ask("POST", upload, files={"file": ("page.xml", page_xml(page), "application/xml")})
    first = ask("GET", f"/api/documents/{document}/export/pagexml")["content"]
    ask("POST", upload, files={"file": ("again.xml", first.encode(), "application/xml")})
    lines = [[segment["text"] for segment in segments(ask, document, page_pass["id"]) if segment["kind"] == "line"]
             for page_pass in passes(ask, document)]  # fmt: skip
    assert len(lines) == 2
    assert sorted(lines[0]) == sorted(lines[1]) == sorted(line.text for line in page.lines)


def test_every_write_of_the_journey_is_in_the_audit_chain(
    ask: Ask, imported: dict[str, str], pages: list[SamplePage]
) -> None:
    rows = ask("GET", "/api/actions/audit", params={"limit": 1000})
    assert {"document.import", "library.create"} & {row["action_name"] for row in rows["items"]}
    assert all(row["actor"]["name"] for row in rows["items"])
    verified = ask("GET", "/api/actions/audit/verify")
    assert verified["ok"] is True


def test_a_folder_goes_to_the_trash_and_comes_back(ask: Ask, imported: dict[str, str]) -> None:
    document = next(iter(imported.values()))
    ask("DELETE", f"/api/documents/{document}")
    trash = ask("GET", "/api/documents/trash")
    assert document in [entry["document_id"] for entry in trash["items"]]
    ask("POST", f"/api/documents/{document}/restore")
    assert ask("GET", f"/api/documents/{document}")["deleted_at"] is None


def segments(ask: Ask, document: str, pass_id: str | None = None) -> list[dict]:
    query = {"pass_id": pass_id} if pass_id else {}
    return ask("GET", f"/api/segments/document/{document}", params=query)["segments"]


def passes(ask: Ask, document: str) -> list[dict]:
    return ask("GET", f"/api/segments/document/{document}")["passes"]
