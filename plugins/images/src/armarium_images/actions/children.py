"""Creates derived children: nodes under their source, their pictures, and where each was cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from armarium.api import ActionContext, new_id
from armarium_documents.api import place_in_source
from armarium_images.cutting import cut_pieces
from armarium_images.models import cuts
from armarium_images.orientation import affine_to_source
from armarium_images.pieces import Piece
from armarium_images.planning import Plan, rect_of, region_of
from armarium_images.queries import count_cuts

_NODES = 500
"""Nodes that one `document.add_files` takes."""

_LONGEST_STEM = 900


def hang_children(ctx: ActionContext, plans: Sequence[Plan], *, batch_id: str | None = None) -> list[str]:
    """Create a child under its source for each box of *plans*, cutting what is not cut yet; return their ids.

    Raises Forbidden by a lock, Invalid for a damaged picture.
    """
    children: list[_Child] = []
    for plan in plans:
        pieces = cut_pieces(
            ctx.project, plan.frame, plan.boxes, max_pixels=ctx.engine.settings.max_image_pixels
        )
        children += _children_of(ctx, plan, pieces)
    for start in range(0, len(children), _NODES):
        ctx.run("document.add_files", {"nodes": [child.node for child in children[start : start + _NODES]]})
    place_in_source(ctx, {child.cut["child_id"]: child.region for child in children})
    if children:
        stamp = {"batch_id": batch_id, "created_at": ctx.now}
        ctx.conn.execute(cuts.insert(), [child.cut | stamp for child in children])
    ctx.note_changes(document_ids=[plan.frame.source_id for plan in plans])
    return [child.cut["child_id"] for child in children]


class _Child(NamedTuple):
    """What makes up a derived child: its node, its place in the source, its row among the cuts."""

    node: dict[str, Any]
    region: dict[str, Any]
    cut: dict[str, Any]


def _children_of(ctx: ActionContext, plan: Plan, pieces: Sequence[Piece]) -> list[_Child]:
    frame = plan.frame
    source = {"source_id": frame.source_id, "rendition_id": frame.rendition_id}
    before = count_cuts(ctx.conn, frame.source_id, plan.kind)
    children = []
    for number, (box, label, piece) in enumerate(
        zip(plan.boxes, plan.labels, pieces, strict=True), start=before + 1
    ):
        child_id = new_id()
        to_source = affine_to_source(frame.turned_back, rect_of(frame, box))
        node: dict[str, Any] = {
            "id": child_id,
            "parent_id": frame.source_id,
            # A crop is an addition to the source; the parts of a split replace it wherever pages are listed.
            "doc_type": "file" if plan.kind == "crop" else "page",
            "file_type": "image",
            "name": label or f"{frame.name[:_LONGEST_STEM].strip()}, {plan.kind} {number}",
            "sequence": number if plan.kind == "split" else None,
            "page_label": label if plan.kind == "split" else None,
            "metadata": {"derived_from": frame.source_id, "width": piece.width, "height": piece.height},
            "picture": {
                "checksum": piece.checksum,
                "mime_type": piece.mime_type,
                "size_bytes": piece.size_bytes,
                "pixel_width": piece.width,
                "pixel_height": piece.height,
                "role": "derived",
                "made_by": f"image.{plan.kind}",
                # Not the rendition's `transform`: that maps to the primary picture of its own document.
                "params": {**source, "box": list(box), "to_source": to_source},
            },
        }
        cut = {**source, "child_id": child_id, "kind": plan.kind, "box": list(box), "transform": to_source}
        children.append(_Child(node, region_of(frame, box, plan.kind), cut))
    return children


def remove_children(ctx: ActionContext, ids: Sequence[str]) -> None:
    """Send derived children to the Trash, with everything attached to them."""
    most = 10_000
    for start in range(0, len(ids), most):
        ctx.run("document.delete", {"ids": list(ids[start : start + most])})
