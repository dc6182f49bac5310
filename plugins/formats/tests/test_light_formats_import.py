"""Formats that can only be read, imported into a project: labels, boxes, points, text and hOCR."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from armarium.engine import Engine
from armarium.errors import Conflict, Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.queries.exchange import export_page

HOCR = (
    "<div class='ocr_page' title='image a.png; bbox 0 0 1000 1400'><p class='ocr_par' title='bbox 10 10 500 90'>"
    "<span class='ocr_line' title='bbox 10 10 500 50'><span class='ocrx_word' title='bbox 10 10 90 50; x_wconf 77'>Dear</span>"
    "</span></p></div>"
)
POINTS = "#CRS: EPSG:4326\nmapX,mapY,sourceX,sourceY,enable\n10.5,52.25,100.5,-200.25,1\n"


def run(engine: Engine, library: Library, document: str, text: str, name: str, **more: Any) -> dict[str, Any]:
    params = {"document_id": document, "file": text, "filename": name, **more}
    return dict(engine.run(library, "format.import", params, LOCAL_OWNER).result or {})


def test_hocr_becomes_a_pass_and_what_is_only_read_is_not_written(
    engine: Engine, library: Library, page_document: str
) -> None:
    result = run(engine, library, page_document, HOCR, "a.txt")
    assert (result["format"], result["counts"]) == (
        "hocr",
        {"region": 1, "line": 1, "word": 1, "readings": 2},
    )
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT content, confidence FROM content_representation ORDER BY confidence"
        ).all()
    assert rows == [("Dear", None), ("Dear", 0.77)]
    for name in ("abbyy", "yolo", "tesseract-box", "qgis-points"):
        with pytest.raises(Conflict, match="can be read here, but not written"):
            export_page(engine, library, page_document, name)
    exported = export_page(engine, library, page_document, "pagexml")
    assert "<Unicode>Dear</Unicode>" in exported["content"]


def test_a_line_of_text_without_a_picture_covers_the_whole_page(
    engine: Engine, library: Library, page_document: str
) -> None:
    result = run(engine, library, page_document, "Dear Sir,\nI write\n\nto you.\n", "a.txt")
    assert (result["format"], result["counts"]["line"], result["counts"]["region"]) == ("plain-text", 3, 2)
    assert "each segment is the whole page" in " ".join(result["notes"])


def test_labels_without_the_size_of_the_page_are_refused(
    engine: Engine, library: Library, page_document: str
) -> None:
    for text in ("0 0.5 0.5 0.1 0.1\n", "a 1 2 3 4 0\n", POINTS):
        with pytest.raises(Invalid, match="not declare the size") as refusal:
            run(engine, library, page_document, text, "a.txt")
        assert refusal.value.code == "no_page_size"


def test_every_real_hocr_file_is_imported_or_refused_in_words(engine: Engine, library: Library) -> None:
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = Path(answer) if answer else Path(__file__).resolve().parents[4] / "shared" / "data"
    files = [path for one in ("hocr", "odd/hocr") for path in (folder / one).glob("*") if "h" in path.suffix]
    if not files:
        pytest.skip("no shared data here (set ARMARIUM_SHARED_DATA)")
    refused: dict[str, str] = {}
    for path in files:
        result = engine.run(library, "document.create", {"name": path.name, "doc_type": "page"}, LOCAL_OWNER)
        document = str((result.result or {})["id"])
        try:
            found = run(engine, library, document, path.read_text(), path.name)
        except Invalid as refusal:
            refused[path.name] = str(refusal.code)
            continue
        assert found["counts"]["line"] == len(re.findall(r"class=['\"]ocr_line['\"]", path.read_text())), path
    assert refused == {"notok-system.html": "no_page_size", "notok-typo.html": "no_page_size"}


def test_pictures_and_separators_are_exported_to_page_and_alto(
    engine: Engine, library: Library, page_document: str
) -> None:
    areas = "".join(
        f"<div class='{name}' title='bbox 10 {top} 500 {top + 50}'></div>"
        for name, top in (("ocr_photo", 200), ("ocr_separator", 400), ("ocr_table", 600))
    )
    run(engine, library, page_document, HOCR.replace("</div>", areas + "</div>"), "a.html")
    page = export_page(engine, library, page_document, "pagexml")["content"]
    for element in ("ImageRegion", "SeparatorRegion", "TableRegion"):
        assert page.count(f"<{element} ") == 1
    assert 'custom="structure {type:ocr_photo;}"' in page
    alto = export_page(engine, library, page_document, "alto")["content"]
    assert (alto.count("<Illustration "), alto.count("<GraphicalElement ")) == (1, 1)


@pytest.mark.parametrize("width", ["99999999999", "9" * 400, "1e308"])
def test_a_page_larger_than_any_picture_is_refused(
    engine: Engine, library: Library, page_document: str, width: str
) -> None:
    page = (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
        f'<Page imageFilename="a" imageWidth="{width}" imageHeight="9"/></PcGts>'
    )
    with pytest.raises(Invalid, match=r"not declare the size of its page|no picture has a side"):
        run(engine, library, page_document, page, "a.xml")
    with pytest.raises(Invalid, match=r"not declare the size of its page|no picture has a side"):
        run(
            engine,
            library,
            page_document,
            f"<div class='ocr_page' title='bbox 0 0 {width} 9'></div>",
            "a.html",
        )


def import_picture(engine: Engine, library: Library, folder: Path) -> str:
    """Import a picture of 200 x 100 pixels; return its page's id."""
    from PIL import Image

    source = folder / "pictures"
    source.mkdir()
    Image.new("L", (200, 100), 200).save(source / "0001.png")
    engine.run(library, "document.import", {"folder": str(source)}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        return str(conn.exec_driver_sql("SELECT document_id FROM rendition WHERE is_primary").scalar_one())


def test_labels_become_segments_on_the_picture(engine: Engine, library: Library, tmp_path: Path) -> None:
    page = import_picture(engine, library, tmp_path)
    result = run(
        engine,
        library,
        page,
        "0 0.5 0.5 0.5 0.5 0.9\n1 0.5 0.25 0.5 0.1\n7 0.5 0.5 0.1 0.1\n",
        "0001.txt",
        companions=[{"filename": "classes.txt", "file": "MainZone\nDefaultLine\n"}],
    )
    assert (result["format"], result["unknown_classes"]) == ("yolo", ["7"])
    assert result["counts"] == {"region": 2, "line": 1, "word": 0, "readings": 0}
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT kind, kind_raw, bbox_x, bbox_y, bbox_w, bbox_h, confidence FROM segment ORDER BY id"
        ).all()
    assert rows[0] == ("region", "MainZone", 0.25, 0.25, 0.5, 0.5, 0.9)
    assert [row[:2] for row in rows[1:]] == [("line", "DefaultLine"), ("region", "class 7")]


def test_labels_beyond_the_picture_are_refused_by_name(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    page = import_picture(engine, library, tmp_path)
    with pytest.raises(Invalid, match="label-2") as refusal:
        run(engine, library, page, "0 0.5 0.5 0.5 0.5\n0 0.95 0.5 0.4 0.5\n", "0001.txt", beyond="refuse")
    assert refusal.value.code == "shapes_outside"


def test_boxes_are_turned_upright_on_the_picture(engine: Engine, library: Library, tmp_path: Path) -> None:
    page = import_picture(engine, library, tmp_path)
    result = run(engine, library, page, "a 20 10 40 30 0\nb 42 10 60 30 0\n\t 60 10 61 30 0\n", "0001.box")
    assert result["counts"] == {"region": 0, "line": 1, "word": 1, "readings": 2}
    with library.db.read() as conn:
        (box,) = conn.exec_driver_sql(
            "SELECT bbox_x, bbox_y, bbox_w, bbox_h FROM segment WHERE kind = 'line'"
        ).all()
    assert box == pytest.approx((0.1, 0.7, 0.2, 0.2))


def test_control_points_are_stored_with_the_pass(engine: Engine, library: Library, tmp_path: Path) -> None:
    page = import_picture(engine, library, tmp_path)
    result = run(engine, library, page, POINTS.replace("100.5", "50").replace("-200.25", "-25"), "map.points")
    assert result["counts"] == {"region": 0, "line": 0, "word": 0, "readings": 0}
    assert result["kept"] == [{"what": "control points", "count": 1}]
    with library.db.read() as conn:
        kept = conn.exec_driver_sql(
            "SELECT page FROM format_import WHERE format = 'qgis-points'"
        ).scalar_one()
    (point,) = orjson.loads(kept)["extras"]["qgis-points"]["points"]
    assert (point["x"], point["y"], point["map_x"], point["map_y"]) == (50, 25, 10.5, 52.25)


def test_a_coordinate_of_many_digits_is_refused_in_words(
    engine: Engine, library: Library, page_document: str
) -> None:
    many = "9" * 400
    page = (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
        '<Page imageFilename="a" imageWidth="9" imageHeight="9"><TextRegion id="r1">'
        f'<Coords points="1,1 {many},1 5,5"/></TextRegion></Page></PcGts>'
    )
    with pytest.raises(Invalid, match="r1"):
        run(engine, library, page_document, page, "a.xml")
