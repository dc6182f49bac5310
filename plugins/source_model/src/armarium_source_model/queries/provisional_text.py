"""The text of a pass that only stands for an artifact's boxes: as it will be once they are segments (B 2.1, 4.2)."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium.api import Library, NotFound
from armarium_documents.api import require_document
from armarium_source_model.errors import OrderOfOtherPass
from armarium_source_model.order import Shape, page_slope, reading_sequence
from armarium_source_model.queries.boxes import BoxWriting, page_proportion
from armarium_source_model.queries.legacy import old_pass
from armarium_source_model.queries.orders import standing_order
from armarium_source_model.queries.text import PageTextResult
from armarium_source_model.text import Omitted, Piece, assemble


def provisional_text(
    library: Library, conn: Connection, document_id: str, pass_id: str, order_id: str | None = None
) -> PageTextResult:
    """The text of a provisional pass. Raises NotFound for an unknown one or one of another page, and for an unknown
    order; OrderOfOtherPass for a known one, which can only be of a pass with segments."""
    require_document(conn, document_id)
    old = old_pass(conn, pass_id)
    if old.document_id != document_id:
        raise NotFound(
            f"Pass {pass_id} is of another page ({old.document_id}); name a pass of {document_id}."
        )
    if order_id is not None:
        raise OrderOfOtherPass(order_id, standing_order(conn, order_id).pass_id, pass_id)
    boxes = {f"{old.pass_id}:{index}": shape for index, shape in old.shapes()}
    direction, _ = BoxWriting().find(
        library,
        conn,
        document_id,
        [{"bbox": one.rect, "level": one.kind, "text": one.text} for one in boxes.values()],
    )
    aspect = page_proportion(conn, document_id)
    # By number as by age: of segments the one made first goes first where places tie.
    keys = {f"{number:09}": identity for number, identity in enumerate(boxes)}
    sequence = reading_sequence(
        [Shape(key, boxes[identity].kind, *boxes[identity].rect) for key, identity in keys.items()],
        direction=direction,
        aspect=aspect,
        slope=page_slope([one.baseline for one in boxes.values() if one.baseline], aspect),
    )
    pieces: list[Piece] = []
    omitted: list[Omitted] = []
    for identity in (keys[key] for key in sequence):
        one = boxes[identity]
        if one.text:
            block = identity if one.kind == "region" else None
            pieces.append(Piece(identity, identity, one.text, block, direction))
        elif one.kind == "line":
            omitted.append(Omitted(identity, "unknown"))
    assembled = assemble(pieces)
    assembled.omitted = omitted
    return PageTextResult(
        document_id, assembled.text, old.pass_id, "named", old.as_pass()["name"], None, assembled
    )
