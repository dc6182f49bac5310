"""Names that differ in case, Unicode form or a sharp s alone: the exact one counts before the folded one."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from batch_files import page, picture, rows, send, write_files

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER

PAIRS = pytest.mark.parametrize(
    ("one", "other"),
    [("12a", "12A"), ("\u00e9", "e\u0301"), ("Stra\u00dfe", "Strasse"), ("\u017fol", "sol")],
    ids=["case", "Unicode form", "sharp s", "long s"],
)


def mets_of(*names: str) -> bytes:
    """Return a METS file with a page for each name, of a picture and a layout file."""
    files = "".join(
        f'<file ID="{kind}{number}" MIMETYPE="{mime}"><FLocat LOCTYPE="OTHER" xlink:href="{name}.{ending}"/></file>'
        for number, name in enumerate(names)
        for kind, mime, ending in (("i", "image/jpeg", "jpg"), ("x", "text/xml", "xml"))
    )
    pages = "".join(
        f'<div TYPE="page" ORDER="{number + 1}"><fptr FILEID="i{number}"/><fptr FILEID="x{number}"/></div>'
        for number in range(len(names))
    )
    return (
        '<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<fileSec><fileGrp USE="ALL">{files}</fileGrp></fileSec><structMap TYPE="PHYSICAL">'
        f'<div TYPE="physSequence">{pages}</div></structMap></mets>'
    ).encode()


def files_of(one: str, other: str, *, declared: bool) -> dict[str, bytes]:
    return {
        **{f"{name}.jpg": picture(grey=grey, form="JPEG") for name, grey in ((one, 10), (other, 90))},
        **{f"{name}.xml": page(f"{name}.jpg" if declared else "", text=name) for name in (one, other)},
    }


def check_each_on_its_own(library: Library, files: dict[str, bytes]) -> None:
    found_rows = rows(
        library,
        "SELECT json_extract(d.metadata, '$.checksum'), r.content FROM content_representation r"
        " JOIN document d ON d.id = r.document_id",
    )
    pictures = {name: data for name, data in files.items() if name.endswith(".jpg")}
    expected = [(hashlib.sha256(data).hexdigest(), name[:-4]) for name, data in pictures.items()]
    assert sorted(found_rows) == sorted(expected)


@PAIRS
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "named"])
@pytest.mark.parametrize("way", ["files", "zip", "mets"])
def test_each_line_is_on_its_own_picture(
    engine: Engine, library: Library, one: str, other: str, declared: bool, way: str
) -> None:
    files = files_of(one, other, declared=declared)
    sent = dict(files)
    if way == "mets":
        sent["mets.xml"] = mets_of(one, other)
    if way == "zip":
        box = io.BytesIO()
        with zipfile.ZipFile(box, "w") as made:
            for name, data in files.items():
                made.writestr(name, data)
        sent = {"box.zip": box.getvalue()}
    answer: dict[str, Any] = send(engine, library, sent)
    assert (answer["unpaired"], answer["refused"]) == ([], [])
    check_each_on_its_own(library, files)


@PAIRS
def test_each_line_of_a_folder_is_on_its_own_picture(
    engine: Engine, library: Library, one: str, other: str, tmp_path: Path
) -> None:
    files = files_of(one, other, declared=False)
    write_files(tmp_path / "box", files)
    engine.run(library, "document.import", {"folder": str(tmp_path / "box")}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    check_each_on_its_own(library, files)


def test_a_name_of_another_case_is_still_found_where_there_is_no_other(
    engine: Engine, library: Library
) -> None:
    answer = send(engine, library, {"12A.JPG": picture(form="JPEG"), "12a.xml": page("")})
    assert len(answer["passes"]) == 1


def test_folders_of_an_archive_from_windows_are_folders(engine: Engine, library: Library) -> None:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as made:
        made.writestr("Akten\\Band 1\\b.jpg", picture(form="JPEG"))
        made.writestr("Akten\\Band 1\\page\\b.xml", page("b.jpg"))
    answer = send(engine, library, {"win.zip": box.getvalue()})
    assert (len(answer["passes"]), answer["refused"], answer["unpaired"]) == (1, [], [])
    assert rows(
        library,
        "SELECT g.name, f.name, d.name FROM document d JOIN document f ON f.id = d.parent_id"
        " JOIN document g ON g.id = f.parent_id WHERE d.name = 'b.jpg'",
    ) == [("Akten", "Band 1", "b.jpg")]


def raw_zip(*members: tuple[bytes, bytes]) -> bytes:
    """Return a ZIP whose names are these bytes, without the flag that says UTF-8."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w") as made:
        for number, (name, data) in enumerate(members):
            made.writestr(chr(65 + number) * len(name), data)
    found = box.getvalue()
    for number, (name, _) in enumerate(members):
        found = found.replace(chr(65 + number).encode() * len(name), name)
    return found


def test_a_zip_from_a_mac_has_names_in_utf_8_and_none_of_its_own_files(
    engine: Engine, library: Library
) -> None:
    name = "Brief \u00e4.jpg"
    data = raw_zip(
        (name.encode(), picture(form="JPEG")),
        (f"__MACOSX/._{name}".encode(), b"AppleDouble of the picture"),
        ("Brief \u00e4.xml".encode(), page(name)),
        (b".DS_Store-of-a-folder", b"x"),
    )
    answer = send(engine, library, {"box.zip": data})
    assert [document["name"] for document in answer["documents"]] == [name]
    assert (len(answer["passes"]), answer["refused"], answer["unpaired"]) == (1, [], [])
    assert answer["documents"][0]["notes"] == []


def test_names_in_an_unknown_encoding_are_noted(engine: Engine, library: Library) -> None:
    answer = send(
        engine, library, {"box.zip": raw_zip(("\u624b\u7d19.jpg".encode("shift_jis"), picture(form="JPEG")))}
    )
    (note,) = answer["documents"][0]["notes"]
    assert "does not say in what encoding" in note
