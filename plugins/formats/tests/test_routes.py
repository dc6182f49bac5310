"""Formats over HTTP: requests, answers, and refusals with status and code."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium_formats.api import Format, PageModel, WriteContext, WrittenPage
from armarium_testing.sample_files import SAMPLE_PAGE

PAGE = SAMPLE_PAGE.encode()


def send(client: TestClient, document_id: str, data: bytes = PAGE, **form: str) -> Any:
    return client.post(
        f"/api/documents/{document_id}/import",
        files={"file": ("letter.xml", data, "application/xml")},
        data=form,
    )


def test_the_formats_are_listed(client: TestClient) -> None:
    body = client.get("/api/formats").json()
    assert body["count"] == len(body["items"])
    names = [item["name"] for item in body["items"]]
    assert {"pagexml", "plain-text"} <= set(names)
    assert set(body["items"][0]) == {
        "name",
        "label",
        "extensions",
        "reads",
        "writes",
        "validated",
        "versions",
    }


def test_import_export_and_original(client: TestClient, page_document: str) -> None:
    answer = send(client, page_document, name="First reading")
    assert answer.status_code == 200, answer.text
    new_answer = answer.json()
    assert answer.headers["X-Service-Audit-Id"] == new_answer["audit_id"]
    assert (new_answer["name"], new_answer["counts"]["line"]) == ("First reading", 1)

    original = client.get(f"/api/segments/passes/{new_answer['pass_id']}/original")
    assert original.content == PAGE
    assert 'filename="letter.xml"' in original.headers["content-disposition"]
    etag = original.headers["etag"]
    assert (
        client.get(
            f"/api/segments/passes/{new_answer['pass_id']}/original", headers={"If-None-Match": etag}
        ).status_code
        == 304
    )

    exported = client.get(f"/api/documents/{page_document}/export/PAGE").json()
    assert exported["filename"] == "0001.xml"
    assert "Dear Sir" in exported["content"]
    assert exported["losses"] == []
    assert exported["choices"]["pass_id"] == new_answer["pass_id"]


@pytest.mark.parametrize(
    ("data", "form", "status", "code"),
    [
        (b"", {}, 422, "empty_file"),
        (b"<recipe>words only</recipe>", {}, 422, "not_recognised"),
        (PAGE, {"format": "docx"}, 422, "format_not_readable"),
        (PAGE, {"pages": "x"}, 422, "invalid_request"),
        (PAGE[:-50], {}, 422, "xml_malformed"),
        (PAGE.replace(b"880,120", b"8800,120"), {"beyond": "refuse"}, 422, "shapes_outside"),
        (PAGE, {"beyond": "stretch"}, 422, "invalid_request"),
    ],
)
def test_bad_uploads_are_refused(
    client: TestClient, page_document: str, data: bytes, form: dict[str, str], status: int, code: str
) -> None:
    answer = send(client, page_document, data, **form)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["detail"].endswith(".")


def test_a_file_longer_than_any_page_is_413(client: TestClient, page_document: str) -> None:
    answer = send(client, page_document, PAGE + b" " * (64 << 20))
    assert (answer.status_code, answer.json()["code"]) == (413, "file_too_large")


def test_the_same_file_again_is_409_with_the_pass(client: TestClient, page_document: str) -> None:
    answer = send(client, page_document).json()
    again = send(client, page_document)
    assert again.status_code == 409
    assert (again.json()["code"], again.json()["pass_id"]) == ("already_a_pass", answer["pass_id"])


def test_missing_passes_originals_and_formats_are_refused(client: TestClient, page_document: str) -> None:
    nowhere = "0" * 32
    assert send(client, nowhere).status_code == 404
    assert client.get(f"/api/documents/{nowhere}/export/pagexml").status_code == 404
    no_pass = client.get(f"/api/documents/{page_document}/export/pagexml")
    assert (no_pass.status_code, no_pass.json()["code"]) == (404, "no_pass")
    assert client.get(f"/api/documents/{page_document}/export/docx").json()["code"] == "unknown_format"
    assert client.get(f"/api/segments/passes/{nowhere}/original").status_code == 404
    assert client.post(f"/api/documents/{page_document}/import").status_code == 422


class Readable(Format):
    name, label, extensions, reads = "readable", "Readable", (".r",), True


class SpoiledFormat(Format):
    name, label, extensions, writes, validated = "spoiled", "Spoiled", (".s",), True, True

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        return WrittenPage("no")

    def validate(self, content: str) -> list[str]:
        return ["it is spoiled"]


def test_a_readable_format_is_409_and_an_invalid_export_500(
    engine: Engine, client: TestClient, page_document: str
) -> None:
    engine.drivers.give("armarium.formats", "readable", Readable)
    engine.drivers.give("armarium.formats", "spoiled", SpoiledFormat)
    send(client, page_document)
    refused = client.get(f"/api/documents/{page_document}/export/readable")
    assert (refused.status_code, refused.json()["code"]) == (409, "format_not_writable")
    broken = client.get(f"/api/documents/{page_document}/export/spoiled")
    assert (broken.status_code, broken.json()["code"]) == (500, "schema_invalid")
    assert broken.json()["problems"] == ["it is spoiled"]
    assert "content" not in broken.json()


def test_a_companion_file_gives_the_class_names(client: TestClient, page_document: str) -> None:
    labels = b"0 0.5 0.5 0.5 0.5\n"
    sent = [
        ("file", ("1.txt", labels, "text/plain")),
        ("companions", ("classes.txt", b"marginalia\n", "text/plain")),
    ]
    address = f"/api/documents/{page_document}/import"
    answer = client.post(address, files=sent)
    # The page has no picture, and label boxes are fractions of one.
    assert (answer.status_code, answer.json()["code"]) == (422, "no_page_size")
    sent[1] = ("companions", ("classes.txt", b"x" * (16 * 1024 * 1024 + 1), "text/plain"))
    answer = client.post(address, files=sent)
    assert (answer.status_code, answer.json()["code"]) == (413, "companion_too_large")
