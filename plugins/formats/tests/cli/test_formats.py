"""Formats on the command line: listing them, identifying a file, importing pages with layout files,
exporting.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine

PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="{image}" imageWidth="100" imageHeight="80">
    <TextRegion id="r1"><Coords points="1,1 90,1 90,70 1,70"/>
      <TextLine id="l1"><Coords points="2,2 90,2 90,20 2,20"/><TextEquiv><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


@pytest.fixture
def scans(desk: Machine, tmp_path: Path) -> Machine:
    """A project into which a folder of pictures and layout files was imported."""
    from PIL import Image

    (tmp_path / "box" / "page").mkdir(parents=True)
    for name in ("1.png", "2.png"):
        Image.new("RGB", (100, 80), (255, 255, 255)).save(tmp_path / "box" / name)
    (tmp_path / "box" / "page" / "1.xml").write_text(PAGE.format(image="1.png"))
    (tmp_path / "box" / "page" / "lost.xml").write_text(PAGE.format(image="gone.png").replace('"80"', '"81"'))
    (tmp_path / "box" / "broken.xml").write_text("<PcGts")
    desk.succeed("create", "Letters")
    return desk


def test_the_formats_are_listed(desk: Machine) -> None:
    answer = desk.succeed("formats").out
    for word in ("pagexml", "PAGE XML", "alto", "tei", "plain-text"):
        assert word in answer
    assert desk.succeed("formats", "--json").json["count"] >= 4


def test_a_file_is_checked(desk: Machine, tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_text(PAGE.format(image="1.png"))
    answer = desk.succeed("check-file", "1.xml").out
    assert "1.xml is PAGE XML 2019-07-15, 1 page." in answer
    assert "schema: valid." in answer
    assert "page 1: 1 region, 1 line, 0 words, 1 text; 100 x 80 pixels; of 1.png" in answer
    assert "written as pagexml: loses nothing." in answer
    assert "written as plain-text: loses shapes (2)" in answer
    (tmp_path / "2.xml").write_text(
        PAGE.format(image="1.png").replace("1,1 90,1", "1,1 900,1").replace("id=", "ID=")
    )
    answer = desk.succeed("check-file", "2.xml").out
    assert "schema: NOT valid." in answer
    assert "noted: 1 shape reaches beyond the page, by 800 pixels" in answer
    (tmp_path / "3.xml").write_text(
        PAGE.format(image="1.png").replace("1,1 90,1 90,70", "500,1 900,1 900,70").replace("1,70", "500,70")
    )
    assert "an import would refuse it: 3.xml" in desk.succeed("check-file", "3.xml").out
    (tmp_path / "old.xml").write_text(PAGE.format(image="1.png").replace("2019-07-15", "2013-07-15"))
    assert "schema: not checked" in desk.succeed("check-file", "old.xml").out
    assert desk.succeed("check-file", "1.xml", "--format", "PAGE", "--json").json["format"] == "pagexml"
    (tmp_path / "odd.bin").write_bytes(b"\0\1\2")
    assert "in a format that can be read" in desk.expect_refusal("check-file", "odd.bin")
    assert "nothing there" in desk.expect_refusal("check-file", "gone.xml")
    assert "is a folder" in desk.expect_refusal("check-file", ".")
    assert "is not a format that can be read" in desk.expect_refusal(
        "check-file", "1.xml", "--format", "nonsense"
    )


def test_a_folder_comes_in_with_its_layout_files(scans: Machine) -> None:
    answer = scans.succeed("import", "box").out
    assert "Imported 2 files." in answer
    assert "Read 1 layout file into the pages they describe." in answer
    assert "not paired: page/lost.xml: It belongs to gone.png" in answer
    assert "not read: broken.xml" in answer
    nodes = scans.succeed("ls", "--json").json["items"]
    (identity,) = [node["id"] for node in nodes if node["name"] == "1.png"]
    assert scans.succeed("text", identity).out.strip().endswith("Dear Sir")


def test_layout_files_are_read_as_the_format_named(scans: Machine) -> None:
    answer = scans.succeed("import", "box", "--format", "alto", "--json").json["layouts"]
    assert answer["passes"] == 0
    assert len(answer["refused"]) == 3


def test_a_page_is_written_by_pass_and_order(scans: Machine, tmp_path: Path) -> None:
    scans.succeed("import", "box")
    nodes = scans.succeed("ls", "--json").json["items"]
    (identity,) = [node["id"] for node in nodes if node["name"] == "1.png"]
    (item,) = scans.succeed("passes", identity, "--json").json["items"]
    answer = scans.succeed(
        "export", identity, "--pass", item["id"], "--format", "plain-text", "--out", "out"
    ).out
    assert "Wrote 1 file" in answer
    assert "1.txt does not contain shapes (2): plain text contains only text." in answer
    assert "Dear Sir" in (tmp_path / "out" / "1.txt").read_text()
    assert "name that page" in scans.expect_refusal("export", "--pass", item["id"], "--out", "more")
    assert "0" * 32 in scans.expect_refusal("export", identity, "--order", "0" * 32, "--out", "more")
    found_answer = scans.succeed("export", identity, "--kind", "translation", "--out", "other", "--json").json
    assert found_answer["exports"][0]["pass_id"] == item["id"]


def test_pages_without_a_pass_are_left_out_and_named(scans: Machine, tmp_path: Path) -> None:
    scans.succeed("import", "box")
    answer = scans.succeed("export", "--format", "plain-text", "--out", "out").out
    assert "Wrote 1 file" in answer
    assert "left out: 2.png has no pass yet." in answer
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1.txt"]
    found_answer = scans.succeed("export", "--out", "more", "--json").json
    assert [entry["name"] for entry in found_answer["left_out"]] == ["2.png"]
    # A page without a pass is refused if it is the only one; so are several pages if none has a pass.
    assert "2.png has no pass yet" in scans.expect_refusal("export", "2.png", "--out", "none")
    scans.succeed("create", "Blank")
    (tmp_path / "blank").mkdir()
    for number in range(12):
        (tmp_path / "blank" / f"{number}.png").write_bytes(
            (tmp_path / "box" / "1.png").read_bytes() + bytes([number])
        )
    blank = ("--library", "Blank")
    scans.succeed("import", "blank", *blank)
    assert "None of these pages has a pass yet" in scans.expect_refusal("export", "--out", "none", *blank)
    assert not (tmp_path / "none").exists()
    nodes = scans.succeed("ls", "--json", *blank).json["items"]
    (first,) = [node["id"] for node in nodes if node["name"] == "3.png"]
    params = f'{{"document_id": "{first}", "name": "By hand"}}'
    scans.succeed("action", "run", "segment.pass_create", "--params", params, *blank)
    assert "left out: 1 more page without a pass." in scans.succeed("export", "--out", "out2", *blank).out


def test_losses_of_many_files_are_summed_up(scans: Machine, tmp_path: Path) -> None:
    (tmp_path / "box" / "page" / "2.xml").write_text(PAGE.format(image="2.png"))
    scans.succeed("import", "box")
    answer = scans.succeed("export", "--format", "plain-text", "--out", "out").out
    assert "  2 files do not contain shapes (4): plain text contains only text." in answer
    assert answer.count("shapes") == 1


# ------------------------------------------------------------------------------ a layout file for a page


@pytest.fixture
def letter(desk: Machine, tmp_path: Path) -> str:
    """The id of a page that has a picture and nothing else."""
    from PIL import Image

    Image.new("RGB", (100, 80), (255, 255, 255)).save(tmp_path / "letter.png")
    desk.succeed("create", "Letters")
    desk.succeed("import", "letter.png")
    return next(
        str(item["id"]) for item in desk.succeed("ls", "--json").json["items"] if item["name"] == "letter.png"
    )


OVER = "90,2 104,2 104,20 90,20"
STRAY = "120,2 150,2 150,20 120,20"


@pytest.mark.parametrize("way", ["folder", "archive", "page"])
@pytest.mark.parametrize(
    ("beyond", "come_in"),
    [((), {"over.png"}), (("--beyond", "keep"), {"over.png", "stray.png"}), (("--beyond", "refuse"), set())],
    ids=["left out", "keep", "refuse"],
)
def test_the_option_for_shapes_beyond_the_page(
    desk: Machine, tmp_path: Path, way: str, beyond: tuple[str, ...], come_in: set[str]
) -> None:
    """The line of over.png extends partly beyond its page, that of stray.png wholly."""
    from PIL import Image

    box = tmp_path / "box"
    box.mkdir()
    points = {"over.png": OVER, "stray.png": STRAY}
    desk.succeed("create", "Letters")
    for number, (name, outline) in enumerate(points.items()):
        Image.new("RGB", (100, 80), (255, 255, number)).save(box / name)
        layout = PAGE.format(image=name).replace("2,2 90,2 90,20 2,20", outline)
        (box / name.replace("png", "xml")).write_text(layout)
    if way == "page":
        desk.succeed("import", *(str(box / name) for name in points))
        ran = [
            desk.run("import", str(box / name.replace("png", "xml")), "--into", name, *beyond)
            for name in points
        ]
        assert [one.code == 0 for one in ran] == [name in come_in for name in points]
        said = "".join(one.out + one.err for one in ran)
    elif way == "archive":
        with zipfile.ZipFile(tmp_path / "box.zip", "w") as archive:
            for path in box.iterdir():
                archive.write(path, path.name)
        said = desk.succeed("import", "box.zip", *beyond).out
    else:
        said = desk.succeed("import", "box", *beyond).out
    refused = (
        {"stray.png": "are entirely outside it"} if not beyond else dict.fromkeys(points, "extend beyond it")
    )
    for name, outline in points.items():
        lines = desk.succeed("segments", name, "--kind", "line", "--json").json["segments"]
        assert len(lines) == (name in come_in)
        if name not in come_in:
            assert refused[name] in said
            continue
        (x, y, w, h) = lines[0]["anchor"]["rect"]
        assert min(x, y) >= 0
        assert max(x + w, y + h) <= 1.000001
        # The export contains the file's original points.
        desk.succeed("export", name, "--out", str(tmp_path / name))
        assert outline in (tmp_path / name / name.replace("png", "xml")).read_text()


def test_an_unknown_option_for_shapes_beyond_the_page_is_refused(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    ran = desk.run("import", "box", "--beyond", "stretch")
    assert (ran.code, "'stretch' is not one of 'clip', 'keep', 'refuse'" in ran.err) == (2, True)


def test_a_layout_file_alone_is_read_into_a_page(desk: Machine, letter: str, tmp_path: Path) -> None:
    (tmp_path / 'odd "name".xml').write_text(PAGE.format(image="other.png"))
    answer = desk.succeed("import", 'odd "name".xml', "--into", letter).out
    assert 'Read odd "name".xml as pagexml: 1 region, 1 line, 0 words, 1 text; the pass' in answer
    assert "Take it back with: armarium undo " in answer
    out = tmp_path / "out"
    desk.succeed("export", letter, "--out", str(out))
    assert "Dear Sir" in (out / "letter.xml").read_text()
    assert "already the pass" in desk.expect_refusal("import", 'odd "name".xml', "--into", letter)
    desk.succeed("undo", answer.split()[-1])
    assert desk.succeed("import", 'odd "name".xml', "--into", letter, "--json").json["count"] == 1


def test_several_layout_files_become_passes_of_one_page(desk: Machine, letter: str, tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_text(PAGE.format(image="letter.png"))
    (tmp_path / "2.txt").write_bytes("Señor\n".encode("latin-1"))
    (tmp_path / "broken.xml").write_text("<PcGts")
    answer = desk.succeed("import", "1.xml", "2.txt", "broken.xml", "--into", letter, "--json").json
    assert [(Path(page_pass["file"]).name, page_pass["format"]) for page_pass in answer["passes"]] == [
        ("1.xml", "pagexml"),
        ("2.txt", "plain-text"),
    ]
    assert [Path(entry["file"]).name for entry in answer["refused"]] == ["broken.xml"]
    (tmp_path / "3.txt").write_text("more\n")
    output = desk.succeed("import", "3.txt", "broken.xml", "--into", letter).out
    assert "Read 3.txt as plain-text" in output
    assert "not read: " in output
    assert "And 1 more." in desk.expect_refusal("import", "1.xml", "broken.xml", "--into", letter)


def test_a_layout_file_is_read_with_its_companion_files(desk: Machine, letter: str, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    assert "unknown class: 0" in desk.succeed("import", "labels.txt", "--into", letter).out
    (tmp_path / "labels.txt").write_text("0 0.5 0.5 0.2 0.3\n")
    (tmp_path / "classes.txt").write_text("marginalia\n")
    answer = desk.succeed(
        "import", "labels.txt", "--into", letter, "--with", "classes.txt", "--format", "yolo", "--json"
    ).json
    assert (answer["passes"][0]["format"], answer["passes"][0]["unknown_classes"]) == ("yolo", [])


def test_a_page_of_a_file_of_several_is_chosen(desk: Machine, letter: str, tmp_path: Path) -> None:
    pages = "".join(f'<pb n="{n}"/><p><lb/>line {n}</p>' for n in (1, 2, 3))
    (tmp_path / "book.xml").write_text(
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>{pages}</body></text></TEI>'
    )
    assert "page 9 was requested" in desk.expect_refusal(
        "import", "book.xml", "--into", letter, "--page", "9"
    )
    answer = desk.succeed("import", "book.xml", "--into", letter, "--page", "2").out
    assert "of the 3 pages in it these were left out: 1, 3; --page chooses." in answer
    assert "noted: " in answer


def test_what_cannot_be_read_into_a_page_is_refused_in_words(
    desk: Machine, letter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_documents.cli import layouts

    (tmp_path / "1.xml").write_text(PAGE.format(image="letter.png"))
    into = ("--into", letter)
    assert "cannot be read: No such file" in desk.expect_refusal("import", "gone.xml", *into)
    assert "is a folder; for a page, name its layout file" in desk.expect_refusal("import", ".", *into)
    assert "a format that can be read" in desk.expect_refusal("import", "letter.png", *into)
    assert "is not a format that can be read" in desk.expect_refusal(
        "import", "1.xml", *into, "--format", "nonsense"
    )
    assert "cannot be read" in desk.expect_refusal("import", "1.xml", *into, "--with", "gone.yaml")
    assert "name that page with --into" in desk.expect_refusal("import", "1.xml", "--with", "1.xml")
    assert "name that page with --into" in desk.expect_refusal("import", "1.xml", "--page", "2")
    assert "No document here" in desk.expect_refusal(
        "import", "1.xml", "--into", "01900000-0000-7000-8000-000000000000"
    )
    assert "No document here" in desk.expect_refusal("import", "1.xml", "--into", "a/b")
    monkeypatch.setattr(layouts, "MAX_FILE_BYTES", 10)
    assert "is larger than 0 MiB" in desk.expect_refusal("import", "1.xml", *into)


def test_a_format_that_only_kept_exports_write_is_pointed_to(scans: Machine) -> None:
    scans.succeed("import", "box/1.png")
    refused = scans.expect_refusal("export", "--format", "word")
    assert "There is no format 'word'. Formats that can be written: " in refused
    assert (
        "Word and Markdown are written by armarium keep-export, searchable PDF by armarium export-pdf."
        in refused
    )


def test_pages_whose_names_differ_in_case_only_are_written_apart(scans: Machine, tmp_path: Path) -> None:
    (tmp_path / "alike").mkdir()
    picture = (tmp_path / "box" / "1.png").read_bytes()
    for number in range(3):
        (tmp_path / "alike" / f"{number}.png").write_bytes(picture + bytes([number]))
    scans.succeed("import", "alike")
    listed = scans.succeed("ls", "--json").json["items"]
    pages = [item for item in listed if item["name"] in ("0.png", "1.png", "2.png")]
    for page, name in zip(pages, ("Akte.png", "akte.png", "AKTE.png"), strict=True):
        for action, more in (
            ("document.update", {"name": name}),
            ("segment.pass_create", {"name": "By hand"}),
        ):
            params = json.dumps({"document_id": page["id"], **more})
            scans.succeed("action", "run", action, "--params", params)
    scans.succeed("export", "--format", "plain-text", "--out", "out")
    written = {path.name.casefold() for path in (tmp_path / "out").iterdir()}
    assert len(written) == len(list((tmp_path / "out").iterdir())) == 3
