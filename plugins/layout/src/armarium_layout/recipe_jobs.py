"""The recipe jobs of layout: they need no model, except that one can also use a trained detector."""

from __future__ import annotations

from armarium.api import Engine, Library, Placement, page_job
from armarium_layout.detectors import STORE, detector_of
from armarium_layout.jobs import cells, lines, pictures, readings, signs
from armarium_layout.schemas import (
    DrawingSettings,
    NoSettings,
    OutlineSettings,
    PrepareSettings,
    RegionSettings,
    SignSettings,
    TableSettings,
)


def _with_detector(engine: Engine, library: Library, settings: RegionSettings) -> Placement:
    """Return where regions are found; raises the refusal for a detector that is not here."""
    if settings.model is None:
        return Placement()
    _, _, name = detector_of(engine, library, settings.model)
    return Placement(model=f"{STORE}:{name}")


PUT_IN_ORDER = page_job(
    "put-in-order",
    lines.put_in_order,
    NoSettings,
    summary="Put the lines of pages in order.",
    lane="database",
    name="Put in order",
    description="Puts the regions and lines of each page in reading order: columns, margins, footnotes.",
    layer="lines",
    takes=("lines",),
    gives=("reading_order",),
    writes=("layout.order_page",),
    compare="share of lines that follow the right one",
)

FIND_REGIONS = page_job(
    "find-regions",
    lines.find_regions,
    RegionSettings,
    summary="Find the regions of pages.",
    lane="local-model",
    name="Find regions",
    description="Finds the blocks of text of each page from its lines and the white space between them, or "
    "with a detector.",
    layer="lines",
    takes=("page_image",),
    gives=("regions",),
    model_setting="model",
    place=_with_detector,
    writes=("layout.take_shapes",),
    compare="regions found of regions checked, and regions too many",
)

REFINE_SHAPES = page_job(
    "refine-shapes",
    lines.refine_shapes,
    OutlineSettings,
    summary="Give lines outlines around their ink.",
    name="Refine shapes",
    description="Gives each line that has a baseline an outline around its own ink, excluding that of its "
    "neighbours.",
    layer="lines",
    takes=("lines",),
    gives=("lines",),
    writes=("layout.reshape_lines",),
    compare="ink within both outlines, as a share of the ink within either",
)

FIND_CELLS = page_job(
    "find-a-tables-cells",
    cells.find_cells,
    TableSettings,
    summary="Find the cells of tables.",
    name="Find a table's cells",
    description="Finds the rows, columns and cells of tables, ruled or not, and puts the lines of the page into them.",
    layer="lines",
    takes=("regions",),
    gives=("table_cells",),
    writes=("layout.take_shapes",),
    compare="cells found of cells checked, and cells too many",
)

SPLIT_PAGES = page_job(
    "split-pages",
    pictures.split_page,
    NoSettings,
    summary="Split pictures of open books at their gutter.",
    lane="images",
    name="Split pages",
    description="Splits the picture of an open book or notebook at its gutter into two pages; single pages "
    "stay whole.",
    layer="prepare",
    takes=("page_image",),
    gives=("page_image",),
    writes=("image.split",),
    compare="spreads split at the gutter of all spreads, and single pages split",
)

PREPARE = page_job(
    "prepare-the-image",
    pictures.prepare,
    PrepareSettings,
    summary="Prepare the pictures of pages.",
    lane="images",
    name="Prepare the image",
    description="Makes renditions of each picture: level, with straight lines, without the paper. The "
    "picture itself is not changed.",
    layer="prepare",
    takes=("page_image",),
    gives=("page_image", "rendition"),
    writes=("layout.prepare_page",),
)

TIE_TEXT = page_job(
    "tie-text-to-lines",
    readings.tie_text,
    NoSettings,
    summary="Divide the text of pages among their lines.",
    name="Tie text to lines",
    description="Divides a page's text among its lines: by its line breaks, by what was read, by the room "
    "in each line.",
    layer="reading",
    takes=("page_reading", "lines"),
    gives=("line_readings",),
    writes=("reading.take",),
    compare="share of lines that got their own words",
)

TRACE_DRAWING = page_job(
    "trace-a-drawing",
    readings.trace_drawings,
    DrawingSettings,
    summary="Trace the drawings of pages as vector pictures.",
    name="Trace a drawing",
    description="Makes a vector picture (SVG) of the ink of each region that is a drawing, as a reading of that region.",
    layer="reading",
    takes=("regions",),
    gives=("drawings",),
    writes=("reading.take",),
    compare="ink within both pictures, as a share of the ink within either",
)

FIND_SIGNS = page_job(
    "find-signs",
    signs.find_signs,
    SignSettings,
    summary="Find signs on pages by their shape.",
    name="Find signs",
    description="Finds what looks like the signs given as examples: marks of notaries, abbreviations, marginal signs.",
    layer="lines",
    takes=("page_image",),
    gives=("signs",),
    writes=("layout.take_shapes",),
    compare="signs found of signs checked, and places that are not signs",
)

RECIPE_JOBS = (
    PREPARE,
    SPLIT_PAGES,
    FIND_REGIONS,
    PUT_IN_ORDER,
    REFINE_SHAPES,
    FIND_SIGNS,
    FIND_CELLS,
    TIE_TEXT,
    TRACE_DRAWING,
)
