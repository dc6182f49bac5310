"""What is written for Tropy, Zotero and Omeka S is read back by the readers of their own exports."""

from __future__ import annotations

import orjson
from exports_desk import Desk

from armarium_formats.items.reading import read_items
from armarium_testing.sample_files import sample_picture


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
    assert "annotations" not in {loss["what"] for one in answer["losses"] for loss in one["losses"]}
    data = (place / "tropy.json").read_bytes()
    assert orjson.loads(data)["@context"]["@vocab"] == "https://tropy.org/v1/tropy#"
    (item,) = read_items(data, "tropy.json").items
    assert (item.title, item.tags) == ("Letter to Ana", ["damaged"])
    assert item.metadata["http://purl.org/dc/elements/1.1/date"][0].value == "1742-05-03"
    first, second = item.parts
    assert first.text.split("\n")[:2] == ["Dear Ana", "I am well"]
    assert "<alto" in first.alto
    assert [note.text for note in first.notes] == ["a <second> hand"]
    (seal,) = first.parts
    assert [seal.number(name) for name in ("x", "y", "width", "height")] == [120, 180, 600, 450]
    assert (second.text, second.alto) == ("", "")

    place = desk.folder / "zotero"
    answer = desk.post("/api/export/receivers", receiver="zotero", scope_ids=[box], output_path=str(place))
    assert (answer["problems"], answer["losses"][0]["losses"][-1]["what"]) == ([], "places of annotations")
    (item,) = read_items((place / "items.rdf").read_bytes(), "items.rdf").items
    assert (item.title, item.tags, [part.own["path"] for part in item.parts]) == (
        "Letter to Ana",
        ["damaged"],
        ["files/1.png", "files/2.png"],
    )
    zotero = {
        address.rpartition("#")[2]: [item.value for item in found] for address, found in item.metadata.items()
    }
    assert zotero == {
        "itemType": ["manuscript"], "title": ["Letter to Ana"], "date": ["1742-05-03"], "extra": ["box: 4"]
    }  # fmt: skip
    texts = [note.text for note in item.notes]
    assert texts == ["Transcription\n1.png\nDear Ana\nI am well", "a <second> hand", "Seal"]
    place = desk.folder / "omeka"
    answer = desk.post("/api/export/receivers", receiver="omeka-s", scope_ids=[box], output_path=str(place))
    assert answer["problems"] == []
    lost = [loss["what"] for one in answer["losses"] for loss in one["losses"]]
    assert lost.count("annotations") == 1
    (item,) = read_items((place / "items.csv").read_bytes(), "items.csv").items
    assert (item.own["key"], item.title, item.tags) == (box, "Letter to Ana", ["damaged"])
    assert [part.own["path"] for part in item.parts] == ["1.png", "2.png"]
    written = {
        address.rpartition("/")[2]: [item.value for item in found] for address, found in item.metadata.items()
    }
    assert written["content"] == ["Dear Ana", "I am well"]
    assert (written["date"], written["urn:omeka:column:box"]) == (["1742-05-03"], ["4"])


def test_a_page_directly_in_a_folder_is_an_item_with_its_picture(desk: Desk) -> None:
    page = desk.page(desk.box("Loose"), "1.png", ["Dear Ana"])
    place = desk.folder / "zotero"
    desk.post("/api/export/receivers", receiver="zotero", scope_ids=[page], output_path=str(place))
    (item,) = read_items((place / "items.rdf").read_bytes(), "items.rdf").items
    assert (item.title, [part.own["path"] for part in item.parts]) == ("1.png", ["files/1.png"])


ZOTERO = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:link="http://purl.org/rss/1.0/modules/link/">
 <bib:Letter rdf:about="#item_7"><z:itemType>letter</z:itemType><dc:title>Letter</dc:title><link:link rdf:resource="#item_8"/></bib:Letter>
 <z:Attachment rdf:about="#item_8"><rdf:resource rdf:resource="1.png"/><dc:title>f. 1r</dc:title></z:Attachment>
 <z:Collection rdf:about="#collection_1"><dc:title>In/Out</dc:title><dcterms:hasPart rdf:resource="#collection_2"/></z:Collection>
 <z:Collection rdf:about="#collection_2"><dc:title>Family</dc:title><dcterms:hasPart rdf:resource="#item_7"/></z:Collection>
</rdf:RDF>"""


def test_collections_within_collections_and_titles_of_attachments_go_back_to_zotero(desk: Desk) -> None:
    (desk.folder / "box").mkdir()
    (desk.folder / "box" / "1.png").write_bytes(sample_picture())
    (desk.folder / "box" / "items.rdf").write_text(ZOTERO)
    result = desk.do("ingest.items", {"path": str(desk.folder / "box" / "items.rdf")})
    place, scope = desk.folder / "zotero", result["document_ids"]
    desk.post("/api/export/receivers", receiver="zotero", scope_ids=scope, output_path=str(place))
    (item,) = read_items((place / "items.rdf").read_bytes(), "items.rdf").items
    assert (item.lists, item.parts[0].title) == ([("In/Out", "Family")], "f. 1r")
