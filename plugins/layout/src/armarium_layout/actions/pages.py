"""What is written on one page: its order, the shapes found on it, new outlines, renditions."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Engine, Library, action
from armarium_documents.api import add_rendition, require_live
from armarium_images.api import treated_rendition
from armarium_layout.preparing import Preparation, preparations
from armarium_layout.queries import DERIVED, derived_order
from armarium_layout.schemas import (
    OrderedPage,
    OrderPage,
    PreparedPage,
    PreparePage,
    ReshapedLines,
    ReshapeLines,
    TakenShapes,
    TakeShapes,
)


@action(
    "layout.order_page",
    result=OrderedPage,
    summary="Put the regions and lines of a pass in reading order, as a reading order of its own.",
    words="Put the lines of {document_id|a page} in order",
)
def order_page(ctx: ActionContext, p: OrderPage) -> dict[str, Any]:
    """A pass has at most one derived order: an earlier one, of lines that have changed since, is withdrawn.
    Orders made by persons stay.

    Raises NotFound, Conflict for a pass of another page or a withdrawn one, Forbidden by a lock.
    """
    earlier = derived_order(ctx.conn, p.document_id, p.pass_id)
    if earlier is not None:
        ctx.run("reading_order.withdraw", {"order_id": earlier})
    about = {"document_id": p.document_id, "pass_id": p.pass_id, "name": "In reading order", "kind": DERIVED}
    order = ctx.run("reading_order.create", {**about, "seed_from_pass": True})
    return {
        "document_id": p.document_id,
        "order_id": order["id"],
        "entry_count": order["entry_count"],
        "withdrawn_id": earlier,
    }


@action(
    "layout.take_shapes",
    result=TakenShapes,
    summary="Add the regions, cells or signs found on a page, and put its lines into them, in one step.",
    words="Found regions on {document_id|a page}",
)
def take_shapes(ctx: ActionContext, p: TakeShapes) -> dict[str, Any]:
    """Raises NotFound, Conflict for a pass or line of another page or a line changed since, Invalid for a bad shape."""
    pass_id = p.pass_id
    if pass_id is None:
        pass_id = ctx.run("segment.pass_create", {"document_id": p.document_id, "name": p.name})["id"]
    ids: dict[str, str] = {}
    waiting = list(p.shapes)
    while waiting:
        # A shape inside another one needs that one's id: outer shapes are written first.
        keys = {shape.key for shape in waiting}
        ready = [shape for shape in waiting if shape.inside not in keys] or waiting
        answer = ctx.run(
            "segment.create_many",
            {
                "segments": [
                    {
                        "document_id": p.document_id,
                        "pass_id": pass_id,
                        "kind": shape.kind,
                        "kind_raw": shape.kind_raw,
                        "anchor": {"rect": shape.rect},
                        "parent_segment_id": ids.get(shape.inside or "", shape.inside),
                        "cell": None if shape.cell is None else shape.cell.model_dump(),
                    }
                    for shape in ready
                ]
            },
        )
        ids |= {shape.key: segment["id"] for shape, segment in zip(ready, answer["items"], strict=True)}
        ready_keys = {shape.key for shape in ready}
        waiting = [shape for shape in waiting if shape.key not in ready_keys]
    for line in p.lines:
        ctx.run(
            "segment.update",
            {
                "segment_id": line.segment_id,
                "expected_version": line.expected_version,
                "parent_segment_id": ids.get(line.inside, line.inside),
            },
        )
    identified = [
        {"segment_id": ids[shape.key], "sign_id": shape.sign_id, "certainty": shape.certainty}
        for shape in p.shapes
        if shape.sign_id is not None
    ]
    if identified:
        ctx.run("sign.take", {"signs": identified})
    return {
        "document_id": p.document_id,
        "pass_id": pass_id,
        "segment_ids": [ids[shape.key] for shape in p.shapes],
    }


@action(
    "layout.reshape_lines",
    result=ReshapedLines,
    summary="Give lines of a page outlines around their ink, in one step.",
    words="Outlined the ink of the lines of {document_id|a page}",
)
def reshape_lines(ctx: ActionContext, p: ReshapeLines) -> dict[str, Any]:
    """Raises NotFound, Conflict for a line that was changed or withdrawn since, Invalid for a shape that
    cannot be stored.
    """
    require_live(ctx.conn, p.document_id)
    for outline in p.outlines:
        ctx.run(
            "segment.update",
            {
                "segment_id": outline.segment_id,
                "expected_version": outline.expected_version,
                "anchor": {"document_id": p.document_id, "rect": outline.rect, "polygon": outline.polygon},
            },
        )
    return {"document_id": p.document_id, "segment_ids": [outline.segment_id for outline in p.outlines]}


def _preparations(engine: Engine, library: Library, p: PreparePage) -> list[Preparation]:
    return preparations(library, p, max_pixels=engine.settings.max_image_pixels)


def _prepare_ahead(engine: Engine, library: Library | None, p: PreparePage) -> None:
    """Compute the bytes before the writer is requested; the step finds them again."""
    assert library is not None
    _preparations(engine, library, p)


@action(
    "layout.prepare_page",
    result=PreparedPage,
    summary="Make renditions of a page's picture: level, with straight lines, or without its paper.",
    words="Prepared the picture of {document_id|a page}",
    prepare=_prepare_ahead,
)
def prepare_page(ctx: ActionContext, p: PreparePage) -> dict[str, Any]:
    """An existing rendition is not made again. The primary picture stays the primary one.

    Raises NotFound for an unknown document or one without a picture, Conflict in the Trash, Forbidden by a
    lock, Invalid for a damaged picture.
    """
    require_live(ctx.conn, p.document_id)
    renditions = []
    for preparation in _preparations(ctx.engine, ctx.project, p):
        piece = preparation.piece
        if treated_rendition(ctx.conn, p.document_id, preparation.role, piece.checksum) is not None:
            continue
        rendition_id = add_rendition(
            ctx,
            p.document_id,
            checksum=piece.checksum,
            mime_type=piece.mime_type,
            role=preparation.role,
            pixel_width=piece.width,
            pixel_height=piece.height,
            size_bytes=piece.size_bytes,
            transform=preparation.transform,
            made_by="layout.prepare",
            params=preparation.params,
        )
        renditions.append({"rendition_id": rendition_id, "role": preparation.role})
    if p.background:
        treated = ctx.run("image.treat_item", {"document_id": p.document_id, "role": "background-removed"})
        if treated["made"]:
            renditions.append({"rendition_id": treated["rendition_id"], "role": "background-removed"})
    ctx.target(p.document_id, *(rendition["rendition_id"] for rendition in renditions))
    ctx.note_changes(document_ids=[p.document_id])
    return {"document_id": p.document_id, "renditions": renditions}
