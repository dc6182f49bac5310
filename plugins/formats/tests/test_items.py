"""What Tropy, Zotero and Omeka S exported comes in whole, a second time without doubles, and never from outside its folder."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from batch_files import rows

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.items import parts
from armarium_formats.items.reading import read_items
from armarium_testing.sample_files import SAMPLE_TROPY, sample_pdf, sample_picture

FAMILIES = ("documents", "source_model", "images", "formats")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(
        plugins=[importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    )


def take(engine: Engine, library: Library, path: Path) -> dict[str, Any]:
    return engine.run(library, "ingest.items", {"path": str(path)}, LOCAL_OWNER).result or {}


def export_in(folder: Path, **photo: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "1.png").write_bytes(sample_picture())
    found = orjson.loads(SAMPLE_TROPY)
    found["@graph"][0]["photo"][0] |= photo
    (folder / "items.json").write_bytes(orjson.dumps(found))
    return folder / "items.json"


def test_an_item_becomes_a_document_with_its_metadata_notes_and_texts(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    file = export_in(tmp_path / "box", angle=90)
    answer = take(engine, library, file)
    counts = {name: answer[name] for name in ("items", "new", "pages", "notes", "passes")}
    assert counts == {"items": 1, "new": 1, "pages": 1, "notes": 2, "passes": 1}
    assert {loss["what"] for loss in answer["losses"]} == {
        "a turned or adjusted view of a photo",
        "formatting of a note",
    }
    ((name, kind, attributes, kept, folder, above),) = rows(
        library,
        "SELECT g.name, g.doc_type, g.attributes, g.source_metadata, f.name, a.name FROM document g JOIN document f"
        " ON f.id = g.parent_id JOIN document a ON a.id = f.parent_id WHERE g.id = ?",
        answer["document_ids"][0],
    )
    assert (name, kind, folder, above) == ("Letter to Ana", "group", "Family", "Letters")
    assert orjson.loads(attributes) == {"title": "Letter to Ana", "date": "1742-05-03", "tags": ["damaged"]}
    assert orjson.loads(kept)["tropy"]["properties"]["date"] == {
        "uri": "http://purl.org/dc/elements/1.1/date",
        "type": "https://tropy.org/v1/tropy#date",
    }
    notes = rows(library, "SELECT text, anchor FROM annotation ORDER BY text")
    assert [(text, orjson.loads(anchor)["rect"]) for text, anchor in notes] == [
        ("A second hand", [0, 0, 1, 1]),
        ("Red wax", pytest.approx([0.1, 0.1, 0.2, 0.2])),
    ]
    texts = rows(library, "SELECT content FROM content_representation ORDER BY content")
    assert texts == [("Dear Ana",), ("I am well",)]

    again = take(engine, library, file)
    assert (again["equal"], again["pages"], again["notes"], again["passes"]) == (1, 0, 0, 0)
    # A value changed here stays; a value changed in Tropy arrives.
    changed = {"title": "Letter to Anna", "date": "1742-05-03", "tags": ["damaged"]}
    engine.run(
        library,
        "document.update",
        {"document_id": answer["document_ids"][0], "attributes": changed},
        LOCAL_OWNER,
    )
    found = orjson.loads(file.read_bytes())
    found["@graph"][0] |= {"date": "1742-05-04", "title": "Letter to A."}
    file.write_bytes(orjson.dumps(found))
    third = take(engine, library, file)
    assert (third["changed"], third["pages"], third["document_ids"]) == (1, 0, answer["document_ids"])
    ((attributes,),) = rows(
        library, "SELECT attributes FROM document WHERE id = ?", answer["document_ids"][0]
    )
    assert orjson.loads(attributes) == changed | {"date": "1742-05-04"}
    assert "a value that was changed here" in {loss["what"] for loss in third["losses"]}


def test_what_a_selection_is_called_now_arrives_unless_it_was_changed_here(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    def take_selection(title: str | None) -> list[str]:
        selection = {"@type": "Selection", "x": 100, "y": 140, "width": 200, "height": 280}
        named = selection if title is None else {**selection, "title": title}
        answer = take(engine, library, export_in(tmp_path / "box", note=[], selection=[named]))
        return [loss["what"] for loss in answer["losses"]]

    def texts() -> list[tuple[Any, ...]]:
        return rows(library, "SELECT text FROM annotation")

    for title in ("Seal", "Signet", None, "Seal"):
        assert (take_selection(title), texts()) == ([], [(title,)])
    ((annotation_id,),) = rows(library, "SELECT id FROM annotation")
    corrected = {"annotation_id": annotation_id, "text": "Seal of Ana"}
    engine.run(library, "annotation.update", corrected, LOCAL_OWNER)
    assert take_selection("Signet") == ["a value that was changed here"]
    assert texts() == [("Seal of Ana",)]


OUTSIDE = (
    ("/etc/hostname", "file"),
    ("../secret.png", "file"),
    ("link.png", "file"),
    ("http://localhost/1.png", "http"),
    ("https://localhost/1.png", "file"),
    ("gone.png", "file"),
    ("", "file"),
)


def test_a_photo_outside_the_folder_is_refused_in_words(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "secret.png").write_bytes(sample_picture())
    for number, (path, protocol) in enumerate(OUTSIDE):
        file = export_in(tmp_path / f"box {number}", path=path, protocol=protocol)
        (file.parent / "link.png").symlink_to(tmp_path / "secret.png")
        answer = take(engine, library, file)
        assert (answer["items"], answer["pages"], len(answer["refused"])) == (1, 0, 1), path
        assert answer["refused"][0]["why"].endswith("."), path


def test_a_photo_that_cannot_be_taken_is_refused_and_its_item_comes_in(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    for name, content, why in (
        ("2.png", b"no picture", "It cannot be taken: "),
        ("2.pdf", sample_pdf(), "It is a page of a file of several pages; import that file itself."),
    ):
        file = export_in(tmp_path / name, path=name)
        (file.parent / name).write_bytes(content)
        answer = take(engine, library, file)
        (refused,) = answer["refused"]
        assert (answer["items"], answer["pages"], refused["file"]) == (1, 0, name)
        assert refused["why"].startswith(why), refused


def test_a_folder_and_an_export_of_too_many_files_are_refused(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = export_in(tmp_path / "box")
    with pytest.raises(Invalid, match="Name the file that was exported, of at most 256 MiB") as refused:
        take(engine, library, file.parent)
    assert (refused.value.status, refused.value.code) == (422, "not_items")
    monkeypatch.setattr(parts, "MAX_FILES", 0)
    with pytest.raises(Invalid, match=r"items\.json has more than 0 files; export fewer items") as refused:
        take(engine, library, file)
    assert (refused.value.status, refused.value.code) == (422, "too_many_files")


def test_a_full_path_of_another_machine_stands_for_the_file_beside_it_with_its_checksum(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    checksum = hashlib.md5(sample_picture()).hexdigest()
    file = export_in(tmp_path / "box", path="C:\\Photos\\1.png", checksum=checksum)
    assert take(engine, library, file)["pages"] == 1


def test_what_is_not_an_export_is_refused_and_older_shapes_are_read() -> None:
    for wrong in (
        b"",
        b"{}",
        b"[1]",
        b'{"@graph": []}',
        b"[" * 2000,
        b"<a/>",
        b"a,b\n1,2",
        b'{"items": [3]}',
    ):
        with pytest.raises(Invalid):
            read_items(wrong, "x.json")
    older = [
        {
            "@context": {
                "@vocab": "https://tropy.org/v1/tropy#",
                "dc": "http://purl.org/dc/elements/1.1/",
                "creator": "dc:creator",
                "photo": {"@container": "@list", "@context": {"heading": "dc:title"}},
            },
            "template": "https://example.org/t",
            "@graph": [{"creator": "Ana", "photo": {"@list": [{"heading": "f. 1"}]}, "list": ["A\\/B/C"]}],
        }
    ]
    (item,) = read_items(b"\xef\xbb\xbf" + orjson.dumps(older), "x.json").items
    assert item.metadata["http://purl.org/dc/elements/1.1/creator"][0].value == "Ana"
    assert (item.own["template"], item.lists) == ("https://example.org/t", [("A/B", "C")])
    assert item.parts[0].title == "f. 1"


ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit></Description>
<Layout><Page WIDTH="1000" HEIGHT="1400" PHYSICAL_IMG_NR="1" ID="p"><PrintSpace HPOS="0" VPOS="0" WIDTH="1000" HEIGHT="1400">
<TextBlock ID="b" HPOS="100" VPOS="100" WIDTH="800" HEIGHT="80"><TextLine ID="l" HPOS="100" VPOS="100" WIDTH="800" HEIGHT="80">
<String CONTENT="Dear" HPOS="100" VPOS="100" WIDTH="300" HEIGHT="80"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>"""


def test_an_embedded_alto_is_a_pass_with_its_layout_and_a_broken_one_a_loss(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    texts = [{"text": "old", "alto": ""}, {"text": "Dear", "alto": ALTO}]
    file = export_in(tmp_path / "box", transcription=texts, selection=[])
    answer = take(engine, library, file)
    assert (answer["passes"], [loss["what"] for loss in answer["losses"]]) == (
        1,
        ["an earlier transcription", "formatting of a note"],
    )
    found_rows = rows(library, "SELECT bbox_x, bbox_w FROM segment WHERE kind = 'line'")
    assert found_rows == [(pytest.approx(0.1), pytest.approx(0.8))]
    broken = export_in(tmp_path / "other", transcription=[{"text": "Dear", "alto": "<alto"}], selection=[])
    lost = take(engine, library, broken)
    assert lost["passes"] == 0
    assert any(loss["what"].startswith("the layout of a transcription") for loss in lost["losses"])


ZOTERO = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/">
 <bib:Letter rdf:about="#item_7"><z:itemType>letter</z:itemType>
  <dcterms:isPartOf><bib:Series><dc:title>Box 3</dc:title></bib:Series></dcterms:isPartOf>
  <bib:authors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Ruiz</foaf:surname><foaf:givenname>Ana</foaf:givenname></foaf:Person></rdf:li>
  </rdf:Seq></bib:authors><dc:subject>damaged</dc:subject>
  <dc:subject><z:AutomaticTag><rdf:value>auto</rdf:value></z:AutomaticTag></dc:subject>
  <link:link rdf:resource="#item_8"/><link:link rdf:resource="#item_9"/><link:link rdf:resource="#item_10"/>
  <dcterms:isReferencedBy rdf:resource="#item_11"/>
  <dc:identifier><dcterms:URI><rdf:value>https://example.org/7</rdf:value></dcterms:URI></dc:identifier>
  <dc:date>1742-05-03</dc:date><dc:title>Letter to Ana</dc:title></bib:Letter>
 <z:Attachment rdf:about="#item_8"><z:itemType>attachment</z:itemType><rdf:resource rdf:resource="files/8/1.png"/>
  <dc:title>f. 1r</dc:title></z:Attachment>
 <z:Attachment rdf:about="#item_9"><z:itemType>attachment</z:itemType><rdf:resource rdf:resource="files/9/two.pdf"/></z:Attachment>
 <z:Attachment rdf:about="#item_10"><z:itemType>attachment</z:itemType><rdf:resource rdf:resource="../../secret.png"/></z:Attachment>
 <bib:Memo rdf:about="#item_11"><rdf:value>&lt;p&gt;A &lt;b&gt;second&lt;/b&gt; hand&lt;/p&gt;</rdf:value></bib:Memo>
 <z:Collection rdf:about="#collection_1"><dc:title>Letters</dc:title><dcterms:hasPart rdf:resource="#collection_2"/></z:Collection>
 <z:Collection rdf:about="#collection_2"><dc:title>Family</dc:title><dcterms:hasPart rdf:resource="#item_7"/>
  <dcterms:hasPart rdf:resource="#collection_1"/></z:Collection>
</rdf:RDF>"""


def test_what_zotero_exported_as_rdf_comes_in_as_a_job_and_is_updated_by_its_keys(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    for name, data in (("8/1.png", sample_picture()), ("9/two.pdf", sample_pdf("one", "two"))):
        (tmp_path / "box" / "files" / name).parent.mkdir(parents=True)
        (tmp_path / "box" / "files" / name).write_bytes(data)
    file = tmp_path / "box" / "items.rdf"
    # Collections that contain each other have no beginning; that of the second is put right first.
    file.write_text(ZOTERO.replace('<dcterms:hasPart rdf:resource="#collection_1"/>', ""))
    started = engine.run(library, "ingest.items_job", {"path": str(file)}, LOCAL_OWNER).result or {}
    engine.jobs.run_until_idle(library)
    ((state, told),) = rows(
        library, "SELECT state || COALESCE(reason, ''), result FROM job WHERE id = ?", started["job_id"]
    )
    assert state == "done"
    answer = orjson.loads(told)
    assert (state, answer["program"], answer["new"], answer["pages"], answer["notes"]) == (
        "done",
        "zotero",
        1,
        3,
        1,
    )
    assert [entry["file"] for entry in answer["refused"]] == ["../../secret.png"]
    ((attributes, folder),) = rows(
        library,
        "SELECT g.attributes, f.name FROM document g JOIN document f ON f.id = g.parent_id WHERE g.id = ?",
        answer["document_ids"][0],
    )
    assert folder == "Family"
    assert orjson.loads(attributes) == {
        "itemType": "letter",
        "series": "Box 3",
        "author": "Ruiz, Ana",
        "url": "https://example.org/7",
        "date": "1742-05-03",
        "title": "Letter to Ana",
        "tags": ["damaged", "auto"],
    }
    counted = rows(library, "SELECT count(*) FROM document WHERE doc_type IN ('page', 'file')")
    assert counted == [(4,)], "a picture, and a PDF with two pages"
    # Moved within the project and changed in Zotero, it is the same document by its key.
    file.write_text(file.read_text().replace("1742-05-03", "1743").replace("Letter to Ana", "Letter to Anna"))
    again = take(engine, library, file)
    assert (again["changed"], again["pages"], again["notes"]) == (1, 0, 0)
    assert again["document_ids"] == answer["document_ids"]
    file.write_text(ZOTERO)
    assert take(engine, library, file)["equal"] == 0, "collections in a circle leave no item out"


def test_better_bibtex_and_csl_of_one_item_are_the_same_document(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    uri = "http://zotero.org/users/1/items/ABCD2345"
    (tmp_path / "1.png").write_bytes(sample_picture())
    item = {
        "itemType": "letter", "itemID": 7, "uri": uri, "title": "Letter", "date": "1742", "tags": [{"tag": "seal"}],
        "creators": [{"creatorType": "author", "lastName": "Ruiz", "firstName": "Ana"}], "notes": [{"note": "<p>Red</p>"}],
        "attachments": [{"path": "1.png", "title": "f. 1"}, {"url": "https://example.org/7", "title": "Link"}],
    }  # fmt: skip
    two = {
        "A": {"name": "Box", "items": [], "parent": ""},
        "B": {"name": "1742", "items": [7], "parent": "A"},
    }
    (tmp_path / "b.json").write_bytes(orjson.dumps({"items": [item], "collections": two}))
    first = take(engine, library, tmp_path / "b.json")
    assert (first["new"], first["pages"], first["notes"], first["refused"]) == (1, 1, 1, [])
    csl = {
        "id": uri,
        "type": "personal_communication",
        "title": "Letter",
        "issued": {"date-parts": [[1742, 5, 3]]},
    }
    (tmp_path / "c.json").write_bytes(orjson.dumps([csl]))
    second = take(engine, library, tmp_path / "c.json")
    assert (second["changed"], second["document_ids"]) == (1, first["document_ids"])


def test_a_table_of_omeka_comes_in_with_the_files_beside_it(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "1 a.png").write_bytes(sample_picture())
    file = tmp_path / "items.csv"
    file.write_text(
        "Identifier\tDublin Core:Title\tdcterms:rightsHolder\tTags\tMedia url\naa\tLetter\tAna\tred | blue\t"
        "https://localhost/x/1%20a.png | https://localhost/gone.png\nbb\t\t\t\t\naa\tLetter\t\t\t../../etc/x.png\n"
    )
    answer = take(engine, library, file)
    assert (answer["program"], answer["new"], answer["pages"], len(answer["refused"])) == ("omeka", 2, 1, 2)
    ((attributes,),) = rows(
        library, "SELECT attributes FROM document WHERE id = ?", answer["document_ids"][0]
    )
    assert orjson.loads(attributes) == {
        "identifier": "aa", "title": "Letter", "rightsHolder": "Ana", "tags": ["red", "blue"]
    }  # fmt: skip
    assert take(engine, library, file)["equal"] == 2


def test_items_whose_files_are_not_there_are_not_doubled_the_second_time(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    sums = (hashlib.md5(sample_picture()).hexdigest(), "b" * 32, "c" * 32)
    photos = [
        {"checksum": checksum, "path": f"C:\\box\\{checksum[0]}.png", "protocol": "file"} for checksum in sums
    ]
    typed = {"@id": "http://purl.org/dc/elements/1.1/date", "@type": "https://tropy.org/v1/tropy#date"}
    items = [{"title": "Untitled", "photo": [{**photos[0], "date": 1671633752000}, photos[1]]}]
    items += [{"title": "Untitled", "photo": [photos[2]]}, {"title": "Untitled"}, {"title": "Untitled"}]
    terms = {"title": "http://purl.org/dc/elements/1.1/title", "date": typed}
    file = tmp_path / "items.json"
    file.write_bytes(orjson.dumps({"@context": terms, "@graph": items}))
    first = take(engine, library, file)
    assert (first["new"], len(first["refused"])) == (4, 3)
    again = take(engine, library, file)
    assert (again["equal"], again["document_ids"]) == (4, first["document_ids"])
    (tmp_path / f"{sums[0][0]}.png").write_bytes(sample_picture())
    later = take(engine, library, file)
    assert (later["changed"], later["pages"], later["document_ids"]) == (1, 1, first["document_ids"])
    ((told,),) = rows(library, "SELECT attributes FROM document WHERE attributes LIKE '%date%'")
    assert orjson.loads(told) == {"date": "2022-12-21T14:42:32Z"}


def test_two_libraries_of_zotero_that_number_alike_stay_apart(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    path, other_path = tmp_path / "one.rdf", tmp_path / "other.rdf"
    path.write_text(ZOTERO)
    other_path.write_text(
        f'{ZOTERO.partition("<bib:Letter")[0]}<bib:Book rdf:about="#item_7"><z:itemType>letter</z:itemType>'
        "<dc:title>Quite another letter</dc:title></bib:Book></rdf:RDF>"
    )
    first, second = take(engine, library, path), take(engine, library, other_path)
    assert (second["new"], first["document_ids"] == second["document_ids"]) == (1, False)
    for file, ids in ((path, first["document_ids"]), (other_path, second["document_ids"])):
        assert take(engine, library, file)["document_ids"] == ids


def test_further_shapes_that_other_programs_write_are_read(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    text = "Identifier,Dublin Core:Title,Media html,Media url\naa,Letter,<p>Foo <b>aa</b></p>,"
    two = '"http://localhost/1.png, https://localhost/2,5.png"\n'
    (item,) = read_items((text + two).encode(), "items.csv").items
    assert [note.text for note in item.notes] == ["Foo aa"]
    assert [part.own["filename"] for part in item.parts] == ["1.png", "2,5.png"]
    csl = [{"id": "a", "type": "graphic", "title": "A", "categories": ["maps", "plans"]}]
    (item,) = read_items(orjson.dumps(csl), "csl.json").items
    stated = item.metadata["http://www.zotero.org/namespaces/export#categories"]
    assert [item.value for item in stated] == ["maps", "plans"]
    folder = tmp_path / "box" / "files" / "8"
    folder.mkdir(parents=True)
    (folder / "f. 1.png").write_bytes(sample_picture())
    file = tmp_path / "box" / "items.rdf"
    file.write_text(
        ZOTERO.replace("files/8/1.png", "files/8/f.%201.png").replace("../../secret", "..%2f..%2fetc%00")
    )
    answer = take(engine, library, file)
    assert (answer["pages"], len(answer["refused"])) == (1, 2)
