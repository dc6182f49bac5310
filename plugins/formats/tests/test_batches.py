"""Files ingested in one batch: pictures become documents, layout files become their passes, the others are
listed with the reason.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from batch_files import list_pairs, page, picture, reasons, rows, send, take, write_files

from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, Invalid, NotFound
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium_testing.digest import differences, table_digests


def test_a_picture_and_its_layout_file_become_a_document_and_a_pass(engine: Engine, library: Library) -> None:
    answer = send(engine, library, {"1.png": picture(), "1.xml": page("1.png")})
    (document,) = answer["documents"]
    (page_pass,) = answer["passes"]
    assert (document["name"], document["path"]) == ("1.png", None)
    assert (page_pass["document_id"], page_pass["file"], page_pass["paired_by"], page_pass["notes"]) == (
        document["id"],
        "1.xml",
        "declared",
        [],
    )
    assert (answer["unpaired"], answer["refused"]) == ([], [])
    assert rows(library, "SELECT kind FROM job WHERE id = ?", answer["job_id"]) == [("thumbnails",)]
    ((original,),) = rows(
        library, "SELECT original FROM format_import WHERE pass_id = ?", page_pass["pass_id"]
    )
    assert library.objects.open(original).read() == page("1.png")
    # The shapes are placed by the size of the picture in the same batch.
    assert rows(
        library,
        "SELECT count(*) FROM segment s JOIN rendition r ON r.id = json_extract(s.anchor, '$.rendition_id')"
        " WHERE r.document_id = ?",
        document["id"],
    ) == [(2,)]


def test_one_undo_takes_a_batch_back(engine: Engine, library: Library) -> None:
    before = table_digests(library.db, engine.library_schema)
    answer = send(
        engine,
        library,
        {"box/1.png": picture(), "box/page/1.xml": page("1.png"), "2.png": picture(grey=9)},
    )
    assert len(answer["documents"]) == 2
    engine.undo(library, [answer["audit_id"]], LOCAL_OWNER)
    assert differences(before, table_digests(library.db, engine.library_schema)) == []


@pytest.mark.parametrize(
    ("files", "expected", "by"),
    [
        ({"a.png": (120, 90), "z.xml": page("a.png")}, "a.png", "declared"),
        ({"a.png": (120, 90), "z.xml": page("C:\\scans\\A.PNG")}, "a.png", "declared"),
        ({"a.png": (120, 90), "z.xml": page("https://host/iiif/a.tif")}, "a.png", "declared"),
        ({"a.png": (120, 90), "a.xml": page("")}, "a.png", "name"),
        ({"a.png": (120, 90), "a.png.xml": page("")}, "a.png", "name"),
        ({"a.png": (120, 90), "a.page.xml": page("")}, "a.png", "name"),
        ({"a.png": (120, 90), "page/a.xml": page("")}, "a.png", "name"),
        ({"a.png": (120, 90), "alto/a.xml": page("")}, "a.png", "name"),
        ({"images/a.png": (120, 90), "labels/a.xml": page("")}, "a.png", "name"),
        ({"a.bin.png": (120, 90), "a.xml": page("")}, "a.bin.png", "name"),
        ({"a.png": (120, 90), "b.png": (80, 60), "z.xml": page("", 80, 60)}, "b.png", "size"),
        ({"a.png": (120, 90), "b.png": (80, 60), "z.xml": page("gone.jpg", 80, 60)}, "b.png", "size"),
        ({"a.png": (120, 90), "a.tif": (80, 60), "a.xml": page("", 80, 60)}, "a.tif", "name"),
        # Composed and decomposed forms of a letter are the same name.
        ({"\u00e9.png": (120, 90), "e\u0301.xml": page("")}, "\u00e9.png", "name"),
        ({"e\u0301.png": (120, 90), "x.xml": page("\u00e9.png")}, "\u00e9.png", "declared"),
    ],
)
def test_a_layout_file_finds_its_picture(
    engine: Engine, library: Library, files: dict[str, Any], expected: str, by: str
) -> None:
    answer = send(
        engine,
        library,
        {
            name: data if isinstance(data, bytes) else picture(*data, form="TIFF" if "tif" in name else "PNG")
            for name, data in files.items()
        },
    )
    assert list(list_pairs(answer).values()) == [expected]
    assert answer["passes"][0]["paired_by"] == by
    assert (answer["unpaired"], answer["refused"]) == ([], [])


def test_a_picture_of_the_same_name_in_another_folder_is_not_taken(engine: Engine, library: Library) -> None:
    answer = send(
        engine,
        library,
        {
            "one/1.png": picture(grey=1),
            "two/1.png": picture(grey=2),
            "one/page/1.xml": page("1.png", text="first"),
            "two/page/1.xml": page("1.png", text="second"),
        },
    )
    found_rows = rows(
        library,
        "SELECT f.name, r.content FROM content_representation r JOIN document d ON d.id = r.document_id"
        " JOIN document f ON f.id = d.parent_id ORDER BY f.name",
    )
    assert found_rows == [("one", "first"), ("two", "second")]
    assert len(answer["documents"]) == 2


@pytest.mark.parametrize(
    ("files", "file", "why"),
    [
        # Two pictures with the same stem.
        (
            {"a.png": 1, "a.jpg": 2, "a.xml": page("")},
            "a.xml",
            "Several pictures have its name: a.png and a.jpg",
        ),
        # A picture that is not in the batch.
        (
            {"a.png": 1, "z.xml": page("other.jpg", 500, 40)},
            "z.xml",
            "It belongs to other.jpg, and no picture",
        ),
        ({"a.png": 1, "z.xml": page("", 500, 40)}, "z.xml", "No picture of its name was included"),
        (
            {"a.png": 1, "a.xml": page("../../../etc/passwd", 500, 40)},
            "a.xml",
            "It has the name of a.png, but states that it belongs to passwd with 500 x 40 pixels",
        ),
        # Two pictures of the same size.
        (
            {"a.png": 1, "b.png": 2, "z.xml": page("gone.jpg")},
            "z.xml",
            "2 pictures and 1 layout files have it",
        ),
    ],
)
def test_a_layout_file_without_a_picture_is_listed_with_the_reason(
    engine: Engine, library: Library, files: dict[str, Any], file: str, why: str
) -> None:
    answer = send(
        engine,
        library,
        {
            name: data
            if isinstance(data, bytes)
            else picture(grey=data, form="JPEG" if "jpg" in name else "PNG")
            for name, data in files.items()
        },
    )
    assert answer["passes"] == []
    assert why in reasons(answer)[file]


def test_a_pair_by_file_name_is_noted_if_the_file_declares_another_name(
    engine: Engine, library: Library
) -> None:
    answer = send(engine, library, {"a.png": picture(), "a.xml": page("scan_0001.tif", 240, 180)})
    assert any(
        "The file names scan_0001.tif; it was paired with a.png" in note
        for note in answer["passes"][0]["notes"]
    )


def test_layout_files_are_paired_with_pictures_by_mets(engine: Engine, library: Library) -> None:
    mets = """<mets:mets xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink">
      <mets:fileSec><mets:fileGrp USE="OCR-D-IMG">
        <mets:file ID="i1" MIMETYPE="image/png"><mets:FLocat LOCTYPE="OTHER" xlink:href="img/left.png"/></mets:file>
      </mets:fileGrp><mets:fileGrp USE="OCR-D-SEG">
        <mets:file ID="l1" MIMETYPE="application/vnd.prima.page+xml"><mets:FLocat LOCTYPE="OTHER"
          xlink:href="seg/p17.xml"/></mets:file>
        <mets:file ID="l2" MIMETYPE="application/vnd.prima.page+xml"><mets:FLocat LOCTYPE="OTHER"
          xlink:href="../out/p18.xml"/></mets:file>
      </mets:fileGrp></mets:fileSec>
      <mets:structMap TYPE="PHYSICAL"><mets:div TYPE="physSequence"><mets:div TYPE="page" ID="P1">
        <mets:fptr FILEID="i1"/><mets:fptr FILEID="l1"/></mets:div></mets:div></mets:structMap></mets:mets>"""
    answer = send(
        engine,
        library,
        {
            "set/mets.xml": mets.encode(),
            "set/img/left.png": picture(),
            "set/img/right.png": picture(grey=3),
            "set/seg/p17.xml": page("derived_p17_bin.png"),
        },
    )
    assert list_pairs(answer) == {"set/seg/p17.xml": "left.png"}
    assert answer["passes"][0]["paired_by"] == "mets"
    assert [entry["file"] for entry in answer["refused"]] == ["set/mets.xml: ../out/p18.xml"]


def test_folders_are_mirrored_and_existing_ones_reused(engine: Engine, library: Library) -> None:
    first = send(engine, library, {"box/1.png": picture(grey=1)})
    second = send(engine, library, {"box/2.png": picture(grey=2), "box/inner/3.png": picture(grey=3)})
    places = rows(
        library,
        "SELECT d.name, f.name FROM document d JOIN document f ON f.id = d.parent_id WHERE d.doc_type = 'file'"
        " ORDER BY d.name",
    )
    assert places == [("1.png", "box"), ("2.png", "box"), ("3.png", "inner")]
    assert len(first["documents"]) + len(second["documents"]) == 3
    assert rows(library, "SELECT count(*) FROM document WHERE name = 'box'") == [(1,)]


def test_the_same_batch_again_is_refused_naming_the_document_and_the_pass(
    engine: Engine, library: Library
) -> None:
    files = {"1.png": picture(), "1.xml": page("1.png")}
    first = send(engine, library, files)
    before = table_digests(library.db, engine.library_schema)
    with pytest.raises(Conflict) as refused:
        send(engine, library, files)
    reasons_by_file = {entry["file"]: entry["why"] for entry in refused.value.body()["refused"]}
    assert first["documents"][0]["id"] in reasons_by_file["1.png"]
    assert first["passes"][0]["pass_id"] in reasons_by_file["1.xml"]
    assert differences(before, table_digests(library.db, engine.library_schema)) == []


def test_a_layout_file_that_comes_later_with_its_picture_joins_the_document(
    engine: Engine, library: Library
) -> None:
    first = send(engine, library, {"1.png": picture()})
    again = send(engine, library, {"1.png": picture(), "1.xml": page("1.png")})
    assert (again["documents"], again["job_id"]) == ([], None)
    assert again["passes"][0]["document_id"] == first["documents"][0]["id"]
    assert list(reasons(again, "refused")) == ["1.png"]


def test_a_picture_of_several_pages_takes_a_file_of_several(engine: Engine, library: Library) -> None:
    from PIL import Image

    file = io.BytesIO()
    sheets = [Image.new("L", (120, 90), grey) for grey in (10, 200)]
    sheets[0].save(file, "TIFF", save_all=True, append_images=sheets[1:])
    hocr = "".join(
        f"""<div class="ocr_page" id="p{number}" title="bbox 0 0 120 90; ppageno {number}">
        <span class="ocr_line" title="bbox 5 5 60 20">words {number}</span></div>"""
        for number in range(3)
    )
    html = f'<html><head><meta name="ocr-system" content="x"/></head><body>{hocr}</body></html>'
    answer = send(engine, library, {"book.tif": file.getvalue(), "book.hocr": html.encode()})
    found_rows = rows(
        library,
        "SELECT d.sequence, r.content FROM content_representation r JOIN document d ON d.id = r.document_id"
        " ORDER BY d.sequence",
    )
    assert found_rows == [(1, "words 0"), (2, "words 1")]
    assert reasons(answer) == {"book.hocr, page 3": "book.tif has 2 pages, so there is none for it."}


def test_files_of_this_machine_keep_their_paths(engine: Engine, library: Library, tmp_path: Path) -> None:
    paths = write_files(tmp_path, {"scans/1.png": picture(), "scans/page/1.xml": page("1.png")})
    answer = take(engine, library, paths)
    assert answer["documents"][0]["path"] == str(paths[0].resolve())
    assert list_pairs(answer) == {"1.xml": "1.png"}
    ((checksum,),) = rows(library, "SELECT checksum FROM rendition")
    assert library.objects.holds(checksum)


def test_linked_pictures_stay_where_they_are(engine: Engine, library: Library, tmp_path: Path) -> None:
    paths = write_files(tmp_path, {"1.png": picture(), "1.xml": page("1.png")})
    answer = take(engine, library, paths, link=True)
    ((checksum, linked),) = rows(
        library,
        "SELECT r.checksum, json_extract(d.metadata, '$.linked') FROM rendition r JOIN document d"
        " ON d.id = r.document_id",
    )
    assert linked == 1
    assert library.objects.path(checksum).resolve() == paths[0].resolve()
    assert len(answer["passes"]) == 1
    engine.undo(library, [answer["audit_id"]], LOCAL_OWNER)
    assert paths[0].read_bytes() == picture()


def test_a_zip_is_unpacked(engine: Engine, library: Library) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("export/1.png", picture())
        archive.writestr("export/page/1.xml", page("1.png"))
        archive.writestr("__MACOSX/export/._1.png", b"fork")
        archive.writestr("export/inner.zip", file.getvalue() or b"PK\x05\x06" + b"\0" * 18)
    answer = send(engine, library, {"export.zip": file.getvalue()})
    assert list_pairs(answer) == {"export/page/1.xml": "1.png"}
    assert rows(library, "SELECT name FROM document WHERE doc_type = 'folder' AND name = 'export'") == [
        ("export",)
    ]
    assert "archive within an archive" in reasons(answer, "refused")["export/inner.zip"]


def test_files_cannot_be_ingested_where_they_may_not_be(engine: Engine, library: Library) -> None:
    files = {"1.png": picture()}
    with pytest.raises(NotFound):
        send(engine, library, files, parent_id="0" * 32)
    viewer = Principal("person", "reader", "viewer")
    with pytest.raises(Forbidden):
        engine.run(library, "ingest.batch", {"files": [{"filename": "1.png", "file": picture()}]}, viewer)
    folder = engine.run(library, "document.create", {"name": "Letters"}, LOCAL_OWNER).result
    assert folder is not None
    engine.run(library, "document.lock", {"document_id": folder["id"], "locked": True}, LOCAL_OWNER)
    editor = Principal("person", "helper", "editor")
    params = {"files": [{"filename": "1.png", "file": picture()}], "parent_id": folder["id"]}
    with pytest.raises(Forbidden, match="locked"):
        engine.run(library, "ingest.batch", params, editor)
    assert rows(library, "SELECT count(*) FROM rendition") == [(0,)]


def test_a_batch_of_nothing_is_refused_with_every_reason(engine: Engine, library: Library) -> None:
    with pytest.raises(Invalid) as refused:
        send(
            engine,
            library,
            {"1.xml": page("gone.png"), "notes.xyz": b"\0\1\2", "empty.png": b"", "bad.png": b"x"},
        )
    body = refused.value.body()
    assert body["code"] == "nothing_came_in"
    assert [one["file"] for one in body["unpaired"]] == ["1.xml"]
    assert {entry["file"] for entry in body["refused"]} == {"notes.xyz", "empty.png", "bad.png"}
    with pytest.raises(Invalid, match="files"):
        send(engine, library, {})


def test_a_batch_within_another_step_is_examined_in_that_step(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    from armarium.api import ActionContext

    paths = write_files(tmp_path, {"1.png": picture(), "1.xml": page("1.png")})
    found: dict[str, Any] = {}

    def inside(ctx: ActionContext) -> None:
        found.update(ctx.run("ingest.files", {"paths": [str(path) for path in paths]}))

    engine.run(library, "document.create", {"name": "Beside"}, LOCAL_OWNER, in_transaction=inside)
    assert len(found["passes"]) == 1


def test_a_newspaper_package_pairs_by_its_mets(engine: Engine, library: Library) -> None:
    """A newspaper issue as digitisation programs deliver it: file names that do not match, `file://./` paths,
    and articles beside pages.
    """

    def file(identity: str, kind: str, href: str) -> str:
        return f'<file ID="{identity}" GROUPID="{identity[-1]}" MIMETYPE="{kind}"><FLocat LOCTYPE="URL" xlink:href="{href}"/></file>'

    numbers = (1, 2)
    images = "".join(
        file(f"IMG{number}", "image/tiff", f"file://./IMG/scan{number}.tif") for number in numbers
    )
    texts = "".join(
        file(f"ALTO{number}", "text/xml", f"file://./ALTO/p-{number}-alto.xml") for number in numbers
    )
    pages = "".join(
        f'<div TYPE="PAGE" ORDER="{number}"><fptr><par><area FILEID="IMG{number}"/><area FILEID="ALTO{number}" BETYPE="IDREF" BEGIN="P{number}"/>'
        "</par></fptr></div>"
        for number in numbers
    )
    mets = (
        '<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink" TYPE="Newspaper"><fileSec>'
        f'<fileGrp ID="CONTENT"><fileGrp USE="Images">{images}</fileGrp><fileGrp USE="Text">{texts}</fileGrp></fileGrp></fileSec>'
        f'<structMap TYPE="PHYSICAL"><div TYPE="Newspaper">{pages}</div></structMap>'
        '<structMap TYPE="LOGICAL"><div TYPE="ARTICLE"><fptr><area FILEID="ALTO2" BETYPE="IDREF" BEGIN="B2"/></fptr></div></structMap></mets>'
    )
    alto = (
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v2#"><Description><MeasurementUnit>mm10</MeasurementUnit></Description>'
        '<Layout><Page ID="P{n}" WIDTH="240" HEIGHT="180"><PrintSpace><TextBlock ID="B{n}"><TextLine ID="L{n}" HPOS="20" VPOS="20" WIDTH="100" HEIGHT="20">'
        '<String CONTENT="{n}." HPOS="20" VPOS="20" WIDTH="100" HEIGHT="20"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>'
    )
    answer = send(
        engine,
        library,
        {
            "issue/mets.xml": mets.encode(),
            **{f"issue/IMG/scan{number}.tif": picture(grey=number, form="TIFF") for number in numbers},
            **{
                f"issue/ALTO/p-{number}-alto.xml": alto.replace("{n}", str(number)).encode()
                for number in numbers
            },
        },
    )
    assert reasons(answer) == reasons(answer, "refused") == {}
    assert {page_pass["paired_by"] for page_pass in answer["passes"]} == {"mets"}
    names = [name.rpartition("/")[2] for name in list_pairs(answer).values()]
    assert sorted(names) == ["scan1.tif", "scan2.tif"]
    found_rows = rows(
        library,
        "SELECT d.name, r.content FROM content_representation r JOIN document d ON d.id = r.document_id"
        " JOIN segment s ON s.id = r.segment_id WHERE s.kind = 'line' ORDER BY 1",
    )
    assert found_rows == [("scan1.tif", "1."), ("scan2.tif", "2.")]


def test_a_zip_without_a_folder_becomes_one_of_its_name(engine: Engine, library: Library) -> None:
    def zip_files(files: dict[str, bytes]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return file.getvalue()

    send(
        engine,
        library,
        {
            "Box 3.zip": zip_files({"0001.png": picture(), "page/0001.xml": page("0001.png")}),
            "Box 4.zip": zip_files({"0001.png": picture(grey=9)}),
            "5.zip": zip_files({"Box 5/0001.png": picture(grey=8)}),
        },
    )
    assert rows(
        library,
        "SELECT f.name, d.name, (SELECT count(*) FROM segment_pass p WHERE p.document_id = d.id)"
        " FROM document d JOIN document f ON f.id = d.parent_id WHERE d.doc_type = 'file' ORDER BY 1",
    ) == [("Box 3", "0001.png", 1), ("Box 4", "0001.png", 0), ("Box 5", "0001.png", 0)]
    assert rows(library, "SELECT count(*) FROM document WHERE name = 'page'") == [(0,)]


@pytest.mark.parametrize("members", [{}, {".DS_Store": b"x", "__MACOSX/a": b"x"}])
def test_an_empty_zip_is_refused_in_words(client: Any, library: Library, members: dict[str, bytes]) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    answer = client.post("/api/documents/import-batch", files=[("files", ("a.zip", file.getvalue()))])
    assert answer.status_code == 422
    assert "a.zip: The archive is empty" in answer.json()["detail"]
