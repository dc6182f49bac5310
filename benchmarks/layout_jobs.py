"""Row 22: precision and recall of the jobs that need no model: table cells, gutters, reading orders.

No times: precision and recall on tables and spreads generated here (so that the ground truth is known), on spreads
joined from real pages, and on the real pages that state an order. Real pages are those of `ARMARIUM_SHARED_DATA`;
without them only generated ones are measured. A box counts as found from an intersection over union of one half, each
box once, the best pairs first; a cut counts within three hundredths of the width; an order, line by line, by what
follows what.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.api import Engine, Library, ServiceError
from benchmarks.harness import Result
from benchmarks.places import OWNER, running_engine, scratch_folder

if TYPE_CHECKING:
    from PIL import Image

    from armarium_layout.finding.ink import Box

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
TABLES = 40
SPREADS = 40
NEAR = 0.03
LEAST = 0.5


def measure(rounds: int) -> list[Result]:
    """Measure precision and recall of each; *rounds* does not matter, since nothing is timed."""
    found = [
        *_tables("ruled tables, made here", level=True, upright=True),
        *_tables("tables ruled in columns only, made here", level=False, upright=True),
        *_tables("tables without rules, made here", level=False, upright=False),
        *_spreads(
            "spreads with a fold, made here, beside as many single pages", _made_spreads(), _made_singles()
        ),
    ]
    if DATA.is_dir():
        found += _spreads(
            "spreads joined from real pages, beside those pages", _joined_spreads(), _real_singles()
        )
        found += _spreads("photographs of open books", _photographs(), [])
        found += _orders()
    return found


def _result(what: str, measure: str, right: int, of: int, peer: str, note: str = "") -> Result:
    share = right / of if of else 0.0
    return Result(
        22, f"{what}: {measure}", peer, float(right), float(of), "all", share, "at least", None, note
    )


def _both(what: str, right: int, found: int, there: int, unit: str, note: str = "") -> list[Result]:
    return [
        _result(what, "precision", right, found, unit, note),
        _result(what, "recall", right, there, unit),
    ]


def _sheet(image: Image.Image, longest: int = 2000) -> Any:
    from armarium_layout.finding.ink import sheet_of

    return sheet_of(image, longest)


def _tables(what: str, *, level: bool, upright: bool) -> list[Result]:
    from armarium_layout.finding.ink import Box, rows_of
    from armarium_layout.finding.tables import tables_of
    from armarium_layout.finding.unruled import unruled_table

    right = found = there = 0
    for seed in range(TABLES):
        image, truth = _table(random.Random(seed), level=level, upright=upright)
        sheet = _sheet(image)
        if upright:
            cells = [cell.box for table in tables_of(sheet) for cell in table.cells]
        else:
            left, top, end, foot = truth[0].left, truth[0].top, truth[-1].right, truth[-1].bottom
            area = Box(*(value * sheet.scale for value in (left, top, end, foot)))
            table = unruled_table(rows_of(sheet.ink, reach=1.2), area)
            cells = [cell.box for cell in table.cells] if table is not None else []
        boxes = [Box(*(value / sheet.scale for value in box)) for box in cells]
        right += _count_matches(boxes, truth)
        found, there = found + len(boxes), there + len(truth)
    return _both(f"find-a-tables-cells, {TABLES} {what}", right, found, there, "cells")


def _table(dice: random.Random, *, level: bool, upright: bool) -> tuple[Image.Image, list[Box]]:
    """Return a page with a table and words in its cells, skewed by up to half a degree where it is ruled both ways."""
    from PIL import Image, ImageDraw, ImageFont

    from armarium_layout.finding.ink import Box

    xs, ys = [120], [160]
    for _ in range(dice.randrange(2, 7)):
        xs.append(xs[-1] + dice.randrange(130, 280))
    for _ in range(dice.randrange(4, 16)):
        ys.append(ys[-1] + dice.randrange(46, 80))
    image = Image.effect_noise((xs[-1] + 160, ys[-1] + 200), 6).point(lambda value: value + 90)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(dice.randrange(16, 24))
    if level:
        for y in ys:
            pen.line((xs[0], y, xs[-1], y), fill=70, width=2)
    if upright:
        for x in xs:
            pen.line((x, ys[0], x, ys[-1]), fill=70, width=2)
    cells = []
    for top, bottom in pairwise(ys):
        for left, right in pairwise(xs):
            cells.append(Box(left, top, right, bottom))
            if dice.random() < 0.9:
                word = dice.choice(("Petrus", "viginti", "xij", "domus", "1742", "libras", "Maria"))
                pen.text((left + 14, (top + bottom) / 2), word, font=font, fill=40, anchor="lm")
    return image, cells


def _count_matches(found: Sequence[Box], truth: Sequence[Box]) -> int:
    def overlap(a: Box, b: Box) -> float:
        shared = a.shared_area(b)
        return shared / (a.width * a.height + b.width * b.height - shared) if shared else 0.0

    pairs = sorted(
        ((overlap(a, b), i, j) for i, a in enumerate(found) for j, b in enumerate(truth)), reverse=True
    )
    mine: set[int] = set()
    theirs: set[int] = set()
    for share, i, j in pairs:
        if share >= LEAST and i not in mine and j not in theirs:
            mine.add(i)
            theirs.add(j)
    return len(mine)


_Spread = tuple["Image.Image", float]


def _spreads(what: str, spreads: Sequence[_Spread], singles: Sequence[Image.Image]) -> list[Result]:
    from armarium_layout.finding.gutter import LOOKED_AT, gutter_of

    right = found = 0
    for image, at in spreads:
        gutter = gutter_of(_sheet(image, LOOKED_AT))
        found += gutter is not None
        right += gutter is not None and abs(gutter.x - at) <= NEAR
    found += sum(gutter_of(_sheet(image, LOOKED_AT)) is not None for image in singles)
    return _both(f"split-pages, {len(spreads)} {what}", right, found, len(spreads), "cuts")


def _draw_page(dice: random.Random, width: int, height: int) -> Image.Image:
    """Draw a page of lines of writing."""
    from PIL import Image, ImageDraw

    image = Image.effect_noise((width, height), 6).point(lambda value: value + 90)
    pen = ImageDraw.Draw(image)
    for y in range(90, height - 80, dice.randrange(28, 44)):
        x = dice.randrange(70, 110)
        while x < width - 110:
            wide = dice.randrange(14, 70)
            for letter in range(x, x + wide, 9):
                pen.line((letter, y, letter + 3, y - dice.randrange(8, 15)), fill=50, width=3)
            x += wide + 14
    return image


def _made_spreads() -> list[_Spread]:
    import numpy
    from PIL import Image

    made = []
    for seed in range(SPREADS):
        dice = random.Random(seed)
        widths = [dice.randrange(640, 820) for _ in range(2)]
        pages = [_draw_page(dice, width, 1000) for width in widths]
        joined = Image.new("L", (sum(widths), 1000))
        joined.paste(pages[0], (0, 0))
        joined.paste(pages[1], (widths[0], 0))
        pixels = numpy.asarray(joined).astype(float)
        away = numpy.abs(numpy.arange(sum(widths)) - widths[0])[None, :]
        shadow = dice.randrange(25, 120) * numpy.exp(-away / dice.randrange(6, 40))
        made.append(
            (
                Image.fromarray(numpy.clip(pixels - shadow, 0, 255).astype(numpy.uint8)),
                widths[0] / sum(widths),
            )
        )
    return made


def _made_singles() -> list[Image.Image]:
    """Return single pages, most of them wider than high: upright ones are never cut."""
    return [
        _draw_page(random.Random(seed), random.Random(seed).randrange(1100, 1500), 1000)
        for seed in range(SPREADS)
    ]


def _open_image(path: Path) -> Image.Image:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    image = Image.open(path)
    image.draft("L", (1200, 1200))
    return image.convert("L")


def _pages() -> list[Path]:
    return [*sorted((DATA / "series-wills").glob("*.jpg")), *sorted((DATA / "onehand-peraire").glob("*.jpg"))]


def _joined_spreads() -> list[_Spread]:
    from PIL import Image

    dice = random.Random(22)
    pages = [page for page in map(_open_image, _pages()) if 0.55 < page.width / page.height < 0.8]
    made = []
    for _ in range(SPREADS):
        halves = [
            page.resize((round(page.width * 1000 / page.height), 1000)) for page in dice.sample(pages, 2)
        ]
        joined = Image.new("L", (halves[0].width + halves[1].width, 1000))
        joined.paste(halves[0], (0, 0))
        joined.paste(halves[1], (halves[0].width, 0))
        made.append((joined, halves[0].width / joined.width))
    return made


def _real_singles() -> list[Image.Image]:
    return [_open_image(path) for path in _pages()]


def _photographs() -> list[_Spread]:
    """Return open books of the shared data; the positions of their folds were measured by eye."""
    at = {f"page-pairs/bronod/{name}.jpg": 0.495 for name in ("0001", "0003", "0014", "0021", "0024", "0041")}
    at |= {"hocr/litver.png": 0.56}
    # The table of these runs across the fold.
    at |= {f"page-pairs/mariages/{name}_L.jpg": 0.515 for name in ("FRAN_0187_49914", "FRAN_0187_50521")}
    return [(_open_image(DATA / name), where) for name, where in at.items() if (DATA / name).exists()]


def _orders() -> list[Result]:
    """Run put-in-order on every PAGE file that states an order: what follows what, line by line."""
    right = found = there = files = 0
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        for path in sorted(DATA.rglob("*.xml")):
            data = path.read_bytes()
            if b"PcGts" not in data or b"RegionRefIndexed" not in data:
                continue
            orders = _both_orders(engine, library, path)
            if orders is None:
                continue
            stated, derived = (set(pairwise(order)) for order in orders)
            files += 1
            right += len(stated & derived)
            found, there = found + len(derived), there + len(stated)
    what = f"put-in-order, {files} real pages that state an order"
    return _both(what, right, found, there, "pairs of neighbours")


def _both_orders(engine: Engine, library: Library, path: Path) -> tuple[list[str], list[str]] | None:
    """Return the lines of a PAGE file in the order that it states, and as they are ordered here; None for a file that
    is refused.
    """

    def run(name: str, params: dict[str, Any]) -> dict[str, Any]:
        return engine.run(library, name, params, OWNER).result or {}

    page = run("document.create", {"name": path.name, "doc_type": "page"})["id"]
    try:
        result = run(
            "format.import", {"document_id": page, "file": path.read_text("utf-8-sig"), "filename": path.name}
        )
        order_id = run("format.take_order", {"pass_id": result["pass_id"]})["order_id"]
    except (ServiceError, UnicodeDecodeError):
        return None
    derived = run("layout.order_page", {"document_id": page, "pass_id": result["pass_id"]})["order_id"]
    orders = [_lines(library, order) for order in (order_id, derived)]
    return (orders[0], orders[1]) if len(orders[0]) > 1 else None


def _lines(library: Library, order_id: str) -> list[str]:
    from armarium_source_model.api import order_walk, segments

    with library.db.read() as conn:
        kinds = dict(conn.execute(segments.select().with_only_columns(segments.c.id, segments.c.kind)).all())
        return [one for _, one, _ in order_walk(conn, order_id) if kinds[one] == "line"]
