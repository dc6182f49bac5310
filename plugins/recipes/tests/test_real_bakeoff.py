"""Bake-offs on real pages of an 18th-century hand, with the readers that come with the engine."""

from __future__ import annotations

import os
import xml.etree.ElementTree as Tree
from pathlib import Path
from typing import Any

import pytest
from bakeoff_fixtures import Desk, row_of

from armarium.api import Engine, Library, new_id

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
PAGES = DATA / "page-pairs" / "bronod"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGES.is_dir(), reason="the shared sample pages are not beside this checkout"),
]


def add_page(desk: Desk, name: str) -> int:
    """Add a page with the lines of its PAGE file as ground truth; return the number of lines."""
    root = Tree.parse(PAGES / "page" / f"{name}.xml").getroot()
    space = root.tag.partition("}")[0] + "}"
    page = root.find(f"{space}Page")
    assert page is not None
    width, height = float(page.attrib["imageWidth"]), float(page.attrib["imageHeight"])
    lines = []
    for number, line in enumerate(page.iter(f"{space}TextLine")):
        coords, text = line.find(f"{space}Coords"), line.find(f"{space}TextEquiv/{space}Unicode")
        if coords is None or text is None or not (text.text or "").strip():
            continue
        points = [tuple(map(float, point.split(","))) for point in coords.attrib["points"].split()]
        xs, ys = [x / width for x, _ in points], [y / height for _, y in points]
        rect = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
        polygon = [list(point) for point in zip(xs, ys, strict=True)]
        lines.append(
            {"key": str(number), "rect": rect, "polygon": polygon, "text": (text.text or "").strip()}
        )
    data = (PAGES / f"{name}.jpg").read_bytes()
    picture = {
        "checksum": desk.library.objects.put_bytes(data),
        "mime_type": "image/jpeg",
        "size_bytes": len(data),
        "pixel_width": round(width),
        "pixel_height": round(height),
    }
    box = desk.do("document.create", {"name": "Box", "doc_type": "folder"})["id"]
    page_id = new_id()
    node = {"id": page_id, "parent_id": box, "doc_type": "file", "file_type": "image", "name": f"{name}.jpg"}
    desk.do("document.add_files", {"nodes": [{**node, "picture": picture}]})
    taken = {
        "document_id": page_id,
        "name": "Checked",
        "provider": "sample",
        "model": "sample",
        "lines": lines,
    }
    result = desk.do("segment.take_lines", taken)
    desk.do("segment.pass_ground_truth", {"pass_id": result["pass_id"], "ground_truth": True})
    return len(lines)


def test_a_hand_is_read_by_the_base_reader_and_its_lines_are_found(
    engine: Engine, library: Library, client: Any
) -> None:
    desk = Desk(engine, library, client)
    desk.set_up("handwriting", languages=["fr"])
    names = sorted(path.stem for path in PAGES.glob("*.jpg"))
    lines = 0
    while lines < 100 and names:
        lines += add_page(desk, names.pop(0))
    assert lines >= 100
    result = desk.run()
    base = row_of(result, "linereader:hand-base@1")
    assert base["cer"] is not None, base
    assert 0 < base["cer"]["diplomatic"] < 0.8
    assert all(row["not_scored"] for row in result["candidates"] if row["cer"] is None)
    assert not any(row["card"].startswith("rapidocr:") for row in result["candidates"])
    finders = desk.run(step="find-lines")
    row = row_of(finders, "rapidocr:PP-OCRv6-det@6")
    print(
        base["cer"],
        base["pages_per_hour"],
        row["lines_found"],
        row["lines_checked"],
        row["extra_lines"],
    )
    assert row["lines_checked"] == lines
    assert row["lines_found"] > lines / 4
