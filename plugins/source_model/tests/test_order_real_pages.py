"""The derived order compared with the order that people stated for real pages (PAGE files of the shared data)."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from armarium_source_model.facts import PageFacts
from armarium_source_model.order import Shape, lean_of, line_shape_direction
from armarium_source_model.writing import PageWriting

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
FURNITURE = {"page-number", "header", "footer", "catch-word", "signature-mark"}
DIRECTIONS = {"left-to-right": "ltr", "right-to-left": "rtl", "top-to-bottom": "ttb"}

EXACT = [
    "",
    "odd/page/170025120000003,0074-lite.xml",
    "odd/page/FILE_0010_OCR-D-OCR-CALAMARI.xml",
    "odd/page/PPN860789411-00000001.page.xml",
    "odd/page/bdd_kraken_B_0573.xml",
    "odd/page/bdd_transkribus_B_0287.xml",
    "odd/page/bdd_transkribus_B_0293.xml",
    "odd/page/bdd_transkribus_B_0573.xml",
    "odd/page/empty-lines.page.xml",
    "odd/page/knaw_example.xml",
    "odd/page/knaw_issue_10.xml",
    "odd/page/lorem-ipsum-scan.gt.page.xml",
    "odd/page/mixed-regions.page.xml",
    "odd/page/sp-hyp.page.xml",
    "odd/page/table-order-0001.xml",
    "page-pairs/dinglehopper-larex/OCR-D-GT_0008.xml",
    "page-pairs/dinglehopper-larex/OCR-D-OCR-TESS_0008.xml",
    "page-pairs/kraken-notarial/170025120000003,0074.xml",
    "page-pairs/prima-regiontypes/RegionTypes_2010-01-12.xml",
    "page-pairs/prima-regiontypes/RegionTypes_2010-03-19.xml",
    "page-pairs/prima-simple/SimplePage.xml",
    "rtl/arabic-rasam/BULAC_MS_ARA_1977_0012.xml",
    "rtl/arabic-rasam/BULAC_MS_ARA_1977_0198.xml",
    "rtl/arabic-rasam/BULAC_MS_ARA_417_0010.xml",
    "",
][1:-1]
"""Pages whose stated order is the derived one, region for region and line for line. In the other files of the shared
data the order is that in which lines or margins were drawn, or the file itself says that it reorders the page for a
test.
"""

VERTICAL = [
    "vertical/chinese-bulac/BULAC_BIULO_CHI_1087_1_0091.xml",
    "vertical/chinese-bulac/BULAC_BIULO_CHI_1087_1_0109.xml",
    "vertical/chinese-bulac/BULAC_BIULO_CHI_1938_1_0016.xml",
    "vertical/chinese-bulac/BULAC_BIULO_CHI_1938_1_0020.xml",
    "vertical/chinese-bulac/FR674821001_001_FP1240001-1_0054.xml",
]
"""In these the regions are listed margins first, but the lines of each region are in reading order."""


OTHERWISE = {
    "odd/page/bdd_transkribus_F_0293.xml": "a region without any size lies inside a column and is listed after it",
    "odd/page/explicit_ro.xml": "the file turns the page upside down, to test readers",
    "odd/page/levels-are-different.page.xml": "the file lists the lower of two lines first",
    "page-pairs/dinglehopper-119/00000119.gt.page.xml": "the last line of each paragraph is listed second",
    "page-pairs/dinglehopper-119/00000119.ocr.page.xml": "the last line of each paragraph is listed second",
}
"""Pages whose stated order is not the derived one, with what the file says of them."""


COLUMN_PAGES = ("bnf_arsenal_3516", "bnf-esp-65", "bnf-esp-563", "kbr_9232", "foral_de_", "bnf_fr_844")
"""Documents in tight columns, by words of their files' names."""


class Page(NamedTuple):
    shapes: list[Shape]
    baselines: list[list[tuple[float, float]]]
    texts: dict[str, str]
    written: list[list[str]]
    """Runs of region ids in the stated order, or one run in the file's own order."""
    place: dict[str, int]
    aspect: float


def name_of(element: Any) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def load(path: Path) -> Page:
    """Read the regions and lines of a PAGE file, as far as an order needs them."""
    etree = pytest.importorskip("lxml.etree")
    root = etree.parse(
        str(path), etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    ).getroot()
    page = next(element for element in root.iter() if name_of(element) == "Page")
    width, height = float(page.get("imageWidth")), float(page.get("imageHeight"))
    found_page = Page([], [], {}, [], {}, width / height)

    def points(element: Any, name: str) -> list[tuple[float, float]]:
        for child in element:
            if name_of(child) == name:
                pairs = re.findall(r"(-?[\d.]+),(-?[\d.]+)", child.get("points") or "")
                pairs = pairs or [(p.get("x"), p.get("y")) for p in child if name_of(p) == "Point"]
                return [(float(x) / width, float(y) / height) for x, y in pairs]
        return []

    def add(element: Any, kind: str, parent: str | None, role: str | None) -> None:
        outline = points(element, "Coords") or points(element, "Baseline")
        if not outline:
            return
        left, top = min(x for x, _ in outline), min(y for _, y in outline)
        right, bottom = max(x for x, _ in outline), max(y for _, y in outline)
        identity = element.get("id")
        direction = DIRECTIONS.get(element.get("readingDirection") or "")
        size = (max(right - left, 1e-6), max(bottom - top, 1e-6))
        furniture = role in FURNITURE
        found_page.shapes.append(Shape(identity, kind, left, top, *size, parent, furniture, direction, role))
        found_page.place[identity] = len(found_page.place)

    def walk(element: Any, parent: str | None) -> None:
        for child in element:
            name = name_of(child)
            if name == "TextLine":
                add(child, "line", parent, None)
                if baseline := points(child, "Baseline"):
                    found_page.baselines.append(baseline)
                said = [e.text for e in child.iter() if name_of(e) == "Unicode" and e.text]
                found_page.texts[child.get("id")] = " ".join(said)
            elif name.endswith("Region") and name[:-6] not in ("Image", "Separator", "Graphic", "Noise"):
                said = re.search(r"structure \{type:([^;]+)", child.get("custom") or "")
                add(child, "region", parent, child.get("type") or (said and said.group(1)) or None)
                walk(child, child.get("id"))

    walk(page, None)
    top = [shape.id for shape in found_page.shapes if shape.parent_id is None]
    reading_order = next((element for element in root.iter() if name_of(element) == "ReadingOrder"), None)
    stated = [run for run in runs(reading_order) if len(run) > 1] if reading_order is not None else []
    found_page.written.extend([one for one in run if one in top] for run in stated or [top])
    return found_page


def runs(group: Any) -> list[list[str]]:
    """Return the regions as a ReadingOrder states them: the members of an UnorderedGroup are runs of their own."""
    ordered = name_of(group).startswith("OrderedGroup")
    inside = [e for e in group if name_of(e).startswith(("RegionRef", "OrderedGroup", "UnorderedGroup"))]
    if ordered:
        inside.sort(key=lambda e: int(e.get("index") or 0))
    found: list[list[str]] = [[]]
    for child in inside:
        below = [[child.get("regionRef")]] if name_of(child).startswith("RegionRef") else runs(child)
        if ordered and len(below) == 1:
            found[0].extend(below[0])
        else:
            found.extend(below)
    return [run for run in found if run]


def derive_order(page: Page) -> list[str]:
    lean = lean_of(page.baselines, page.aspect)
    return PageWriting(page.shapes, PageFacts(aspect=page.aspect), page.texts, lean=lean).sequence()


def real(name: str) -> Page:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not here: set ARMARIUM_SHARED_DATA to the folder of real pages")
    return load(path)


def assert_lines_in_order(page: Page, sequence: list[str]) -> None:
    for region in {shape.parent_id for shape in page.shapes if shape.kind == "line"}:
        lines = {shape.id for shape in page.shapes if shape.parent_id == region and shape.kind == "line"}
        assert [one for one in sequence if one in lines] == sorted(lines, key=page.place.__getitem__)


@pytest.mark.parametrize("name", EXACT)
def test_the_derived_order_is_the_written_one(name: str) -> None:
    page = real(name)
    sequence = derive_order(page)
    for run in page.written:
        assert [one for one in sequence if one in set(run)] == run
    assert_lines_in_order(page, sequence)


@pytest.mark.parametrize("name", VERTICAL)
def test_lines_of_vertical_pages_follow_each_other_from_right_to_left(name: str) -> None:
    page = real(name)
    assert line_shape_direction(page.shapes, page.aspect) == "ttb"
    assert_lines_in_order(page, derive_order(page))


def is_exact(page: Page) -> bool:
    sequence = derive_order(page)
    try:
        assert_lines_in_order(page, sequence)
    except AssertionError:
        return False
    return all([one for one in sequence if one in set(run)] == run for run in page.written)


def test_the_readme_gives_the_number_of_stated_orders_that_are_derived_exactly() -> None:
    """Counted over every PAGE file of the shared data with a ReadingOrder of regions that have a shape."""
    if not DATA.is_dir():
        pytest.skip("the real pages are not here: set ARMARIUM_SHARED_DATA to their folder")
    found: dict[str, bool] = {}
    for path in sorted(DATA.rglob("*.xml")):
        data = path.read_bytes()
        if b"RegionRefIndexed" not in data or b"PcGts" not in data:
            continue
        try:
            page = load(path)
        except (ValueError, TypeError, ZeroDivisionError):
            # Files kept as bad examples, whose page has no size.
            continue
        found[str(path.relative_to(DATA))] = is_exact(page)
    assert {name for name, exact in found.items() if not exact} == set(OTHERWISE)
    said = f"{sum(found.values())} of the {len(found)} pages that state an order"
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert said in " ".join(readme.split())


@pytest.mark.parametrize("document", COLUMN_PAGES)
def test_manuscripts_in_columns_are_read_column_by_column(
    document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the lines alone, without regions, as a machine finds them; the files are in reading order."""
    if not (DATA / "columns").is_dir():
        pytest.skip("the pages in columns are not here: set ARMARIUM_SHARED_DATA to the folder of real pages")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    layouts = importlib.import_module("benchmarks.layouts")
    tally = importlib.import_module("benchmarks.reading_order").Tally()
    for path in sorted((DATA / "columns").glob(f"*{document}*.xml")):
        layout = layouts.read_layout(path, "columns", document)
        tally.add(layout, layout.columns_of_lines())
    assert tally.pages > 3
    assert tally.scrambled == 0
    assert tally.kept >= 0.95 * tally.all
