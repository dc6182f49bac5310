"""The text of a provisional pass, as it will be once its boxes are segments."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Library, NotFound
from armarium_documents.api import require_document
from armarium_source_model.errors import PROVISIONAL, OrderOfOtherPass
from armarium_source_model.makers import LineMaker, origin_of
from armarium_source_model.order import Shape, lean_of, order_page
from armarium_source_model.queries.boxes import page_proportion, writing_of_boxes
from armarium_source_model.queries.legacy import old_pass
from armarium_source_model.queries.orders import standing_order
from armarium_source_model.queries.text import PageTextResult
from armarium_source_model.schemas.orders import OrderBasis
from armarium_source_model.text import Piece, SegmentLeftOut, assemble

IS_PROVISIONAL = (
    "The pass is provisional: it stands for boxes of an older result, which are not segments yet; converting the older "
    "results makes them segments that can be edited."
)
"""Said beside every text and file of a provisional pass."""


class ProvisionalPass(NamedTuple):
    """A pass that only stands for an artifact's boxes: its name, the picture it was measured on, and its
    segments in reading order. *maker*: who made it.
    """

    pass_id: str
    name: str
    rendition_id: str | None
    segments: list[dict[str, Any]]
    direction: str
    maker: LineMaker
    order_basis: OrderBasis


def is_provisional(pass_id: str | None) -> bool:
    """Return whether an id is that of a provisional pass."""
    return pass_id is not None and pass_id.startswith(PROVISIONAL)


def provisional_pass(library: Library, conn: Connection, document_id: str, pass_id: str) -> ProvisionalPass:
    """Return a provisional pass of a page. Raises NotFound for an unknown one and for one of another page."""
    require_document(conn, document_id)
    old = old_pass(conn, pass_id)
    if old.document_id != document_id:
        raise NotFound(
            f"Pass {pass_id} is of another page ({old.document_id}); name a pass of {document_id}.",
            code="other_document",
        )
    boxes = [(old.as_segment(index, shape), shape) for index, shape in old.shapes()]
    direction, _ = writing_of_boxes(
        library,
        conn,
        document_id,
        [{"bbox": shape.rect, "level": shape.kind, "text": shape.text} for _, shape in boxes],
    )
    aspect = page_proportion(conn, document_id)
    # By number as by age: where positions tie, the segment made first goes first.
    keys = {f"{number:09}": box for number, box in enumerate(boxes)}
    order = order_page(
        [Shape(key, shape.kind, *shape.rect) for key, (_, shape) in keys.items()],
        direction=direction,
        aspect=aspect,
        lean=lean_of([shape.baseline for _, shape in boxes if shape.baseline], aspect),
    )
    fields = old.as_pass()
    return ProvisionalPass(
        old.pass_id,
        fields["name"],
        old.rendition_id,
        [keys[key][0] for key in order.ids],
        direction,
        origin_of(fields["provenance_kind"], model=fields["model"] or fields["provider"]),
        "positions-in-doubt" if order.in_doubt else "positions",
    )


def provisional_text(
    library: Library, conn: Connection, document_id: str, pass_id: str, order_id: str | None = None
) -> PageTextResult:
    """Return the text of a provisional pass. Raises NotFound for an unknown pass or order or one of another
    page; OrderOfOtherPass for a known order, which must be of a pass with segments.
    """
    provisional = provisional_pass(library, conn, document_id, pass_id)
    if order_id is not None:
        raise OrderOfOtherPass(order_id, standing_order(conn, order_id).pass_id, pass_id)
    pieces: list[Piece] = []
    omitted: list[SegmentLeftOut] = []
    for segment in provisional.segments:
        if segment["text"]:
            block = segment["id"] if segment["kind"] == "region" else None
            pieces.append(Piece(segment["id"], segment["id"], segment["text"], block, provisional.direction))
        elif segment["kind"] == "line":
            omitted.append(SegmentLeftOut(segment["id"], "unknown"))
    assembled = assemble(pieces)
    assembled.omitted = omitted
    return PageTextResult(
        document_id,
        assembled.text,
        provisional.pass_id,
        "named",
        provisional.name,
        None,
        assembled,
        provisional.order_basis,
    )
