"""Formats at the command line: which there are, what a file is, pages in with their layout files and out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Machine

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
    """A project that a folder of pictures and layout files was brought into."""
    from PIL import Image

    (tmp_path / "box" / "page").mkdir(parents=True)
    for name in ("1.png", "2.png"):
        Image.new("RGB", (100, 80), (255, 255, 255)).save(tmp_path / "box" / name)
    (tmp_path / "box" / "page" / "1.xml").write_text(PAGE.format(image="1.png"))
    (tmp_path / "box" / "page" / "lost.xml").write_text(PAGE.format(image="gone.png").replace('"80"', '"81"'))
    (tmp_path / "box" / "broken.xml").write_text("<PcGts")
    desk.done("create", "Letters")
    return desk


def test_the_formats_are_listed(desk: Machine) -> None:
    said = desk.done("formats").out
    for word in ("pagexml", "PAGE XML", "alto", "tei", "plain-text"):
        assert word in said
    assert desk.done("formats", "--json").json["count"] >= 4


def test_a_file_is_checked(desk: Machine, tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_text(PAGE.format(image="1.png"))
    said = desk.done("check-file", "1.xml").out
    assert "1.xml is PAGE XML 2019-07-15, 1 page." in said
    assert "schema: valid." in said
    assert "page 1: 1 region, 1 line, 0 words, 1 text; 100 x 80 pixels; of 1.png" in said
    assert "written as pagexml: loses nothing." in said
    assert "written as plain-text: loses shapes (2)" in said
    (tmp_path / "2.xml").write_text(
        PAGE.format(image="1.png").replace("1,1 90,1", "1,1 900,1").replace("id=", "ID=")
    )
    said = desk.done("check-file", "2.xml").out
    assert "schema: NOT valid." in said
    assert "an import would refuse it: 2.xml declares a page of 100 x 80 pixels" in said
    (tmp_path / "old.xml").write_text(PAGE.format(image="1.png").replace("2019-07-15", "2013-07-15"))
    assert "schema: not checked" in desk.done("check-file", "old.xml").out
    assert desk.done("check-file", "1.xml", "--format", "PAGE", "--json").json["format"] == "pagexml"
    (tmp_path / "odd.bin").write_bytes(b"\0\1\2")
    assert "in no format that can be read" in desk.refused("check-file", "odd.bin")
    assert "nothing there" in desk.refused("check-file", "gone.xml")
    assert "is a folder" in desk.refused("check-file", ".")
    assert "is no format that can be read" in desk.refused("check-file", "1.xml", "--format", "nonsense")


def test_a_folder_comes_in_with_its_layout_files(scans: Machine) -> None:
    said = scans.done("import", "box").out
    assert "Imported 2 files." in said
    assert "Read 1 layout file into the pages they are of." in said
    assert "not paired: page/lost.xml: It is of gone.png" in said
    assert "not read: broken.xml" in said
    nodes = scans.done("ls", "--json").json["items"]
    (one,) = [node["id"] for node in nodes if node["name"] == "1.png"]
    assert scans.done("text", one).out.strip().endswith("Dear Sir")


def test_layout_files_are_read_as_the_format_named(scans: Machine) -> None:
    found = scans.done("import", "box", "--format", "alto", "--json").json["layouts"]
    assert found["passes"] == 0
    assert len(found["refused"]) == 3


def test_a_page_is_written_by_pass_and_order(scans: Machine, tmp_path: Path) -> None:
    scans.done("import", "box")
    nodes = scans.done("ls", "--json").json["items"]
    (one,) = [node["id"] for node in nodes if node["name"] == "1.png"]
    (made,) = scans.done("passes", one, "--json").json["items"]
    said = scans.done("export", one, "--pass", made["id"], "--format", "plain-text", "--out", "out").out
    assert "Wrote 1 file" in said
    assert "1.txt does not carry shapes (2): plain text holds text only." in said
    assert "Dear Sir" in (tmp_path / "out" / "1.txt").read_text()
    assert "name that page" in scans.refused("export", "--pass", made["id"], "--out", "more")
    assert "0" * 32 in scans.refused("export", one, "--order", "0" * 32, "--out", "more")
    found = scans.done("export", one, "--kind", "translation", "--out", "other", "--json").json
    assert found["exports"][0]["pass_id"] == made["id"]


def test_what_many_files_do_not_carry_is_said_once(scans: Machine, tmp_path: Path) -> None:
    (tmp_path / "box" / "page" / "2.xml").write_text(PAGE.format(image="2.png"))
    scans.done("import", "box")
    said = scans.done("export", "--format", "plain-text", "--out", "out").out
    assert "  2 files do not carry shapes (4): plain text holds text only." in said
    assert said.count("shapes") == 1
