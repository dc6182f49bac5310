"""METS files ingested with the files they name: order, labels and pairs are used, the rest is preserved with
the folder.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import published_schemas
import pytest
from batch_files import page, picture, reasons, rows, send, take, write_files
from mets_files import volume, without_structure, workspace
from test_folder_import import import_and_wait

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.jobs import layouts
from armarium_formats.mets.reader import read_mets
from armarium_formats.opening import MAX_FILE_BYTES
from armarium_testing.digest import differences, table_digests
from armarium_testing.kills import Killed, KilledContext
from armarium_testing.samples import sample

Bring = Callable[[Engine, Library, Path, dict[str, bytes]], dict[str, Any]]


def zip_files(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"box/{name}", data)
    return file.getvalue()


def by_folder(engine: Engine, library: Library, place: Path, files: dict[str, bytes]) -> dict[str, Any]:
    write_files(place / "box", files)
    return import_and_wait(engine, library, folder=str(place / "box"))[1]


def by_zip(engine: Engine, library: Library, place: Path, files: dict[str, bytes]) -> dict[str, Any]:
    return send(engine, library, {"box.zip": zip_files(files)})


def by_names(engine: Engine, library: Library, place: Path, files: dict[str, bytes]) -> dict[str, Any]:
    return send(engine, library, {f"box/{name}": data for name, data in files.items()})


WAYS = pytest.mark.parametrize("bring", [by_folder, by_zip, by_names])


def pages_in(library: Library, folder: str) -> list[tuple[str, str | None]]:
    """Return the names and labels of a folder's pictures in their order."""
    return [
        (name, label)
        for name, label in rows(
            library,
            "SELECT d.name, d.page_label FROM document d JOIN document f ON f.id = d.parent_id"
            " WHERE f.name = ? AND d.deleted_at IS NULL AND d.doc_type = 'file' ORDER BY d.sort_order",
            folder,
        )
    ]


PASSES = (
    "SELECT f.name, d.name, p.name, r.content FROM segment_pass p JOIN document d ON d.id = p.document_id"
    " JOIN document f ON f.id = d.parent_id JOIN content_representation r ON r.document_id = d.id"
    " JOIN segment s ON s.id = r.segment_id AND s.pass_id = p.id ORDER BY r.content"
)


@WAYS
def test_a_workspace_is_ingested_by_its_mets(
    engine: Engine, library: Library, tmp_path: Path, bring: Bring
) -> None:
    answer = bring(engine, library, tmp_path, workspace())
    for group in ("OCR-D-IMG", "OCR-D-BIN"):
        assert pages_in(library, group) == [
            ("FILE_0003.png", "fol. 1"),
            ("FILE_0001.png", "fol. 2"),
            ("FILE_0002.png", "fol. 3"),
        ]
    # Each layout group becomes a pass of its own, on the scan and not on the binarised picture.
    assert rows(library, PASSES) == [
        ("OCR-D-IMG", f"FILE_000{n}.png", f"{group}: FILE_000{n}.xml", f"{text} {n}")
        for group, text in (("OCR-D-OCR", "machine"), ("OCR-D-GT-PAGE", "truth"))
        for n in (1, 2, 3)
    ]
    (used,) = answer["mets"]
    assert (used["pages"], used["pictured"], used["labelled"], used["ordered"]) == (3, 3, 6, 6)
    assert used["fields"] == {"identifier": ["http://resolver.example/PPN1"]}
    assert (answer["refused"], answer["unpaired"], used["notes"]) == ([], [], [])
    assert rows(library, "SELECT count(*) FROM document WHERE name LIKE 'OCR-D-OCR%'") == [(0,)]


def test_files_sent_without_folders_are_matched_by_name(engine: Engine, library: Library) -> None:
    files = without_structure()
    answer = send(engine, library, {name.rpartition("/")[2]: data for name, data in files.items()})
    assert [page_pass["paired_by"] for page_pass in answer["passes"]] == ["mets", "mets"]
    assert answer["mets"][0]["pictured"] == 2


@pytest.mark.parametrize(
    "address",
    [
        "file:///D:/scans/images/{}",
        "https://example.org/iiif/{}/full/full/0/default.jpg",
        "../images/{}",
        "D:\\scans\\{}",
    ],
)
def test_pages_stated_at_other_places_are_ordered_by_the_names_of_their_pictures(
    engine: Engine, library: Library, tmp_path: Path, address: str
) -> None:
    stated = "".join(
        f'<mets:file ID="F{n}" MIMETYPE="image/png"><mets:FLocat LOCTYPE="URL" xlink:href="{address.format(f"a%20{n}.png")}"/>'
        "</mets:file>"
        for n in (1, 2)
    )
    divs = "".join(
        f'<mets:div TYPE="page" ORDER="{at}" ORDERLABEL="{at}r"><mets:fptr FILEID="F{n}"/></mets:div>'
        for at, n in ((1, 2), (2, 1))
    )
    mets = (
        '<mets:mets xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"><mets:fileSec>'
        f'<mets:fileGrp USE="IMG">{stated}</mets:fileGrp></mets:fileSec><mets:structMap TYPE="PHYSICAL"><mets:div>{divs}'
        "</mets:div></mets:structMap></mets:mets>"
    )
    files = {"mets.xml": mets.encode(), "scans/a 1.png": picture(grey=1), "scans/a 2.png": picture(grey=2)}
    by_folder(engine, library, tmp_path, files)
    assert pages_in(library, "scans") == [("a 2.png", "1r"), ("a 1.png", "2r")]


@WAYS
def test_without_a_structure_the_order_is_that_of_the_files(
    engine: Engine, library: Library, tmp_path: Path, bring: Bring
) -> None:
    answer = bring(engine, library, tmp_path, without_structure())
    assert [name for name, _ in pages_in(library, "scans")] == ["2.png", "1.png"]
    assert "the order is that of the files" in " ".join(answer["mets"][0]["notes"])


ODD = {
    "../outside.png": "leads out of the METS file's folder",
    "/etc/passwd": "full path",
    "file:///etc/hostname": "full path",
    "https://a.example/x.png": "nothing is fetched",
}


@WAYS
def test_what_mets_states_about_the_work_is_preserved(
    engine: Engine, library: Library, client: Any, tmp_path: Path, bring: Bring
) -> None:
    answer = bring(engine, library, tmp_path, volume(tuple(ODD)))
    assert pages_in(library, "default") == [("2.png", "1r"), ("1.png", None)]
    # Of DEFAULT, MAX and THUMBS, the first that has the picture is the page.
    assert rows(library, PASSES) == [("default", "2.png", "FULLTEXT: 2.xml", "Liebe Schwester")]
    (used,) = answer["mets"]
    told = " ".join(used["notes"])
    assert "1 of its 3 pages have no picture here: 3." in told
    assert "1 files that it names were not included: fulltext/1.xml." in told
    why = reasons(answer, "refused")
    for href, words in ODD.items():
        assert words in next(reason for place, reason in why.items() if place.endswith(f"volume.xml: {href}"))
    # What the METS file states beyond order, labels and pairs.
    ((box,),) = rows(library, "SELECT id FROM document WHERE name = 'box'")
    (item,) = client.get(f"/api/documents/{box}/mets").json()["items"]
    assert (item["title"], item["described"]["identifier"]) == ("Die Briefe der Anna", "oai:example:1")
    assert item["parts"] == [
        {
            "type": "volume",
            "label": "Briefe",
            "order_label": "",
            "pages": [],
            "parts": [
                {
                    "type": "letter",
                    "label": "An die Schwester",
                    "order_label": "",
                    "pages": [1, 2],
                    "parts": [],
                }
            ],
        }
    ]
    assert {one["what"]: one["count"] for one in item["kept"]} == {
        "administrative sections": 1,
        "descriptions of parts": 1,
        "fields of the description": 4,
        "parts of the logical structure": 2,
    }
    original = client.get(f"/api/documents/{box}/mets/{item['id']}/original")
    assert original.content == volume(tuple(ODD))["volume.xml"]
    response = client.get(f"/api/documents/{box}").json()["source_metadata"]
    assert response == {
        "title": "Die Briefe der Anna",
        "creator": "Anna Weber",
        "date": "1750",
        "shelfmark": "Ms. 12",
    }
    assert client.get(f"/api/documents/{box}/mets/{box}/original").status_code == 404


@WAYS
def test_one_undo_removes_everything_ingested(
    engine: Engine, library: Library, tmp_path: Path, bring: Bring
) -> None:
    def digests() -> dict[str, str]:
        return table_digests(library.db, engine.library_schema)

    before = digests()
    bring(engine, library, tmp_path, volume())
    ((first,),) = rows(
        library, "SELECT min(seq) FROM audit WHERE action_name IN ('document.import', 'ingest.batch')"
    )
    steps = [row[0] for row in rows(library, "SELECT id FROM audit WHERE seq >= ? ORDER BY seq", first)]
    engine.undo(library, steps, LOCAL_OWNER)
    tables = ("document", "rendition", "segment", "segment_pass", "format_import", "format_mets")
    assert [difference for difference in differences(before, digests()) if difference in tables] == []


def test_the_same_folder_again_changes_nothing_that_a_person_changed(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    by_folder(engine, library, tmp_path, workspace())
    ids = dict(
        rows(
            library,
            "SELECT d.name, d.id FROM document d JOIN document f ON f.id = d.parent_id WHERE f.name = 'OCR-D-IMG'",
        )
    )
    ((folder,),) = rows(library, "SELECT id FROM document WHERE name = 'OCR-D-IMG'")
    move = {"ids": [ids["FILE_0001.png"]], "parent_id": folder, "after_id": None}
    engine.run(library, "document.move", move, LOCAL_OWNER)
    engine.run(
        library, "document.update", {"document_id": ids["FILE_0002.png"], "page_label": "mine"}, LOCAL_OWNER
    )
    wanted = [("FILE_0001.png", "fol. 2"), ("FILE_0003.png", "fol. 1"), ("FILE_0002.png", "mine")]
    again = by_folder(engine, library, tmp_path, workspace())
    assert (again["mets"], again["already"], again["passes"]) == ([], 7, 0)
    assert pages_in(library, "OCR-D-IMG") == wanted
    # Another METS file for the same pages: a person's changes stay, and the answer reports that.
    other = by_folder(engine, library, tmp_path, workspace((1, 2, 3)))
    assert pages_in(library, "OCR-D-IMG") == wanted
    told = " ".join(other["mets"][0]["notes"])
    assert "another label here" in told
    assert "by hand" in told
    assert [name for name, _ in pages_in(library, "OCR-D-BIN")] == [f"FILE_000{n}.png" for n in (1, 2, 3)]


def test_mets_sent_later_orders_existing_pages(engine: Engine, library: Library, tmp_path: Path) -> None:
    files = workspace()
    mets = files.pop("mets.xml")
    by_folder(engine, library, tmp_path, files)
    assert [name for name, _ in pages_in(library, "OCR-D-IMG")] == [f"FILE_000{n}.png" for n in (1, 2, 3)]
    write_files(tmp_path / "box", {"12345.xml": mets})
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert [name for name, _ in pages_in(library, "OCR-D-IMG")] == [f"FILE_000{n}.png" for n in (3, 1, 2)]
    assert found["mets"][0]["file"] == "12345.xml"


@pytest.mark.parametrize("name", ["mets.xml", "volume.mets"])
def test_mets_without_its_files_is_refused_by_name(
    engine: Engine, library: Library, client: Any, tmp_path: Path, name: str
) -> None:
    alone = volume()["volume.xml"]
    sent_answer = client.post("/api/documents/import-batch", files=[("files", (name, alone))])
    (path,) = write_files(tmp_path / "alone", {name: alone})
    named_answer = client.post("/api/ingest/files", json={"paths": [str(path)]})
    in_zip = client.post(
        "/api/documents/import-batch", files=[("files", ("a.zip", zip_files({name: alone})))]
    )
    for answer in (sent_answer, named_answer, in_zip):
        assert (answer.status_code, answer.json()["code"]) == (422, "nothing_came_in")
        assert "METS file of 3 pages, and none of their pictures was included" in answer.json()["detail"]
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "alone"))
    assert [one["file"] for one in found["unpaired"]] == [name]
    assert rows(library, "SELECT count(*) FROM format_mets") == [(0,)]


def test_mets_for_missing_pages_or_pages_without_a_common_folder_changes_nothing(
    engine: Engine, library: Library
) -> None:
    def make_document(name: str, doc_type: str, parent: str | None = None) -> str:
        node = {"name": name, "doc_type": doc_type, "parent_id": parent}
        return str((engine.run(library, "document.create", node, LOCAL_OWNER).result or {})["id"])

    box, other_document = make_document("Box 1", "folder"), make_document("Box 2", "folder")
    inside, elsewhere = make_document("1.png", "page", box), make_document("2.png", "page", other_document)
    before = table_digests(library.db, engine.library_schema)
    for pages, code, words in (
        ([(1, inside), (3, elsewhere)], "no_such_page", "mets.xml has 2 pages, so there is no page 3."),
        (
            [(1, inside), (2, elsewhere)],
            "no_folder",
            "No folder contains all of these pages; put them into one",
        ),
    ):
        params = {
            "file": without_structure()["mets.xml"],
            "filename": "mets.xml",
            "pages": [{"number": number, "document_ids": [one]} for number, one in pages],
        }
        with pytest.raises(Invalid) as refused:
            engine.run(library, "ingest.mets", params, LOCAL_OWNER)
        assert (refused.value.status, refused.value.code) == (422, code)
        assert refused.value.detail.startswith(words)
    assert differences(before, table_digests(library.db, engine.library_schema)) == []


def test_mets_whose_pictures_were_all_refused_is_refused_with_them(engine: Engine, library: Library) -> None:
    files = {
        f"x\x07/{name}": data for name, data in without_structure().items() if not name.startswith("ocr/")
    }
    before = table_digests(library.db, engine.library_schema)
    with pytest.raises(Invalid) as refused:
        send(engine, library, files)
    assert (refused.value.status, refused.value.code) == (422, "nothing_came_in")
    assert differences(before, table_digests(library.db, engine.library_schema)) == []
    # The files next to the METS file are imported, and it changes nothing there.
    answer = send(engine, library, {**files, "3.png": picture()})
    for told in (
        reasons({"refused": refused.value.fields["refused"]}, "refused"),
        reasons(answer, "refused"),
    ):
        assert told["x\x07/mets.xml"] == "None of the pictures of mets.xml was imported."
        assert "name of its folder" in told["x\x07/scans/1.png"]
    assert [document["name"] for document in answer["documents"]] == ["3.png"]
    assert answer["mets"] == []
    assert rows(library, "SELECT count(*) FROM format_mets") == [(0,)]


def test_oversized_mets_is_refused_and_the_other_files_are_ingested(
    engine: Engine, library: Library, client: Any, tmp_path: Path
) -> None:
    files = {
        name: data
        for name, data in without_structure().items()
        if name == "mets.xml" or name.endswith(".png")
    }
    mets, *pictures = write_files(tmp_path / "box", dict(sorted(files.items())))
    with mets.open("ab") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    before = table_digests(library.db, engine.library_schema)
    alone = client.post("/api/ingest/files", json={"paths": [str(mets)]})
    assert (alone.status_code, alone.json()["code"]) == (422, "nothing_came_in")
    assert differences(before, table_digests(library.db, engine.library_schema)) == []
    answer = take(engine, library, [mets, *pictures])
    assert (len(answer["documents"]), answer["mets"]) == (2, [])
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert (len(found["mets"]), found["already"]) == (0, 0)
    for told in (alone.json(), answer, found):
        assert reasons(told, "refused") == {
            "mets.xml": "mets.xml is a METS file of more than 64 MiB, which is not read; split it by volumes."
        }
    assert rows(library, "SELECT count(*) FROM format_mets") == [(0,)]


def test_a_batch_already_ingested_is_refused(engine: Engine, library: Library, client: Any) -> None:
    files = [("files", (f"box/{name}", data)) for name, data in workspace().items()]
    assert client.post("/api/documents/import-batch", files=files).status_code == 200
    second_answer = client.post("/api/documents/import-batch", files=files)
    assert (second_answer.status_code, second_answer.json()["code"]) == (409, "already_here")


def test_pairing_prefers_proportions_to_mets_and_mets_to_names(engine: Engine, library: Library) -> None:
    files = workspace((1, 2))
    # The file of page 2 names another picture, contradicting the METS file; that of page 1 has other
    # proportions.
    files["OCR-D-OCR/FILE_0002.xml"] = page("FILE_0001.png", text="machine 2")
    files["OCR-D-GT-PAGE/FILE_0001.xml"] = page("other.png", 300, 90, text="truth 1")
    files["other.png"] = picture(300, 90)
    answer = send(engine, library, files)
    found = {
        text: (name, called)
        for _, name, called, text in rows(library, PASSES.replace("JOIN document f", "LEFT JOIN document f"))
    }
    assert found["machine 2"][0] == "FILE_0002.png"
    assert found["truth 1"][0] == "other.png"
    (noted,) = [page_pass for page_pass in answer["passes"] if page_pass["file"] == "OCR-D-OCR/FILE_0002.xml"]
    assert any("paired with FILE_0002.png by a METS file" in note for note in noted["notes"])


def test_of_two_mets_files_for_the_same_pages_one_is_used(engine: Engine, library: Library) -> None:
    files = workspace()
    files["zz.xml"] = workspace((2, 1, 3))["mets.xml"]
    answer = send(engine, library, files)
    assert [name for name, _ in pages_in(library, "OCR-D-IMG")] == [f"FILE_000{n}.png" for n in (3, 1, 2)]
    assert [met["file"] for met in answer["mets"]] == ["mets.xml"]
    assert "none of their pictures" in reasons(answer)["zz.xml"]


@pytest.mark.parametrize("calls", sample(range(0, 30, 3), 5))
def test_a_kill_at_any_instant_loses_and_duplicates_nothing(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    write_files(tmp_path / "box", workspace())
    monkeypatch.setattr(type(engine.kinds), "of_stage", lambda self, stage: [])
    import_and_wait(engine, library, folder=str(tmp_path / "box"))
    ((parent,),) = rows(library, "SELECT id FROM document WHERE name = 'Sources'")
    args = layouts.LayoutJobArgs(
        paths=[], folder=str(tmp_path / "box"), parent_id=parent, mirrored="box", set_id="0"
    )
    ground: Any = KilledContext(engine, library, args, calls)
    try:
        found_layouts = layouts.run_layouts(ground)
    except Killed:
        ground = KilledContext(engine, library, args, 10_000, checkpoint=ground.kept)
        found_layouts = layouts.run_layouts(ground)
    assert (found_layouts["passes"], len(found_layouts["mets"]), found_layouts["refused"]) == (6, 1, [])
    assert [name for name, _ in pages_in(library, "OCR-D-IMG")] == [f"FILE_000{n}.png" for n in (3, 1, 2)]
    assert rows(library, "SELECT count(*) FROM format_mets") == [(1,)]


@pytest.mark.parametrize("made", [workspace, volume, without_structure])
def test_the_made_files_obey_the_published_schema(made: Callable[[], dict[str, bytes]]) -> None:
    from lxml import etree

    schema = published_schemas.xsd("mets.xsd")
    for name, data in made().items():
        if b"loc.gov/METS" in data[:300]:
            document = etree.fromstring(data)
            assert schema.validate(document), (name, schema.error_log)
            assert read_mets(data).pages


def test_mets_of_an_unknown_folder_is_404(client: Any) -> None:
    assert client.get("/api/documents/nothing/mets").status_code == 404


def test_the_paths_of_this_machine_are_paired_too(engine: Engine, library: Library, tmp_path: Path) -> None:
    paths = write_files(tmp_path / "box", workspace())
    answer = take(engine, library, paths)
    assert len(answer["passes"]) == 6
    assert answer["mets"][0]["pictured"] == 3


def test_a_folder_of_several_works_is_not_named_after_one_of_them(
    engine: Engine, library: Library, client: Any
) -> None:
    result = engine.run(library, "document.create", {"name": "Archive"}, LOCAL_OWNER).result or {}
    send(engine, library, {"other.png": picture(grey=1)}, parent_id=result["id"])
    send(engine, library, volume(), parent_id=result["id"])
    assert client.get(f"/api/documents/{result['id']}/mets").json()["count"] == 1
    assert client.get(f"/api/documents/{result['id']}").json()["source_metadata"] == {}


def test_a_record_with_many_names_is_truncated() -> None:
    many = "".join(f"<dc:n{n}>{'x' * 5000}</dc:n{n}>" for n in range(500))
    data = without_structure()["mets.xml"].decode()
    record = (
        '<mets:dmdSec ID="D"><mets:mdWrap MDTYPE="DC"><mets:xmlData>'
        f'<dc:r xmlns:dc="http://purl.org/dc/elements/1.1/">{many}</dc:r></mets:xmlData></mets:mdWrap></mets:dmdSec>'
    )
    fields = read_mets(
        data.replace("<mets:fileSec>", f"{record}<mets:fileSec>", 1).encode()
    ).description.fields
    assert len(fields) == 50
    assert max(len(value) for values in fields.values() for value in values) == 2000
