"""Shapes that extend beyond their page: clipped with their original points preserved, imported without a
place, or refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from batch_files import picture, send, take
from starlette.testclient import TestClient
from test_folder_import import import_and_wait

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.api import PageModel, PageSegment, ReadContext, WriteContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.placing import place
from armarium_formats.queries.exchange import export_page
from armarium_formats.tei.driver import Tei

SIZE = (1000, 1400)
INSIDE = [(100, 100), (300, 100), (300, 200)]
SHAPES = {
    # name: points, parts of it on the page
    "over the right edge": ([(900, 100), (1100, 100), (1100, 200), (900, 200)], 1),
    "over two edges at a corner": ([(900, -50), (1080, -50), (1080, 60), (900, 60)], 1),
    "a comb whose teeth alone are on the page": (
        [(1100, 100), (950, 100), (950, 150), (1050, 150), (1050, 250), (950, 250), (950, 300), (1100, 300)],
        2,
    ),
    "around a corner and not on the page": ([(-80, -80), (-80, 1500), (-40, 1500), (-40, -40), (1300, -40), (1300, -80)], 0),
    "wholly to the left": ([(-90, 10), (-20, 10), (-20, 60)], 0),
}  # fmt: skip
PATHS = {
    "over the right edge": ([(900, 150), (1100, 152)], 1),
    "in and out": ([(900, 150), (1050, 150), (1050, 160), (900, 160)], 2),
    "wholly below": ([(100, 1500), (300, 1500)], 0),
}


def page(*segments: PageSegment) -> PageModel:
    region = PageSegment("r", "region", "TextRegion", [(50, 50), (950, 50), (950, 1350), (50, 1350)])
    region.children = list(segments)
    return PageModel(*SIZE, "a.jpg", [region])


def line(points: Any = INSIDE, baseline: Any = ()) -> PageSegment:
    return PageSegment("l", "line", points=list(points), baseline=list(baseline))


def import_page(
    engine: Engine, library: Library, document: str, made: PageModel, **more: Any
) -> dict[str, Any]:
    file = Tei().write(made, WriteContext()).content
    params = {"document_id": document, "file": file, "filename": "a.xml", **more}
    return dict(engine.run(library, "format.import", params, LOCAL_OWNER).result or {})


def read_held(library: Library, key: str = "l") -> dict[str, Any]:
    with library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT id, anchor, baseline, metadata, version FROM segment").all()
    for identity, anchor, baseline, metadata, version in rows:
        said = orjson.loads(metadata)
        if said["format"]["id"] == key:
            return {"id": identity, "baseline": orjson.loads(baseline or "null"), "version": version,
                    **orjson.loads(anchor), "metadata": said}  # fmt: skip
    raise AssertionError(key)


def export_and_read(
    engine: Engine, library: Library, document: str, name: str = "tei"
) -> tuple[PageSegment, list[str]]:
    export = export_page(engine, library, document, name)
    driver = Tei() if name == "tei" else PageXml()
    (back,) = driver.read(export["content"].encode(), ReadContext("b.xml"))
    (found,) = [segment for segment in back.walk() if segment.id == "l"]
    return found, [loss["what"] for loss in export["losses"]]


@pytest.mark.parametrize("name", [name for name, (_, parts) in SHAPES.items() if parts])
def test_an_outline_partly_beyond_the_page_is_clipped_and_exported_with_its_original_points(
    engine: Engine, library: Library, page_document: str, name: str
) -> None:
    points, parts = SHAPES[name]
    new_page = import_page(engine, library, page_document, page(line(points)))
    far = max(max(-x, -y, x - SIZE[0], y - SIZE[1]) for x, y in points)
    (note,) = [note for note in new_page["notes"] if "beyond" in note]
    assert note.startswith(f"1 shape reaches beyond the page, by {far} pixels")
    there = read_held(library)
    x, y, w, h = there["rect"]
    assert min(x, y) >= 0
    assert max(x + w, y + h) <= 1 + 1e-9
    assert ("polygon" in there) == (parts == 1)
    assert there["metadata"]["raw_polygon_px"] == [list(point) for point in points]
    assert there["metadata"]["raw_pixel_frame"] == list(SIZE)
    assert f"extends {far} pixels beyond the page" in there["metadata"]["geometry_problem"]
    found, losses = export_and_read(engine, library, page_document)
    assert found.points == points
    assert losses == []


def test_the_part_that_is_drawn_is_the_part_on_the_page(
    engine: Engine, library: Library, page_document: str
) -> None:
    import_page(engine, library, page_document, page(line(SHAPES["over the right edge"][0])))
    there = read_held(library)
    assert there["rect"] == pytest.approx([0.9, 100 / 1400, 0.1, 100 / 1400])
    assert {(round(x, 6), round(y, 6)) for x, y in there["polygon"]} == {
        (0.9, round(100 / 1400, 6)), (1, round(100 / 1400, 6)), (1, round(200 / 1400, 6)), (0.9, round(200 / 1400, 6)),
    }  # fmt: skip


def test_a_clipped_outline_that_was_redrawn_is_exported_as_drawn(
    engine: Engine, library: Library, page_document: str
) -> None:
    import_page(engine, library, page_document, page(line(SHAPES["over the right edge"][0])))
    there = read_held(library)
    anchor = {
        "document_id": page_document,
        "rect": [0.5, 0.5, 0.25, 0.25],
        "polygon": [[0.5, 0.5], [0.75, 0.5], [0.75, 0.75]],
    }
    params = {"segment_id": there["id"], "expected_version": there["version"], "anchor": anchor}
    engine.run(library, "segment.update", params, LOCAL_OWNER)
    found, _ = export_and_read(engine, library, page_document)
    assert found.points == [(500, 700), (750, 700), (750, 1050)]


@pytest.mark.parametrize("name", [name for name, (_, parts) in PATHS.items() if parts])
def test_a_baseline_partly_beyond_the_page_is_clipped_or_preserved_separately(
    engine: Engine, library: Library, page_document: str, name: str
) -> None:
    points, parts = PATHS[name]
    new_page = import_page(engine, library, page_document, page(line(INSIDE, points)))
    assert any("1 shape reaches beyond the page" in note for note in new_page["notes"])
    there = read_held(library)
    if parts == 1:
        assert there["baseline"] == [pytest.approx([0.9, 150 / 1400]), pytest.approx([1, 151 / 1400])]
    else:
        assert there["baseline"] is None
        assert "in 2 pieces" in there["metadata"]["geometry_problem"]
    assert there["metadata"]["raw_baseline_px"] == [list(point) for point in points]
    found, losses = export_and_read(engine, library, page_document)
    assert (found.points, found.baseline, losses) == (INSIDE, points, [])


@pytest.mark.parametrize(
    ("points", "baseline"),
    [
        *((points, ()) for points, parts in SHAPES.values() if not parts),
        *((INSIDE, points) for points, parts in PATHS.values() if not parts),
        ([(-90, 10), (-20, 10)], ()),
    ],
)
def test_a_shape_entirely_beyond_the_page_refuses_the_file_or_is_imported_without_a_place(
    engine: Engine, library: Library, page_document: str, points: Any, baseline: Any
) -> None:
    new_page = page(line(points, baseline))
    with pytest.raises(Invalid, match=r"are entirely outside it: l\..*beyond=keep") as refusal:
        import_page(engine, library, page_document, new_page)
    assert refusal.value.fields == {"segments": ["l"], "count": 1}
    notes = import_page(engine, library, page_document, new_page, beyond="keep")["notes"]
    (note,) = [note for note in notes if "only beyond the page" in note]
    assert note.endswith("the file's own points are kept: l.")
    there = read_held(library)
    if baseline:
        assert there["baseline"] is None
        assert "polygon" in there
    else:
        assert there["rect"] == pytest.approx(read_held(library, "r")["rect"])
        assert "polygon" not in there
    assert "no part of it is on the page" in there["metadata"]["geometry_problem"]
    found, _ = export_and_read(engine, library, page_document)
    if len(points) > 2:  # a TEI outline needs three points; the export reports the loss
        assert (found.points, found.baseline) == (points, list(baseline))


def test_refuse_refuses_what_would_be_clipped(engine: Engine, library: Library, page_document: str) -> None:
    with pytest.raises(Invalid, match="extend beyond it: l") as refusal:
        import_page(
            engine,
            library,
            page_document,
            page(line([(900, 100), (1003, 100), (1003, 200)])),
            beyond="refuse",
        )
    assert refusal.value.code == "shapes_outside"
    import_page(
        engine, library, page_document, page(line([(900, 100), (1002, 100), (1002, 200)])), beyond="refuse"
    )


def test_many_shapes_beyond_the_page_are_counted_and_the_farthest_is_stated() -> None:
    lines = [line([(900, 100), (1000 + far, 100), (1000 + far, 200)]) for far in range(3, 103)]
    for number, one in enumerate(lines):
        one.id = f"l{number}"
    placed = place(page(*lines), SIZE, "a.xml", "tei")
    assert placed.notes == [
        "100 shapes reach beyond the page, the farthest by 102 pixels; the part on the page is drawn, and the file's own "
        "points are kept."
    ]
    assert placed.counts["line"] == 100


def test_page_xml_exports_points_beyond_the_lower_right_edge(
    engine: Engine, library: Library, page_document: str
) -> None:
    points = SHAPES["over the right edge"][0]
    file = PageXml().write(page(line(points)), WriteContext()).content
    params = {"document_id": page_document, "file": file, "filename": "a.xml"}
    engine.run(library, "format.import", params, LOCAL_OWNER)
    found, losses = export_and_read(engine, library, page_document, "pagexml")
    assert (found.points, losses) == (points, [])


def test_a_number_too_large_for_json_is_stored_as_closely_as_possible() -> None:
    far = 10**25
    placed = place(page(line([(900, 100), (far, 100), (far, 200), (900, 200)])), SIZE, "a.xml", "pagexml")
    (metadata,) = [one for row in placed.segments.rows for one in row if "raw_polygon_px" in str(one)]
    assert orjson.loads(str(metadata))["raw_polygon_px"][1] == [1e25, 100]


STRAY = (
    b'<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">'
    b'<Page imageFilename="1.png" imageWidth="120" imageHeight="90"><TextRegion id="r1">'
    b'<Coords points="1,1 110,1 110,80 1,80"/><TextLine id="stray"><Coords points="200,10 300,10 300,30"/>'
    b"<TextEquiv><Unicode>far</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"
)


def test_the_option_is_accepted_by_the_routes(client: TestClient, page_document: str) -> None:
    answer = client.post(
        f"/api/documents/{page_document}/import",
        files={"file": ("a.xml", STRAY, "application/xml")},
        data={"beyond": "keep"},
    )
    assert answer.status_code == 200, answer.text
    assert any("stray" in note for note in answer.json()["notes"])

    files = [("files", ("1.png", picture(), "image/png")), ("files", ("1.xml", STRAY, "application/xml"))]
    refused = client.post("/api/documents/import-batch", files=files)
    assert "are entirely outside" in refused.json()["refused"][0]["why"]
    files[0] = ("files", ("1.png", picture(grey=3), "image/png"))
    response = client.post("/api/documents/import-batch", files=files, data={"beyond": "keep"})
    assert len(response.json()["passes"]) == 1, response.text
    odd = client.post("/api/documents/import-batch", files=files, data={"beyond": "stretch"})
    assert (odd.status_code, odd.json()["detail"]) == (
        422, "beyond is 'stretch'; it must be one of clip, keep, refuse."
    )  # fmt: skip


def test_the_option_is_accepted_for_files_of_this_machine_and_folders(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "scans"
    folder.mkdir()
    (folder / "1.png").write_bytes(picture(grey=7))
    (folder / "1.xml").write_bytes(STRAY)
    named = take(engine, library, [folder / "1.png", folder / "1.xml"], beyond="keep")
    assert len(named["passes"]) == 1
    _, found = import_and_wait(engine, library, folder=str(folder), again=True)
    assert (found["passes"], found["refused_count"]) == (0, 1)
    _, found = import_and_wait(engine, library, folder=str(folder), again=True, beyond="keep")
    assert (found["passes"], found["refused_count"]) == (1, 0)
    with pytest.raises(Invalid):
        send(engine, library, {"1.png": picture(grey=9)}, beyond="stretch")
