"""`armarium demo` as `make demo` runs it: on a folder of pages, without a network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from armarium_demo.samples import manuscript_page, write_sample_pages

pytestmark = pytest.mark.slow

ARMARIUM = Path(sys.executable).parent / "armarium"


LAYOUT = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageFilename="{}" imageWidth="100" imageHeight="100"><TextRegion id="r"><Coords points="1,1 90,1 90,90 1,90"/>
<TextLine id="l"><Coords points="1,1 90,1 90,9 1,9"/></TextLine></TextRegion></Page></PcGts>"""


def without_a_network() -> list[str]:
    """Return the command that runs another in a network namespace without a route; empty where the system
    forbids that.
    """
    unshare = shutil.which("unshare")
    enter = [unshare, "--map-root-user", "--net"] if unshare else []
    return enter if enter and subprocess.run([*enter, "true"], capture_output=True).returncode == 0 else []


def demonstrate(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "SERVICE_STATE_DIR": str(place / "state"), "SERVICE_LOCAL_ONLY": "true"}
    command = [*without_a_network(), str(ARMARIUM), "--json", "demo", "--out", str(place / "demo"), *options]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=280)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of a demonstration on two typed pages and a manuscript page."""
    place = tmp_path_factory.mktemp("demonstration")
    for page in write_sample_pages(place / "pages", count=2, scale=0.6)[:1]:
        page.with_suffix(".xml").write_text(LAYOUT.format(page.name), encoding="utf-8")
    manuscript = manuscript_page()
    (place / "pages" / f"{manuscript.name}.jpg").write_bytes(manuscript.jpeg)
    ran = demonstrate(place, "--folder", str(place / "pages"), "--language", "es")
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


def test_it_reports_pages_lines_and_where_everything_is(report: dict[str, Any]) -> None:
    assert report["pages"] == 3
    assert report["lines"] > 20
    # Only lines that were found; those imported from the layout file beside a page do not count.
    pages = [path.read_text(encoding="utf-8") for path in Path(report["exports"]).rglob("*.xml")]
    assert report["lines"] == sum(page.count("<TextLine ") for page in pages)
    assert Path(report["library"]).is_dir()
    assert report["seconds_a_page"] > 0


def test_it_writes_page_xml_text_and_pictures(report: dict[str, Any]) -> None:
    from PIL import Image

    exports = Path(report["exports"])
    assert len(list(exports.rglob("*.xml"))) == 3
    assert any(path.read_text(encoding="utf-8").strip() for path in exports.rglob("*.txt"))
    pictures = [Path(picture) for picture in report["pictures"]]
    assert pictures
    for picture in pictures:
        with Image.open(picture) as opened:
            assert min(opened.size) > 300


def test_print_and_manuscript_are_read_by_the_reader_that_fits_and_the_report_says_why(
    report: dict[str, Any],
) -> None:
    chosen = {reader["page"]: reader for reader in report["readers"]}
    assert {page: one["reader"] for page, one in chosen.items()} == {
        "0001.jpg": "rapidocr",
        "0002.jpg": "rapidocr",
        "0013.jpg": "hand",
    }
    for one in chosen.values():
        assert one["reader"] == max(one["expected"], key=one["expected"].get)
        assert len(one["expected"]) > 1


def test_the_corrected_line_is_in_the_export_after_undo_and_redo(report: dict[str, Any]) -> None:
    assert report["corrected"]["was"] != report["corrected"]["now"]
    words = "".join(path.read_text(encoding="utf-8") for path in Path(report["exports"]).rglob("*.txt"))
    assert report["corrected"]["now"] in words


def test_it_clears_its_own_folder_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("keep me")
    ran = demonstrate(tmp_path)
    assert ran.returncode != 0
    assert (tmp_path / "demo" / "mine.txt").read_text() == "keep me"
    assert "--out" in ran.stderr


def test_it_never_clears_the_pages_it_was_given(tmp_path: Path) -> None:
    pages = tmp_path / "demo" / "pages"
    pages.mkdir(parents=True)
    (tmp_path / "demo" / ".armarium-demo").touch()
    (pages / "mine.jpg").write_bytes(b"a photograph")
    ran = demonstrate(tmp_path, "--folder", str(pages))
    assert ran.returncode != 0
    assert "elsewhere" in ran.stderr
    assert (pages / "mine.jpg").read_bytes() == b"a photograph"
