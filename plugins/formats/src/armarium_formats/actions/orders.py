"""Copies the order of an imported file into a reading order of the project, which can be followed and
edited.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Conflict, Example, action
from armarium_formats.actions.samples import SAMPLE_PAGE
from armarium_formats.errors import not_of_a_file
from armarium_formats.models import format_imports
from armarium_formats.queries.exchange import pass_as_filed
from armarium_formats.schemas.exchange import TakenOrder, TakeOrder
from armarium_source_model.api import get_pass, written_order

AT_ONCE = 10_000
"""Lines that are put into an order by one call."""


def _example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    made = ex.run("format.import", {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"})
    return {"pass_id": made["pass_id"]}


@action(
    "format.take_order",
    params=TakeOrder,
    result=TakenOrder,
    summary="Make the order of the lines in an imported file a reading order of its pass, as written.",
    words="Used the order of an imported file for {}",
    example=_example,
)
def take_order(ctx: ActionContext, p: TakeOrder) -> dict[str, Any]:
    """Adds regions with their contents, in the order of exports; words follow their lines and have no
    entries.

    Raises NotFound for an unknown pass and one that no file made, Conflict if the pass has an as-written
    order.
    """
    found = get_pass(ctx.conn, p.pass_id)
    row = ctx.conn.execute(select(format_imports).where(format_imports.c.pass_id == p.pass_id)).first()
    if row is None:
        raise not_of_a_file(found.name)
    there = written_order(ctx.conn, p.pass_id)
    if there is not None:
        raise Conflict(
            f"The pass {found.name!r} already has an order as written ({there.name!r}); withdraw it first.",
            code="order_exists",
            order_id=there.id,
        )
    name = p.name or f"As in {row.filename}"
    about = {"document_id": found.document_id, "pass_id": p.pass_id, "name": name[:200], "kind": "as-written"}
    order = ctx.run("reading_order.create", about)
    assembled = pass_as_filed(ctx.conn, found.document_id, p.pass_id, row.page)
    above = {part.id: one.id for one in assembled.page.walk() for part in one.children}
    places: dict[str, dict[str, str | None]] = {}
    for segment in assembled.page.in_order():
        if segment.kind != "word":
            outer = places.get(above.get(segment.id, ""))
            places[segment.id] = {
                "segment_id": assembled.rows[segment.id],
                "parent_segment_id": outer["segment_id"] if outer else None,
            }
    listed = list(places.values())
    for begin in range(0, len(listed), AT_ONCE):
        given = {"order_id": order["id"], "segments": listed[begin : begin + AT_ONCE]}
        ctx.run("reading_order.fill", given)
    return {"order_id": order["id"], "name": order["name"], "entries": len(listed)}
