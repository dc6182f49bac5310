"""What is written for Tropy is read back by the reader of Tropy's own exports."""

from __future__ import annotations

import orjson
from exports_desk import Desk

from armarium_formats.tropy.reader import read_tropy


def test_a_document_is_written_as_an_item_and_read_back(desk: Desk) -> None:
    box = desk.box("Letter to Ana", doc_type="group")
    page = desk.page(box, "1.png", ["Dear Ana", "I am well"])
    desk.page(box, "2.png", [])
    given = {"date": "1742-05-03", "tags": ["damaged"], "box": 4}
    desk.do("document.update", {"document_id": box, "attributes": given})
    for rect, text in (([0, 0, 1, 1], "a <second> hand"), ([0.1, 0.2, 0.5, 0.5], "Seal")):
        anchor = {
            "document_id": page,
            "anchor_kind": "bbox",
            "kind": "note",
            "anchor": {"rect": rect},
            "text": text,
        }
        desk.do("annotation.create", anchor)
    place = desk.folder / "tropy"
    answer = desk.post("/api/export/receivers", receiver="tropy", scope_ids=[box], output_path=str(place))
    assert answer["problems"] == []
    data = (place / "tropy.json").read_bytes()
    assert orjson.loads(data)["@context"]["@vocab"] == "https://tropy.org/v1/tropy#"
    (item,) = read_tropy(data, "tropy.json")
    assert (item.title, item.tags) == ("Letter to Ana", ["damaged"])
    assert item.metadata["http://purl.org/dc/elements/1.1/date"][0].value == "1742-05-03"
    first, second = item.parts
    assert first.text.split("\n")[:2] == ["Dear Ana", "I am well"]
    assert "<alto" in first.alto
    assert [note.text for note in first.notes] == ["a <second> hand"]
    (seal,) = first.parts
    assert [seal.number(name) for name in ("x", "y", "width", "height")] == [120, 180, 600, 450]
    assert (second.text, second.alto) == ("", "")
