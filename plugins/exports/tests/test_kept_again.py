"""Kept exports that an undo or a redo brings back, and what rights say of them from the first writing on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exports_desk import MACHINE, Desk
from test_kept import keep, kept_now

from armarium.api import ServiceError

WITHOUT = replace(MACHINE, folders=frozenset())


def agent_headers(desk: Desk, **more: Any) -> dict[str, str]:
    answer = desk.client.post("/api/tokens", json={"name": "an agent", "role": "editor", **more}).json()
    secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
    return {"Authorization": f"Bearer {secret}"}


def end(desk: Desk, export_id: str) -> str:
    answer = desk.client.delete(f"/api/export/kept/{export_id}")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["audit_id"])


def test_what_changed_while_an_export_was_not_kept_is_written_once_it_is_again(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    place = Path(found["files"][0]["path"])
    ended = end(desk, found["id"])
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.page(desk.box("More"), "2.png", ["Farewell"])
    desk.work()
    assert "Dear Sir" in place.read_text()
    desk.undo(ended)
    assert desk.list_kept()[0]["pending"] == 2
    desk.work()
    assert "Dear Madam" in place.read_text()
    assert len(desk.list_kept()[0]["files"]) == 2


def test_an_export_whose_beginning_is_redone_is_written(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    begun = keep(desk)
    desk.work()
    undone = desk.undo(begun["audit_id"])
    assert desk.list_kept() == []
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.undo(undone)
    desk.work()
    (found,) = desk.list_kept()
    assert "Dear Madam" in Path(found["files"][0]["path"]).read_text()


def test_an_undo_brings_no_second_export_of_a_format_into_a_folder(desk: Desk) -> None:
    first = keep(desk)
    ended = end(desk, first["id"])
    keep(desk)
    with pytest.raises(ServiceError, match="already kept") as refused:
        desk.undo(ended)
    assert refused.value.fields["because"] == "folder_kept"
    assert refused.value.fields["reason"] == "changed"
    assert refused.value.fields["audit_id"] == ended


def test_a_token_without_the_folder_neither_brings_an_export_back_nor_has_it_written(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    headers = agent_headers(desk)
    place = desk.folder / "kept"
    place.mkdir()
    body = {"folder": str(place), "format": "markdown", "per": "page"}
    refused = desk.client.post("/api/export/kept", json=body, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "path_not_allowed")
    begun = desk.post("/api/export/kept", **body)
    refused = desk.client.post(f"/api/export/kept/{begun['id']}/write", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "path_not_allowed")
    ended = end(desk, begun["id"])
    with pytest.raises(ServiceError) as barred:
        desk.engine.undo(desk.library, [ended], WITHOUT)
    assert barred.value.code == "path_not_allowed"
    assert desk.list_kept() == []


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/api/export/jsonl", {}),
        ("/api/export/parquet", {}),
        ("/api/export/training", {}),
        ("/api/export/eleventy-site", {}),
        ("/api/export/receivers", {"receiver": "kraken"}),
    ],
)
def test_a_token_without_the_folder_writes_no_export(desk: Desk, path: str, more: dict[str, Any]) -> None:
    box = desk.box()
    body = {"output_path": str(desk.folder / "out.jsonl"), **more}
    if more:
        body["scope_ids"] = [box]
    refused = desk.client.post(path, json=body, headers=agent_headers(desk))
    assert (refused.status_code, refused.json()["code"]) == (403, "path_not_allowed")
    assert not (desk.folder / "out.jsonl").exists()


def test_what_was_restricted_from_the_start_is_listed(desk: Desk) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir"])
    shut, barred = desk.page(box, "2.png", ["A secret"]), desk.page(box, "3.png", ["Barred"])
    desk.restrict(desk.lines(shut)[0], kind="segment")
    desk.do("rights.set", {"target_kind": "document", "target_id": barred, "model_use": "none"})
    found = kept_now(desk)
    assert len(found["files"]) == 1
    assert {entry["document_id"] for entry in found["withheld"]} == {shut, barred}
    assert all(entry["why"] for entry in found["withheld"])
    assert found["left_behind"] == []


def test_a_document_loses_a_page_restricted_later_and_is_left_behind_without_any(desk: Desk) -> None:
    letter = desk.box("A letter", desk.box(), "group")
    first, second = desk.page(letter, "1.png", ["Dear Sir"]), desk.page(letter, "2.png", ["A secret"])
    found = kept_now(desk, "plain-text", "document")
    place = Path(found["files"][0]["path"])
    assert "A secret" in place.read_text()
    desk.restrict(second)
    desk.work()
    assert "A secret" not in place.read_text()
    assert "Dear Sir" in place.read_text()
    assert desk.list_kept()[0]["left_behind"] == []
    desk.restrict(first)
    desk.work()
    (after,) = desk.list_kept()
    assert after["files"] == []
    assert [entry["path"] for entry in after["left_behind"]] == [str(place)]


def test_titles_of_pages_that_a_caller_may_not_see_are_not_listed(desk: Desk) -> None:
    box = desk.box()
    page, shut = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "diary of Ann.png", ["A secret"])
    kept_now(desk)
    desk.restrict(shut)
    answer = desk.client.get("/api/export/kept", headers=agent_headers(desk))
    (entry,) = answer.json()["exports"]
    assert "diary" not in answer.text
    assert shut not in answer.text
    assert [file["document_id"] for file in entry["files"]] == [page]
    (mine,) = desk.list_kept()
    assert [one["document_id"] for one in mine["left_behind"]] == [shut]


def test_a_change_of_what_holds_for_every_page_is_written(desk: Desk) -> None:
    """The language of the project is in every TEI file."""
    desk.page(desk.box(), "1.png", ["Estimado señor"])
    place = Path(kept_now(desk, "tei")["files"][0]["path"])
    assert 'xml:lang="es"' not in place.read_text()
    desk.do("source_setting.set", {"level": "project", "key": "language", "value": "es"})
    desk.work()
    assert 'xml:lang="es"' in place.read_text()


def test_a_project_that_is_opened_again_is_written(desk: Desk) -> None:
    """Restricted as a whole, nothing is written; the record withdrawn, everything that changed meanwhile is."""
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    place = Path(kept_now(desk)["files"][0]["path"])
    record = desk.do("rights.set", {"target_kind": "library", "target_id": "library", "restricted": True})
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.work()
    assert "Dear Sir" in place.read_text()
    assert page in {entry["document_id"] for entry in desk.list_kept()[0]["withheld"]}
    desk.do("rights.withdraw", {"record_id": record["id"]})
    desk.work()
    assert "Dear Madam" in place.read_text()


def test_a_link_in_place_of_the_folder_is_not_followed(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    folder = Path(found["folder"])
    elsewhere = desk.folder / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere, target_is_directory=True)
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.work()
    (path,) = elsewhere.iterdir()
    assert "Dear Sir" in path.read_text()
    ((reason,),) = desk.rows("SELECT reason FROM job WHERE kind = 'export-kept' AND state = 'failed'")
    assert "has become a link" in reason
