"""The prepared pictures of pages: computed before a step requests the writer, and held until it has written
its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from armarium.api import Library, open_image
from armarium_documents.api import PageImage, page_image, still_image
from armarium_images.api import Piece, plain, store, treat_picture
from armarium_layout.queries import shapes_of
from armarium_layout.schemas import PreparePage

if TYPE_CHECKING:
    from PIL import Image
    from sqlalchemy import Connection

MOST_HELD = 16
"""How many pictures are held between computation and step; only their descriptions, not their pixels."""


class Preparation(NamedTuple):
    """A rendition to be added. transform: six numbers that map to the primary's frame; None if the map is not
    affine.
    """

    role: str
    piece: Piece
    transform: list[float] | None
    params: dict[str, Any]


def preparations(library: Library, p: PreparePage, *, max_pixels: int) -> list[Preparation]:
    """Return what is to be made of a page's primary picture; nothing if it is already level and straight.

    If the lines of the page are known, it is made level and straight by their baselines, otherwise by its
    ink. The same picture with the same lines always gives the same bytes. Raises NotFound for an unknown
    document or one without a picture, Invalid with a sentence for a damaged picture.
    """
    with library.db.read() as conn:
        picture = page_image(library, conn, p.document_id)
        lines = _baselines(conn, p.document_id) if p.deskew or p.dewarp else ()
    preparations: dict[tuple[object, ...], list[Preparation]] = library.held.setdefault("layout.prepared", {})
    steps = (picture, lines, p.deskew, p.dewarp, p.background)
    if steps not in preparations:
        prepared = _prepare(library, picture, lines, p, max_pixels)
        while len(preparations) >= MOST_HELD:
            preparations.pop(next(iter(preparations)), None)
        preparations[steps] = prepared
    return preparations[steps]


_Lines = tuple[tuple[tuple[float, float], ...], ...]


def _baselines(conn: Connection, document_id: str) -> _Lines:
    """Return the baselines of the page's lines in fractions, left to right."""
    baselines = (row.baseline for row in shapes_of(conn, document_id).lines)
    return tuple(
        tuple(sorted((float(x), float(y)) for x, y in line)) for line in baselines if line and len(line) > 1
    )


def _prepare(
    library: Library, picture: PageImage, lines: _Lines, p: PreparePage, max_pixels: int
) -> list[Preparation]:
    import numpy

    from armarium_layout.finding.ink import sheet_of

    if p.background:
        # The step of the images family finds it again.
        treat_picture(
            library, picture.checksum, "the picture", "background-removed", 2.0, max_pixels=max_pixels
        )
    if not (p.deskew or p.dewarp):
        return []
    with still_image(library, picture) as path:
        source = open_image(path, max_pixels=max_pixels)
    upright = plain(source)
    sheet, pixels = sheet_of(upright), numpy.asarray(upright)
    prepared = [_level(sheet, pixels, lines)] if p.deskew else []
    prepared += [_straighten(sheet, pixels, lines)] if p.dewarp else []
    profile = source.info.get("icc_profile")
    return [
        Preparation(
            role,
            store(library, _image(prepared_picture), profile),
            transform,
            {"from_rendition_id": picture.rendition_id, **params},
        )
        for role, prepared_picture, transform, params in (step for step in prepared if step is not None)
    ]


def _image(pixels: Any) -> Image.Image:
    from PIL import Image

    return Image.fromarray(pixels)


_Made = tuple[str, Any, list[float] | None, dict[str, Any]]


def _level(sheet: Any, pixels: Any, lines: _Lines) -> _Made | None:
    from armarium_layout.finding import leveling

    lean = leveling.lean_of_lines(lines, sheet.grey.shape)
    degrees = leveling.lean_of(sheet) if lean is None else lean
    if abs(degrees) < leveling.LEAST:
        return None
    leveled = leveling.level_picture(pixels, degrees)
    return "deskewed", leveled.pixels, leveled.transform, {"degrees": round(degrees, 3)}


def _straighten(sheet: Any, pixels: Any, lines: _Lines) -> _Made | None:
    from armarium_layout.finding import leveling

    # A baseline of two points does not show how its line bends.
    bending = [line for line in lines if len(line) > 3]
    bend = leveling.bend_of(bending if len(bending) > 3 else leveling.curves_of(sheet))
    if bend is None:
        return None
    straightened = leveling.straighten_picture(pixels, bend)
    return "dewarped", straightened.pixels, None, {"mesh": straightened.mesh}
