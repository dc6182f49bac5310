"""The pictures of one hand, sign or letter on a sheet: cut from their pages, straightened, scaled to one height."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, Row, Table, select

from armarium.api import Library, NotFound, Rows, is_among, open_image
from armarium_documents.api import documents, page_image
from armarium_paleography.queries.hands import HANDS
from armarium_paleography.queries.letterforms import ALLOGRAPHS, marks_asked
from armarium_paleography.queries.live_segments import live, stands
from armarium_paleography.queries.signs import SIGNS
from armarium_paleography.records.hands import attributions
from armarium_paleography.records.marks import instances, letterforms
from armarium_paleography.sheets import Piece, draw_sheet, fit_image
from armarium_source_model.api import cut_segment, lean_of, rect_of, segments

if TYPE_CHECKING:
    from PIL import Image

MOST = 500
QUICK = 3
"""The PNG compression level of a sheet: the default of 6 takes twice as long and compresses pictures no better."""
LOWEST, USUAL, HIGHEST = 16, 64, 256
Height = Annotated[int, Query(ge=LOWEST, le=HIGHEST, description="height of each picture in pixels")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="pictures on the sheet")]
Offset = Annotated[int, Query(ge=0)]

Crop = tuple[str, "Image.Image", str]
"""The segment, its picture, and the name of its page."""


@dataclass(frozen=True)
class Sheet:
    """A drawn sheet: the PNG bytes, and how many segments are shown on it or had no picture; those
    that are withheld are not counted, or the count would tell which hand, sign or letter they are said to be."""

    png: bytes
    shown: int
    left_out: int


def sheet_of_hand(
    library: Library,
    conn: Connection,
    hand_id: str,
    *,
    height: int = USUAL,
    limit: int = MOST,
    offset: int = 0,
) -> Sheet:
    """Draw everything in one hand. Raises NotFound."""
    hand = HANDS.require(conn, hand_id)
    about = ", ".join(hand[name] for name in ("scribe", "date", "place", "style") if hand[name])
    where = (attributions.c.hand_id == hand_id, live(attributions), stands(attributions))
    title = hand["label"] + (f": {about}" if about else "")
    return _sheet(library, conn, attributions, where, title, height, limit, offset)


def sheet_of_sign(
    library: Library,
    conn: Connection,
    sign_id: str,
    *,
    height: int = USUAL,
    limit: int = MOST,
    offset: int = 0,
) -> Sheet:
    """Draw the picture of a sign, then its instances. Raises NotFound."""
    sign = SIGNS.require(conn, sign_id)
    where = (instances.c.sign_id == sign_id, live(instances), stands(instances))
    title = f"Sign {sign['name']}" + (f" ({sign['code_point']})" if sign["code_point"] else "")
    picture = sign["picture_segment_id"]
    lead = [picture] if picture is not None and _stands(conn, picture) else []
    return _sheet(library, conn, instances, where, title, height, limit, offset, lead)


def sheet_of_letters(
    library: Library,
    conn: Connection,
    *,
    character: str | None,
    allograph_id: str | None,
    hand_id: str | None,
    height: int = USUAL,
    limit: int = MOST,
    offset: int = 0,
) -> Sheet:
    """Draw the marks of a character, an allograph or a hand. Raises Invalid if none of the three is named,
    and NotFound.
    """
    conditions = marks_asked(conn, character, allograph_id, hand_id)
    title_parts = [f"Letter {character}"] if character is not None else []
    if allograph_id is not None:
        form = ALLOGRAPHS.require(conn, allograph_id)
        title_parts.append(f"{form['character']}, {form['name']}")
    if hand_id is not None:
        title_parts.append(HANDS.require(conn, hand_id)["label"])
    return _sheet(library, conn, letterforms, conditions, "; ".join(title_parts), height, limit, offset)


def _sheet(
    library: Library,
    conn: Connection,
    table: Table,
    where: tuple[ColumnElement[bool], ...],
    title: str,
    height: int,
    limit: int,
    offset: int,
    lead: Sequence[str] = (),
) -> Sheet:
    """Draw the segments in *lead* and those named by rows of *table*, each segment once, page by page."""
    rows = Rows(table).all(conn, *where, order=(table.c.document_id, table.c.segment_id))
    ids = list(dict.fromkeys([*lead, *(row["segment_id"] for row in rows)]))
    asked_ids = ids[offset : offset + limit]
    groups = (
        [identity for identity in asked_ids if identity in lead],
        [identity for identity in asked_ids if identity not in lead],
    )
    pieces = [
        Piece(fit_image(image, height), caption)
        for group in groups
        for _, image, caption in crops(library, conn, group, height)
    ]
    left_out = len(asked_ids) - len(pieces)
    notes = [f"{len(pieces)} of {len(ids)} pictures"]
    if left_out:
        notes.append(f"{left_out} left out: their page has no picture, or not the one they were drawn on")
    file = io.BytesIO()
    draw_sheet(title, notes, pieces, height).save(file, "PNG", compress_level=QUICK)
    return Sheet(file.getvalue(), len(pieces), left_out)


def _stands(conn: Connection, segment_id: str) -> bool:
    """Return whether a segment is live: neither it, its pass nor its page is deleted."""
    itself = select(segments.c.id.label("segment_id")).where(segments.c.id == segment_id).subquery()
    return conn.execute(select(itself).where(stands(itself))).first() is not None


def crops(library: Library, conn: Connection, segment_ids: Sequence[str], height: int) -> Iterator[Crop]:
    """Yield the pictures of segments page by page, each page decoded once and only as large as *height*
    pixels need.

    Segments without a reliable picture are skipped: their page has no image, or not the one they were drawn
    on.
    """
    order = (segments.c.document_id, segments.c.bbox_y, segments.c.bbox_x, segments.c.id)
    found = conn.execute(select(segments).where(is_among(segments.c.id, segment_ids)).order_by(*order)).all()
    names = {
        row.id: row.name
        for row in conn.execute(
            select(documents.c.id, documents.c.name).where(
                is_among(documents.c.id, {row.document_id for row in found})
            )
        )
    }
    by_page: dict[str, list[Row[Any]]] = {}
    for row in found:
        by_page.setdefault(row.document_id, []).append(row)
    for document_id, rows in by_page.items():
        try:
            page = page_image(library, conn, document_id)
        except NotFound:
            continue
        sound = [row for row in rows if row.anchor.get("rendition_id") == page.rendition_id]
        if not sound:
            continue
        width, high = page.width or 1, page.height or 1
        least = min(row.bbox_h * high for row in sound)
        factor = min(1.0, 2 * height / max(least, 1.0))
        size = max(1, round(width * factor)), max(1, round(high * factor))
        with open_image(page.path, shrink_to=size if factor < 1 else None) as image:
            image.load()
            for row in sound:
                rect = rect_of(row)
                lean = lean_of(row.baseline, width, high) if row.baseline else 0.0
                cut = cut_segment(
                    image,
                    rect,
                    row.anchor.get("polygon"),
                    lean=lean,
                    mask=bool(row.anchor.get("polygon")),
                    size=8 * image.width,
                    scale=image.width / width,
                )
                yield row.id, _trim_cut(cut), names[document_id]


def _trim_cut(cut: Image.Image) -> Image.Image:
    """Trim a cut to a margin of a tenth of its shorter side: for a long line, the usual margin is half the height."""
    margin = 0.05 * max(cut.size) / 1.1
    inner = max(1.0, min(cut.size) - 2 * margin)
    spare = int(margin - max(2.0, inner / 10))
    if spare <= 0:
        return cut
    return cut.crop((spare, spare, cut.width - spare, cut.height - spare))
