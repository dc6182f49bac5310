"""METS states which files make a page: in the order of its structure, and only files below its own folder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium.errors import Invalid
from armarium_formats.mets.hrefs import MOST_NAMED, local_path
from armarium_formats.mets.reader import read_mets, sniff_mets

HEAD = '<mets:mets xmlns:mets="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink">'


def file(identity: str, href: str, mimetype: str = "image/jpeg", more: str = "") -> str:
    return (
        f'<mets:file ID="{identity}" MIMETYPE="{mimetype}" {more}>'
        f'<mets:FLocat LOCTYPE="URL" xlink:href="{href}"/></mets:file>'
    )


def group(use: str, *files: str) -> str:
    return f'<mets:fileGrp USE="{use}">{"".join(files)}</mets:fileGrp>'


def page(more: str, *ids: str) -> str:
    return f'<mets:div TYPE="page" {more}>{"".join(f"<mets:fptr FILEID={identity!r}/>" for identity in ids)}</mets:div>'


def mets(groups: str, struct: str = "", kind: str = "PHYSICAL") -> bytes:
    section = (
        f'<mets:structMap TYPE="{kind}"><mets:div TYPE="physSequence">{struct}</mets:div></mets:structMap>'
    )
    return f"{HEAD}<mets:fileSec>{groups}</mets:fileSec>{section if struct else ''}</mets:mets>".encode()


def pages(data: bytes) -> list[tuple[str | None, tuple[str, ...], str, int]]:
    return [(one.image, one.layouts, one.label, one.order) for one in read_mets(data).pages]


def test_a_workspace_of_ocr_d() -> None:
    data = mets(
        group("OCR-D-IMG-BIN", file("B1", "OCR-D-IMG-BIN/1.png", "image/png"))
        + group(
            "OCR-D-IMG",
            file("I1", "OCR-D-IMG/1.tif", "image/tiff"),
            file("I2", "OCR-D-IMG/2.tif", "image/tiff"),
        )
        + group("OCR-D-GT-PAGE", file("P1", "OCR-D-GT-PAGE/1.xml", "application/vnd.prima.page+xml")),
        page('ID="phys1" ORDER="1"', "B1", "I1", "P1") + page('ID="phys2" ORDER="2"', "I2"),
    )
    assert sniff_mets(data)
    assert pages(data) == [
        ("OCR-D-IMG/1.tif", ("OCR-D-GT-PAGE/1.xml",), "", 1),
        ("OCR-D-IMG/2.tif", (), "", 2),
    ]
    assert read_mets(data).pages[0].images == ("OCR-D-IMG/1.tif", "OCR-D-IMG-BIN/1.png")


def test_the_order_of_the_structure_counts_and_its_labels() -> None:
    groups = group("DEFAULT", *(file(f"I{n}", f"{n}.jpg") for n in (1, 2, 3)))
    struct = (
        page('ORDER="3" ORDERLABEL="iii"', "I3")
        + page('ORDER="1" LABEL="Title"', "I1")
        + page('ORDER="2"', "I2")
    )
    assert [(image, label) for image, _, label, _ in pages(mets(groups, struct))] == [
        ("1.jpg", "Title"),
        ("2.jpg", ""),
        ("3.jpg", "iii"),
    ]
    twice = read_mets(mets(groups, struct.replace('ORDER="2"', 'ORDER="1"')))
    assert [one.image for one in twice.pages] == ["3.jpg", "1.jpg", "2.jpg"]
    assert any("ORDER twice" in note for note in twice.notes)


def test_areas_in_the_pages_of_a_newspaper_point_at_files() -> None:
    groups = group("Images", file("IMG1", "img/0001.jp2", "image/jp2")) + group(
        "Text", file("ALTO1", "file:///alto/0001.xml", "text/xml")
    )
    struct = (
        '<mets:div TYPE="PAGE" ORDER="1"><mets:fptr><mets:par><mets:area FILEID="IMG1"/>'
        '<mets:area FILEID="ALTO1"/></mets:par></mets:fptr>'
        '<mets:div TYPE="block"><mets:fptr><mets:area FILEID="ALTO1" BEGIN="b1"/></mets:fptr></mets:div></mets:div>'
    )
    found = read_mets(mets(groups, struct))
    assert found.pages[0].image == "img/0001.jp2"
    assert [one.href for one in found.refused] == ["file:///alto/0001.xml"]


def test_local_paths_precede_remote_urls_which_are_listed() -> None:
    two = (
        '<mets:file ID="I1" MIMETYPE="image/jpeg"><mets:FLocat LOCTYPE="URL" xlink:href="https://a.example/1.jpg"/>'
        '<mets:FLocat LOCTYPE="OTHER" OTHERLOCTYPE="FILE" xlink:href="images/1.jpg"/></mets:file>'
    )
    data = mets(
        group("DEFAULT", two, file("I2", "http://a.example/2.jpg"))
        + group("FULLTEXT", file("F2", "fulltext/2.xml", "text/xml"))
        + group("THUMBS", file("T1", "thumbs/1.jpg")),
        page('ORDER="1"', "T1", "I1") + page('ORDER="2"', "I2", "F2"),
    )
    found = read_mets(data)
    assert [(one.images, one.layouts) for one in found.pages] == [
        (("images/1.jpg", "thumbs/1.jpg"), ()),
        ((), ("fulltext/2.xml",)),
    ]
    assert [(one.href, "network" in one.why) for one in found.refused] == [("http://a.example/2.jpg", True)]


def test_without_a_structure_files_are_grouped_by_group_id() -> None:
    data = mets(
        group("IMG", file("I1", "1.jpg", more='GROUPID="g1"'), file("I2", "2.jpg", more='GROUPID="g2"'))
        + group("ALTO", file("A1", "1.xml", "text/xml", 'GROUPID="g1"'))
    )
    assert [(image, layouts) for image, layouts, _, _ in pages(data)] == [
        ("1.jpg", ("1.xml",)),
        ("2.jpg", ()),
    ]
    assert "GROUPID" in read_mets(data).notes[0]


def test_files_that_no_page_names_are_listed() -> None:
    data = mets(
        group("IMG", file("I1", "1.jpg"), file("I2", "2.jpg"), file("X", "a.pdf", "application/pdf")),
        page("", "I1"),
    )
    assert read_mets(data).unplaced == ["2.jpg"]


def test_a_volume_s_own_file_is_no_page() -> None:
    struct = '<mets:fptr FILEID="C"/><mets:div><mets:fptr FILEID="I1"/></mets:div><mets:div><mets:fptr FILEID="I2"/></mets:div>'
    data = mets(group("IMG", file("C", "cover.jpg"), file("I1", "1.jpg"), file("I2", "2.jpg")), struct)
    assert [image for image, *_ in pages(data)] == ["1.jpg", "2.jpg"]


def test_a_structure_that_is_only_logical_is_read_with_a_note() -> None:
    data = mets(group("IMG", file("I1", "1.jpg")), page("", "I1"), "LOGICAL")
    assert [image for image, *_ in pages(data)] == ["1.jpg"]
    assert "logical" in read_mets(data).notes[0]


def test_mets_2_and_answers_of_oai_are_read() -> None:
    two = (
        b'<mets xmlns="http://www.loc.gov/METS/v2"><fileSec><fileGrp USE="m"><file ID="a" MIMETYPE="image/png">'
        b'<FLocat LOCTYPE="URL" LOCREF="a.png"/></file></fileGrp></fileSec><structSec><structMap TYPE="physical">'
        b'<div TYPE="page"><fptr FILEID="a"/></div></structMap></structSec></mets>'
    )
    assert pages(two) == [("a.png", (), "", 1)]
    wrapped = b"<OAI-PMH><GetRecord>" + two + b"</GetRecord></OAI-PMH>"
    assert sniff_mets(wrapped)
    assert read_mets(wrapped).notes == ["The METS is inside a OAI-PMH element."]


def test_pointers_to_nothing_and_ids_given_twice_are_noted() -> None:
    notes = read_mets(mets(group("IMG", file("I", "1.jpg"), file("I", "2.jpg")), page("", "I", "gone"))).notes
    assert any("occurs more than once" in note for note in notes)
    assert any("gone, which does not exist" in note for note in notes)


def test_parts_elsewhere_are_noted() -> None:
    struct = '<mets:div TYPE="volume"><mets:mptr xlink:href="http://a.example/v1.xml"/></mets:div>' + page(
        "", "I"
    )
    embedded = (
        '<mets:file ID="E"><mets:FContent><mets:binData>aGk=</mets:binData></mets:FContent></mets:file>'
    )
    notes = read_mets(mets(group("IMG", file("I", "1.jpg"), embedded), struct)).notes
    assert any("another METS file" in note for note in notes)
    assert any("embedded in the METS file itself" in note for note in notes)


@pytest.mark.parametrize(
    ("href", "why"),
    [
        ("", "names nothing"),
        ("./", "names nothing"),
        ("/etc/passwd", "full path"),
        ("file:///etc/passwd", "full path"),
        ("C:\\scans\\1.tif", "full path"),
        ("\\\\server\\share\\1.tif", "another machine"),
        ("//server/1.tif", "another machine"),
        ("../1.tif", "out of"),
        ("a/../../1.tif", "out of"),
        ("%2e%2e/1.tif", "out of"),
        ("..\\1.tif", "out of"),
        ("file:../1.tif", "out of"),
        ("http://127.0.0.1/1.tif", "network"),
        ("FTP://a/1.tif", "network"),
        ("urn:nbn:de:1", "network"),
        ("javascript%3Aalert(1)", "network"),
        ("a%00.tif", "control"),
    ],
)
def test_a_href_that_leaves_the_folder_is_refused_in_words(href: str, why: str) -> None:
    assert why in str(local_path(href)[1])
    if href:
        found = read_mets(
            mets(group("IMG", file("I", href), file("J", "ok.jpg")), page("", "I") + page("", "J"))
        )
        assert [one.image for one in found.pages] == [None, "ok.jpg"]
        assert [(one.href, why in one.why) for one in found.refused] == [(href, True)]


@pytest.mark.parametrize(
    ("href", "path"),
    [
        ("img/1.jpg", "img/1.jpg"),
        ("./img//1.jpg", "img/1.jpg"),
        ("img\\1.jpg", "img/1.jpg"),
        ("a/../b.jpg", "b.jpg"),
        ("a%20b.jpg", "a b.jpg"),
        ("Bl%C3%A4tter%201.jpg", "Blätter 1.jpg"),
        ("Bilder\\Blätter 2.jpg", "Bilder/Blätter 2.jpg"),
    ],
)
def test_a_href_below_the_folder_is_taken(href: str, path: str) -> None:
    assert local_path(href) == (path, None)


@given(st.text(alphabet="./\\%2eEaC:", max_size=20))
def test_no_taken_href_leaves_the_folder(href: str) -> None:
    path, why = local_path(href)
    if why is None:
        assert not path.startswith(("/", "\\"))
        assert "\\" not in path
        assert all(part not in ("", ".", "..") for part in path.split("/"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"<recipe/>", "is not METS"),
        (f"{HEAD}</mets:mets>".encode(), "names no files"),
        (mets(group("IMG", file("I", "1.jpg")))[:-20], "not well-formed"),
        (
            b'<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + mets(group("I", file("I", "&x;"))),
            "DOCTYPE",
        ),
        (b"<a>" * 100_000, "deep"),
    ],
)
def test_what_is_no_mets_is_refused_in_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read_mets(data, "mets.xml")
    assert not sniff_mets(b"<recipe/>")


@pytest.mark.parametrize(
    ("href", "path"), [("file://./ALTO/1.xml", "ALTO/1.xml"), ("file://./a%20b.tif", "a b.tif")]
)
def test_a_newspaper_package_names_files_beside_the_mets_file(href: str, path: str) -> None:
    assert local_path(href) == (path, None)


def test_a_path_outside_the_folder_is_refused_in_every_spelling() -> None:
    assert "out of" in str(local_path("file://./../1.tif")[1])


def test_hundreds_of_urls_are_listed_by_name_up_to_a_limit_and_then_counted() -> None:
    """The METS file of a viewer lists the URL of every picture in every size."""
    files = [file(f"D{one}", f"https://a.example/{one}.jpg") for one in range(120)]
    found = read_mets(mets(group("DEFAULT", file("I", "1.jpg"), *files), page('ORDER="1"', "I", "D1")))
    assert [one.href for one in found.refused[:2]] == ["https://a.example/0.jpg", "https://a.example/1.jpg"]
    assert len(found.refused) == MOST_NAMED + 1
    assert found.refused[-1].href == "100 more like https://a.example/20.jpg"
    few = read_mets(mets(group("DEFAULT", file("I", "1.jpg"), *files[: MOST_NAMED + 1]), page("", "I")))
    assert len(few.refused) == MOST_NAMED + 1
    assert few.refused[-1].href == "https://a.example/20.jpg"
