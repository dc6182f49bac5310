"""A provisional pass, which stands for the boxes of an older result, can be read, exported and compared by
its id, and is always marked provisional.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from batch_files import rows
from lxml import etree
from starlette.testclient import TestClient
from test_reimported_text import import_picture

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library

BOXES = [
    {"bbox": [0.1, 0.1, 0.8, 0.05], "text": "Muy señor mío", "level": "line", "confidence": 0.9},
    {"bbox": [0.1, 0.3, 0.8, 0.05], "text": "su carta", "level": "line"},
    {
        "bbox": [0.1, 0.2, 0.8, 0.05],
        "text": "recibí ayer",
        "level": "line",
        "metadata": {
            "polygon_px": [[100, 280], [900, 280], [900, 350], [100, 345]],
            "baseline_px": [[100, 340], [900, 341]],
            "pixel_frame": [1000, 1400],
        },
    },
    {"bbox": [0.1, 0.5, 0.8, 0.05], "level": "line"},
    {"bbox": [0.1, 0.6, 0.8, 0.3], "level": "block"},
]
TEXT = "Muy señor mío\nrecibí ayer\nsu carta"


@pytest.fixture
def old_result(engine: Engine, library: Library, tmp_path: Path) -> tuple[str, str]:
    """The ids of a page with a picture and an older result, and of its provisional pass."""
    page = import_picture(engine, library, tmp_path)
    result = engine.run(
        library,
        "artifact.create",
        {
            "document_id": page,
            "artifact_type": "transcription",
            "content": TEXT,
            "ocr_geometry": {"provider": "reader", "model": "m0", "boxes": BOXES},
        },
        LOCAL_OWNER,
    )
    return page, f"legacy:{(result.result or {})['id']}"


def without_ids(content: str) -> str:
    """Return a written file without its ids, references to them, times, and what it cites."""
    if not content.lstrip().startswith("<"):
        return content
    root = etree.fromstring(content.encode())
    for element in root.iter():
        for name in list(element.attrib):
            if re.search(r"(id|ref|REFS?|facs)$", str(name), re.IGNORECASE):
                del element.attrib[name]
    written = re.sub(r'"(box-\d+|s[0-9a-f]{32})(_block)?"', '""', etree.tostring(root, encoding="unicode"))
    written = re.sub(r'service:export/[^"<]*', "", written)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?", "", written)


def test_its_text_is_read_and_called_provisional(client: TestClient, old_result: tuple[str, str]) -> None:
    page, pass_id = old_result
    answer = client.get(f"/api/segments/document/{page}/text", params={"pass_id": pass_id}).json()
    assert (answer["text"], answer["pass_id"]) == (TEXT, pass_id)
    assert "provisional" in answer["notice"]


@pytest.mark.parametrize("name", ["pagexml", "alto", "tei", "plain-text"])
def test_its_export_is_what_it_will_be_once_it_is_converted(
    engine: Engine, library: Library, client: TestClient, old_result: tuple[str, str], name: str
) -> None:
    page, pass_id = old_result
    before = client.get(f"/api/documents/{page}/export/{name}", params={"pass_id": pass_id})
    assert before.status_code == 200, before.text
    choices = before.json()["choices"]
    assert (choices["pass_id"], choices["pass_name"], choices["segment_count"]) == (pass_id, "m0", 5)
    assert any("provisional" in note for note in choices["notes"])
    engine.run(library, "segment.convert_page", {"document_id": page}, LOCAL_OWNER)
    after = client.get(f"/api/documents/{page}/export/{name}").json()
    assert without_ids(before.json()["content"]) == without_ids(after["content"])
    assert before.json()["losses"] == after["losses"]
    assert not any("provisional" in note for note in after["choices"]["notes"])
    answer = client.get(f"/api/documents/{page}/export/{name}", params={"pass_id": pass_id})
    assert answer.status_code == 404


def test_it_is_compared_by_its_id(
    engine: Engine, library: Library, client: TestClient, old_result: tuple[str, str]
) -> None:
    page, pass_id = old_result
    artifact = pass_id.removeprefix("legacy:")

    def compare(reference: dict[str, Any], hypothesis: dict[str, Any]) -> Any:
        body = {"reference": reference, "hypothesis": hypothesis}
        return client.post(f"/api/documents/{page}/readings/compare", json=body)

    same_answer = compare({"artifact_id": artifact}, {"pass_id": pass_id}).json()
    assert [score["distance"] for score in same_answer["scores"]] == [0]
    assert same_answer["hypothesis_label"] == "m0 (provisional)"
    given = {"document_id": page, "file": TEXT.replace("recibí", "rexibi"), "filename": "a.txt"}
    result = engine.run(library, "format.import", given, LOCAL_OWNER).result or {}
    (score,) = compare({"pass_id": result["pass_id"]}, {"pass_id": pass_id}).json()["scores"]
    assert (score["distance"], score["reference_chars"]) == (2, len(TEXT))
    other = (
        engine.run(library, "document.create", {"name": "q", "doc_type": "page"}, LOCAL_OWNER).result or {}
    )
    body = {"reference": {"pass_id": pass_id}, "hypothesis": {"pass_id": pass_id}}
    refused = client.post(f"/api/documents/{other['id']}/readings/compare", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "other_document")
    assert compare({"pass_id": "legacy:none"}, {"pass_id": pass_id}).status_code == 404


def test_an_order_and_another_page_are_refused(
    engine: Engine, library: Library, client: TestClient, old_result: tuple[str, str]
) -> None:
    page, pass_id = old_result
    other = (
        engine.run(library, "document.create", {"name": "q", "doc_type": "page"}, LOCAL_OWNER).result or {}
    )
    made = (
        engine.run(
            library, "segment.pass_create", {"document_id": other["id"], "name": "By hand"}, LOCAL_OWNER
        ).result
        or {}
    )
    order = (
        engine.run(
            library,
            "reading_order.create",
            {"document_id": other["id"], "pass_id": made["id"], "name": "o", "kind": "imposed"},
            LOCAL_OWNER,
        ).result
        or {}
    )
    query = {"pass_id": pass_id, "order_id": order["id"]}
    refused = client.get(f"/api/documents/{page}/export/pagexml", params=query)
    assert (refused.status_code, refused.json()["code"]) == (422, "order_other_pass")
    elsewhere = client.get(f"/api/documents/{other['id']}/export/pagexml", params={"pass_id": pass_id})
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "other_document")
    # The requests wrote nothing.
    assert rows(library, "SELECT count(*) FROM segment") == [(0,)]
