"""`armarium import` and `armarium export`: folders stay folders, readers' notes are shown, and nothing to import is an
error.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine, Pictures

PAGE = (
    '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
    '<Page imageFilename="{image}" imageWidth="400" imageHeight="100"><TextRegion id="r" type="odd-kind">'
    '<Coords points="1,1 300,1 300,90 1,90"/><TextLine id="l"><Coords points="2,2 200,2 200,40 2,40"/>'
    "<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"
)


def names(machine: Machine, parent: str | None = None) -> list[str]:
    return [
        node["name"] for node in machine.succeed("ls", *([parent] if parent else []), "--json").json["items"]
    ]


def test_two_folders_of_the_same_names_stay_apart_on_the_way_in_and_out(
    desk: Machine, pictures: Pictures
) -> None:
    folder = pictures(["0001.png"])
    desk.succeed("create", "Letters")
    for box in ("Box 3", "Box 4"):
        (desk.home / box / "page").mkdir(parents=True)
        (desk.home / box / "0001.png").write_bytes((folder / "0001.png").read_bytes())
        (desk.home / box / "page" / "0001.xml").write_text(PAGE.format(image="0001.png", text=box))
        desk.succeed("import", box)
    assert names(desk) == ["Sources", "Box 3", "0001.png", "Box 4", "0001.png"]
    answer = desk.succeed("export", "--out", "out").out
    assert answer.startswith("Wrote 2 files to ")
    written = {str(path.relative_to(desk.home / "out")) for path in (desk.home / "out").rglob("*.xml")}
    assert written == {"Box 3/0001.xml", "Box 4/0001.xml"}
    assert "Box 4" in (desk.home / "out" / "Box 4" / "0001.xml").read_text("utf-8")
    # When a single folder is exported, its files are not put into a folder of its name.
    desk.succeed("export", "Box 3", "--out", "one")
    assert [path.name for path in (desk.home / "one").iterdir()] == ["0001.xml"]
    # A refused export leaves none of the folders that it had begun to write.
    (desk.home / "half" / "Box 4").mkdir(parents=True)
    (desk.home / "half" / "Box 4" / "0001.xml").touch()
    assert "already exists" in desk.expect_refusal("export", "--out", "half")
    assert [path.name for path in (desk.home / "half").iterdir()] == ["Box 4"]


@pytest.mark.parametrize("words", [("hollow",), ("hollow", "--json"), ("hollow", "--no-recursive")])
def test_an_empty_folder_ends_with_1_and_a_sentence(desk: Machine, words: tuple[str, ...]) -> None:
    (desk.home / "hollow" / "inner").mkdir(parents=True)
    (desk.home / "hollow" / ".hidden").touch()
    desk.succeed("create", "Letters")
    result = desk.run("import", *words)
    assert result.code == 1
    assert "There is nothing to import in hollow" in result.err + result.out


def test_the_same_note_of_readers_is_shown_once_for_many_files(desk: Machine, pictures: Pictures) -> None:
    folder = pictures([f"{n}.png" for n in range(1, 6)])
    for n in range(1, 6):
        (folder / f"{n}.xml").write_text(PAGE.format(image=f"{n}.png", text="word"))
        (folder / f"lost-{n}.xml").write_text(PAGE.format(image=f"gone-{n}.tif", text="word"))
    desk.succeed("create", "Letters")
    ran = desk.succeed("import", "pages")
    lines = [line for line in ran.out.splitlines() if "page has 400 x 100 pixels" in line]
    assert len(lines) == 1
    assert lines[0].startswith("  noted of 1.xml, 2.xml, 3.xml and 2 more: ")
    remaining_lines = [line for line in ran.out.splitlines() if line.startswith("  not paired")]
    assert len(remaining_lines) == 1
    assert "lost-1.xml, lost-2.xml, lost-3.xml and 2 more" in remaining_lines[0]
    answer = desk.succeed("import", "pages", "--again", "--json").json
    assert (answer["left"], answer["left_count"]) == ([], 0)
    (note,) = [note for note in answer["layouts"]["notes"] if "page has" in note["note"]]
    assert (note["count"], note["files"]) == (5, [f"{n}.xml" for n in range(1, 6)])


def test_an_archive_comes_in_as_a_folder_does(desk: Machine, pictures: Pictures) -> None:
    folder = pictures(["1.png", "2.png"])
    with zipfile.ZipFile(desk.home / "Box 7.zip", "w") as archive:
        archive.write(folder / "1.png", "1.png")
        archive.writestr("page/1.xml", PAGE.format(image="1.png", text="word"))
        archive.writestr("page/9.xml", PAGE.format(image="9.png", text="word"))
    desk.succeed("create", "Letters")
    answer = desk.succeed("import", "Box 7.zip").out
    assert answer.startswith("Imported 1 file.\nRead 1 layout file into the pages they describe.\n")
    assert "  noted of Box 7/page/1.xml: " in answer
    assert "  not paired: Box 7/page/9.xml: " in answer
    assert names(desk) == ["Sources", "Box 7", "1.png"]
    assert "It is already the document" in desk.expect_refusal("import", "Box 7.zip")
    desk.succeed("undo")
    assert names(desk) == ["Sources"]
    with zipfile.ZipFile(desk.home / "8.zip", "w") as archive:
        archive.write(folder / "2.png", "2.png")
    desk.succeed("import", "8.zip")
    assert desk.succeed("import", "8.zip").out == "Imported 0 files; 1 was there already.\n"
    with zipfile.ZipFile(desk.home / "empty.zip", "w"):
        pass
    assert "The archive is empty" in desk.expect_refusal("import", "empty.zip")
    assert "unpack the archive" in desk.expect_refusal("import", "Box 7.zip", "--again")


METS = (
    '<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink" LABEL="Letters"><fileSec>'
    '<fileGrp USE="DEFAULT"><file ID="a" MIMETYPE="image/png"><FLocat LOCTYPE="URL" xlink:href="1.png"/></file>'
    '<file ID="b" MIMETYPE="image/png"><FLocat LOCTYPE="URL" xlink:href="2.png"/></file></fileGrp></fileSec>'
    '<structMap TYPE="PHYSICAL"><div><div TYPE="page" ORDERLABEL="1r"><fptr FILEID="b"/></div>'
    '<div TYPE="page" ORDERLABEL="1v"><fptr FILEID="a"/></div></div></structMap></mets>'
)


def test_mets_orders_a_folder_and_alone_ends_with_1(desk: Machine, pictures: Pictures) -> None:
    folder = pictures(["1.png", "2.png"])
    (folder / "mets.xml").write_text(METS)
    desk.succeed("create", "Letters")
    answer = desk.succeed("import", "pages").out
    assert "Used mets.xml of 'Letters': 2 of 2 pages, 2 documents put in its order, 2 labelled." in answer
    assert names(desk) == ["Sources", "pages", "2.png", "1.png"]
    (desk.home / "alone").mkdir()
    (desk.home / "alone" / "mets.xml").write_text(METS)
    for words in (("alone",), (str(Path("alone") / "mets.xml"),)):
        ran = desk.run("import", *words)
        assert (ran.code, "It is a METS file of 2 pages" in ran.out) == (1, True)
