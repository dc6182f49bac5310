"""The text of a page and the order of its segments, computed on request and not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from armarium.api import NotFound
from armarium_documents.api import require_document
from armarium_source_model.counting import PassBasis, ReadingRule
from armarium_source_model.errors import OrderOfOtherPass
from armarium_source_model.order import Shape
from armarium_source_model.queries.orders import standing_order, walk
from armarium_source_model.queries.passes import get_pass, standing_pass, working_pass
from armarium_source_model.queries.readings import TRANSCRIPTION, CountingText, counting_of_pass
from armarium_source_model.queries.shapes import read_page, writing_of_pass
from armarium_source_model.schemas.orders import OrderBasis
from armarium_source_model.text import (
    AssembledText,
    Piece,
    SegmentLeftOut,
    assemble,
    first_strong_direction,
    text_fingerprint,
)
from armarium_source_model.writing import PageWriting


class PageTextResult(NamedTuple):
    """The text of a page with the source of each stretch, and the pass it was computed from."""

    document_id: str
    text: str
    pass_id: str | None
    pass_basis: PassBasis | str
    pass_name: str | None
    order_id: str | None
    assembled: AssembledText
    order_basis: OrderBasis

    @property
    def fingerprint(self) -> str:
        """Return what a row derived from this text stores of it, to detect later changes."""
        return text_fingerprint(self.text)

    def answer(self) -> dict[str, Any]:
        """Return the answer of the route (a PageText)."""
        answer = self._asdict()
        del answer["assembled"]
        return {
            **answer,
            "spans": [span._asdict() for span in self.assembled.spans],
            "omitted": [gap._asdict() for gap in self.assembled.omitted],
        }


def pass_sequence(
    conn: Connection, document_id: str, pass_id: str, rule: ReadingRule = "strict"
) -> list[str]:
    """Return the ids of a pass's live segments in reading order: each region before its lines, each line
    before its words.
    """
    return writing_of_pass(conn, document_id, pass_id, rule).sequence()


def line_sequence(
    conn: Connection, document_id: str, pass_id: str, rule: ReadingRule = "strict"
) -> list[str]:
    """Like `pass_sequence`, of regions and lines, with words only of lines without a reading of their own."""
    return read_page(conn, document_id, pass_id, rule)[0].sequence()


def page_text(
    conn: Connection,
    document_id: str,
    *,
    pass_id: str | None = None,
    order_id: str | None = None,
    include_furniture: bool = False,
    kind: str = "transcription",
    rule: ReadingRule = "strict",
) -> PageTextResult:
    """Return the page's text from the counting readings of a pass (default: the one the page is read by).

    In the order of its boxes, or in the reading order named. Raises NotFound for an unknown page, pass or
    order or a pass of another page, PassDeleted, OrderDeleted, and OrderOfOtherPass if the order is not of
    that pass.
    """
    row, basis, order = pass_to_read(conn, document_id, pass_id, order_id, rule)
    if row is None:
        return PageTextResult(document_id, "", None, "none", None, None, AssembledText(""), "none")
    if order is not None:
        assembled = text_in_order(
            conn, order, texts_kind=kind, rule=rule, include_furniture=include_furniture
        )
        return PageTextResult(
            document_id, assembled.text, row.id, basis, row.name, order.id, assembled, "named"
        )
    page, texts = _read(conn, document_id, row.id, kind, rule)
    assembled = assemble_in_order(
        page, page.sequence(), texts, include_furniture=include_furniture, kind=kind
    )
    return PageTextResult(
        document_id, assembled.text, row.id, basis, row.name, None, assembled, page.order_basis()
    )


def pass_to_read(
    conn: Connection, document_id: str, pass_id: str | None, order_id: str | None, rule: ReadingRule
) -> tuple[Row[Any] | None, PassBasis | str, Row[Any] | None]:
    """Return the pass named, else the one by which the page is read (None: it has none), why it is that one, and the order
    named. Raises as `page_text`.
    """
    require_document(conn, document_id)
    order = None if order_id is None else standing_order(conn, order_id)
    basis: PassBasis | str = "named"
    row = None
    if pass_id is None:
        pass_id, basis = working_pass(conn, document_id, rule)
        row = None if pass_id is None else get_pass(conn, pass_id)
    else:
        row = standing_pass(conn, pass_id)
        if row.document_id != document_id:
            raise NotFound(
                f"Pass {pass_id} is of another page ({row.document_id}); name a pass of {document_id}."
            )
    if order is not None and order.pass_id != pass_id:
        raise OrderOfOtherPass(order.id, order.pass_id, pass_id)
    return row, basis, order


def text_in_order(
    conn: Connection, order: Row[Any], *, texts_kind: str, rule: ReadingRule, include_furniture: bool
) -> AssembledText:
    """Return the text in a named order. An entry without children stands for its segment's contents, as
    derived.
    """
    texts = counting_of_pass(conn, order.pass_id, texts_kind, rule)
    page = writing_of_pass(conn, order.document_id, order.pass_id, rule)
    sequence, absent = sequence_in_order(conn, order, page)
    assembled = assemble_in_order(page, sequence, texts, include_furniture=include_furniture, kind=texts_kind)
    assembled.omitted += [_explain_absent(conn, segment_id) for segment_id in absent]
    return assembled


def sequence_in_order(conn: Connection, order: Row[Any], page: PageWriting) -> tuple[list[str], list[str]]:
    """Return the live segments of *page* in a named order, and the ids that the order names and the page lacks."""
    by_id = page.by_id
    inside: dict[str, list[str]] = {}
    for identity in page.sequence():
        above = by_id[identity].parent_id
        while above is not None and above in by_id:
            inside.setdefault(above, []).append(identity)
            above = by_id[above].parent_id
    entries = list(walk(conn, order.id))
    segment_ids = {segment_id for _, segment_id, _ in entries}
    sequence: dict[str, None] = {}
    absent: list[str] = []
    for _, segment_id, holds_entries in entries:
        if segment_id not in by_id:
            absent.append(segment_id)
            continue
        sequence[segment_id] = None
        if not holds_entries:
            sequence.update(
                dict.fromkeys(part_id for part_id in inside.get(segment_id, ()) if part_id not in segment_ids)
            )
    return list(sequence), absent


def _explain_absent(conn: Connection, segment_id: str) -> SegmentLeftOut:
    """Return why a segment that an order names is not among the live ones of its pass."""
    row = conn.exec_driver_sql(
        "SELECT pass_id, deleted_at FROM segment WHERE id = ?", (segment_id,)
    ).one_or_none()
    if row is None:
        return SegmentLeftOut(segment_id, "unknown")
    if row[1] is not None:
        return SegmentLeftOut(segment_id, "deleted")
    return SegmentLeftOut(segment_id, "other_pass", row[0])


def _read(
    conn: Connection, document_id: str, pass_id: str, kind: str, rule: ReadingRule
) -> tuple[PageWriting, dict[str, CountingText]]:
    """Return a pass with its texts of a kind. Words are used only if a line has no reading of its own."""
    if kind == TRANSCRIPTION:
        return read_page(conn, document_id, pass_id, rule)
    return (writing_of_pass(conn, document_id, pass_id, rule), counting_of_pass(conn, pass_id, kind, rule))


def assemble_in_order(
    page: PageWriting,
    sequence: Sequence[str],
    texts: Mapping[str, CountingText],
    *,
    include_furniture: bool,
    kind: str = TRANSCRIPTION,
) -> AssembledText:
    """Join the texts of *sequence*: a line's own reading, else its words'; a region's if no line has one."""
    by_id = page.by_id

    def direction(identity: str, words: str) -> str:
        # A translation follows the direction of its own letters, whatever is stated of its source.
        own = None if kind == TRANSCRIPTION else first_strong_direction(words)
        return own or page.direction(identity).value or "ltr"

    listed = set(sequence)
    read = _read_inside(by_id, {identity: texts[identity] for identity in sequence if identity in texts})
    furniture: set[str] = set()
    pieces: list[Piece] = []
    omitted: dict[str, SegmentLeftOut] = {}
    for identity in sequence:
        shape = by_id[identity]
        parent = by_id.get(shape.parent_id) if shape.parent_id else None
        if shape.is_furniture or (parent is not None and parent.id in furniture):
            furniture.add(identity)
            if not include_furniture:
                if shape.is_furniture or shape.kind == "line":
                    omitted[identity] = SegmentLeftOut(identity, "furniture")
                continue
        counting = texts.get(identity)
        words = counting.text if counting is not None else ""
        if counting is None or not words:
            if shape.kind == "line":
                omitted[identity] = SegmentLeftOut(identity, "unknown")
            continue
        if shape.kind == "region":
            if identity not in read:
                runs = direction(identity, words)
                pieces.append(Piece(identity, counting.representation_id, words, identity, runs))
        elif shape.kind == "line" or parent is None or parent.kind != "line":
            runs = direction(identity, words)
            pieces.append(Piece(identity, counting.representation_id, words, shape.parent_id, runs))
        elif parent.id not in listed or parent.id not in texts or not texts[parent.id].text:
            # Words stand in for a line that has no reading of its own.
            before = by_id[pieces[-1].segment_id] if pieces else None
            joined = before is not None and before.kind == "word" and before.parent_id == shape.parent_id
            pieces.append(
                Piece(
                    identity,
                    counting.representation_id,
                    words,
                    parent.parent_id,
                    direction(identity, words),
                    " " if joined else "\n",
                )
            )
            omitted.pop(parent.id, None)
    assembled = assemble(pieces)
    assembled.omitted = list(omitted.values())
    return assembled


def _read_inside(by_id: Mapping[str, Shape], texts: Mapping[str, CountingText]) -> set[str]:
    """Return the shapes that contain something with a reading: the smaller part's words take precedence."""
    holders: set[str] = set()
    for identity, counting in texts.items():
        shape = by_id.get(identity)
        while counting.text and shape is not None and shape.parent_id and shape.parent_id not in holders:
            holders.add(shape.parent_id)
            shape = by_id.get(shape.parent_id)
    return holders
