"""The sample pages: photographs of invented letters and deeds, each with the ground truth of its lines.

The ground truth is computed first and is cheap; a picture is drawn only on demand. Both depend only on the seed, the
scale, the font and the version of Pillow.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from armarium.api import pen_font
from armarium_demo.samples import layout, photograph
from armarium_demo.samples.layout import LaidRegion
from armarium_demo.samples.photograph import PHOTOGRAPH, Bend, Point
from armarium_demo.samples.sheet import SHEET, DocumentText, PageText, RegionKind
from armarium_demo.samples.texts import DOCUMENTS, MANUSCRIPT, PAGES

if TYPE_CHECKING:
    from PIL import Image

DPI = 200
JPEG_QUALITY = 88


@dataclass(frozen=True, slots=True)
class SampleLine:
    """The ground truth of one line; geometry in pixels of the picture, origin top left."""

    id: str
    order: int
    text: str
    baseline: tuple[Point, ...]
    polygon: tuple[Point, ...]
    region_id: str


@dataclass(frozen=True, slots=True)
class SampleRegion:
    """The ground truth of one region; ``kind`` is a PAGE 2019 TextRegion type, ``document`` a key of DOCUMENTS."""

    id: str
    order: int
    kind: RegionKind
    polygon: tuple[Point, ...]
    lines: tuple[SampleLine, ...]
    document: str


@dataclass(frozen=True)
class SamplePage:
    """One photographed page: its ground truth at once, its picture on demand."""

    number: int
    name: str
    width: int
    height: int
    language: str
    documents: tuple[str, ...]
    regions: tuple[SampleRegion, ...]
    scale: float
    seed: int
    font_path: Path | None = None
    _text: PageText = field(repr=False, kw_only=True)
    _laid: list[LaidRegion] = field(repr=False, compare=False, kw_only=True)

    @property
    def lines(self) -> tuple[SampleLine, ...]:
        """All lines in reading order."""
        return tuple(line for region in self.regions for line in region.lines)

    @property
    def text(self) -> str:
        """The page's text, one line per line, a blank line between regions."""
        return "\n\n".join("\n".join(line.text for line in region.lines) for region in self.regions)

    @property
    def is_blank(self) -> bool:
        """True for a page without a line, such as an unwritten verso."""
        return not self.regions

    @cached_property
    def picture(self) -> Image.Image:
        """The photograph, RGB."""
        text = self._text
        behind = _page_called(text.shows_through) if text.shows_through else None
        return photograph.photograph(
            layout.draw_ink(text, self._laid, self.scale, _stream(self.seed, text, "ink"), self.font_path),
            _ink_behind(behind, self.seed, self.scale, self.font_path) if behind else None,
            text.hand,
            _corners(text, self.seed, self.scale),
            (self.width, self.height),
            _stream(self.seed, text, "picture"),
            text.wear,
        )

    @cached_property
    def jpeg(self) -> bytes:
        """The photograph as the bytes of a JPEG file that states its resolution."""
        buffer = BytesIO()
        dpi = round(DPI * self.scale)
        self.picture.save(buffer, "JPEG", quality=JPEG_QUALITY, dpi=(dpi, dpi))
        return buffer.getvalue()

    def truth(self) -> dict[str, object]:
        """Return the ground truth as plain values, ready for JSON; points are ``[x, y]`` in pixels."""
        return {
            "file": f"{self.name}.jpg",
            "width": self.width,
            "height": self.height,
            "language": self.language,
            "documents": list(self.documents),
            "regions": [
                {
                    "id": region.id,
                    "kind": region.kind,
                    "document": region.document,
                    "polygon": region.polygon,
                    "lines": [
                        {"id": line.id, "text": line.text, "baseline": line.baseline, "polygon": line.polygon}
                        for line in region.lines
                    ],
                }
                for region in self.regions
            ],
        }


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """One document among the pages: the names of its pages, in order. A page may belong to two documents."""

    key: str
    title: str
    kind: str
    date: str
    language: str
    pages: tuple[str, ...]


def sample_pages(
    seed: int = 1, *, count: int | None = None, scale: float = 1.0, font_path: Path | None = None
) -> list[SamplePage]:
    """Return the first ``count`` pages (all twelve by default), ``scale`` times 1600 x 2300 pixels at 200 dpi.

    ``scale=0.5`` is small and quick, for tests. Without ``font_path`` the font that comes with Armarium is
    used, so that the pages are the same on every machine. ValueError for a count or scale that makes no page.
    """
    if count is not None and not 1 <= count <= len(PAGES):
        raise ValueError(f"count is {count}; there are {len(PAGES)} sample pages, so give 1 to {len(PAGES)}.")
    if not 0.2 <= scale <= 3:
        raise ValueError(
            f"scale is {scale}; below 0.2 no letter stays legible, above 3 pages grow huge: stay between."
        )
    return [_page(text, number, seed, scale, font_path) for number, text in enumerate(PAGES[:count], 1)]


def manuscript_page(seed: int = 1, *, scale: float = 1.0) -> SamplePage:
    """Return a page that looks handwritten, which readers of print misread: joined letters, of which no two are the
    same.
    """
    font = pen_font()
    return _page(MANUSCRIPT, len(PAGES) + 1, seed, scale, None if font is None else font.path)


def sample_documents() -> list[SampleDocument]:
    """Return which pages belong to which document: the ground truth for finding document boundaries."""
    return [
        SampleDocument(text.key, text.title, text.kind, text.date, text.language, _pages_of(text))
        for text in DOCUMENTS
    ]


def write_sample_pages(
    folder: Path,
    seed: int = 1,
    count: int | None = None,
    *,
    scale: float = 1.0,
    font_path: Path | None = None,
    truth: Path | None = None,
    manuscript: SamplePage | None = None,
) -> list[Path]:
    """Write the pages, and after them the ``manuscript`` page if given, as JPEG files into ``folder``; return their paths.

    With ``truth``, one JSON file per page and ``documents.json`` go into that folder; keep it out of ``folder`` when
    the folder is to be imported.
    """
    pages = sample_pages(seed, count=count, scale=scale, font_path=font_path)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for page in (*pages, *([manuscript] if manuscript else [])):
        path = folder / f"{page.name}.jpg"
        path.write_bytes(page.jpeg)
        paths.append(path)
    if truth is not None:
        write_truth(truth, pages)
    return paths


def write_truth(folder: Path, pages: Iterable[SamplePage]) -> None:
    """Write ``NAME.json`` for every page and ``documents.json`` for all documents into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    names_written = set()
    for page in pages:
        _write_json(folder / f"{page.name}.json", page.truth())
        names_written.add(page.name)
    documents = [
        {
            "key": document.key,
            "title": document.title,
            "kind": document.kind,
            "date": document.date,
            "language": document.language,
            "pages": [name for name in document.pages if name in names_written],
        }
        for document in sample_documents()
        if names_written.intersection(document.pages)
    ]
    _write_json(folder / "documents.json", documents)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _pages_of(document: DocumentText) -> tuple[str, ...]:
    return tuple(page.name for page in PAGES if document.key in _documents_on(page))


def _documents_on(page: PageText) -> tuple[str, ...]:
    keys = [page.document]
    for frame in page.frames:
        keys += [block.document for block in frame.blocks if block.document and block.document not in keys]
    return tuple(keys)


def _page_called(name: str) -> PageText:
    return next(page for page in PAGES if page.name == name)


def _stream(seed: int, text: PageText, purpose: str) -> random.Random:
    """Return a separate random stream for each purpose, so that a change to one leaves the others as they were."""
    return random.Random(f"{seed}/{text.name}/{purpose}")


def _corners(text: PageText, seed: int, scale: float) -> tuple[Point, ...]:
    sheet = (round(SHEET[0] * scale), round(SHEET[1] * scale))
    return photograph.place_sheet(sheet, _picture_size(scale), _stream(seed, text, "place"))


def _picture_size(scale: float) -> tuple[int, int]:
    return round(PHOTOGRAPH[0] * scale), round(PHOTOGRAPH[1] * scale)


def _ink_behind(text: PageText, seed: int, scale: float, font_path: Path | None) -> Image.Image:
    laid = layout.lay_out(text, scale, _stream(seed, text, "lines"), font_path)
    return layout.draw_ink(text, laid, scale, _stream(seed, text, "ink"), font_path)


def _page(text: PageText, number: int, seed: int, scale: float, font_path: Path | None) -> SamplePage:
    laid = layout.lay_out(text, scale, _stream(seed, text, "lines"), font_path)
    width, height = round(SHEET[0] * scale), round(SHEET[1] * scale)
    square = ((0.0, 0.0), (float(width), 0.0), (float(width), float(height)), (0.0, float(height)))
    bend = photograph.bend_between(square, _corners(text, seed, scale))
    regions, order = [], 0
    for index, region in enumerate(laid, 1):
        region_id = f"r{index}"
        lines = []
        for line in region.lines:
            order += 1
            baseline = photograph.bend_points(line.baseline, bend)
            polygon = photograph.bend_points(line.polygon, bend)
            lines.append(SampleLine(f"l{order}", order, line.text, baseline, polygon, region_id))
        document = region.block.document or text.document
        outline = _outline(region, bend)
        regions.append(SampleRegion(region_id, index, region.block.kind, outline, tuple(lines), document))
    picture = _picture_size(scale)
    return SamplePage(
        number,
        text.name,
        *picture,
        text.language,
        _documents_on(text),
        tuple(regions),
        scale,
        seed,
        font_path,
        _text=text,
        _laid=laid,
    )


def _outline(region: LaidRegion, bend: Bend) -> tuple[Point, ...]:
    xs = [x for line in region.lines for x, _ in line.polygon]
    ys = [y for line in region.lines for _, y in line.polygon]
    left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
    return photograph.bend_points(((left, top), (right, top), (right, bottom), (left, bottom)), bend)
