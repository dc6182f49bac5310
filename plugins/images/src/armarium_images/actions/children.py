"""The rows of derived children: nodes under their source, their pictures, and where each was cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import ActionContext, json_text, new_id, raw_of
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
    """Cut what is not cut yet, and hang a child under its source for each box of *plans*; their ids in order.

    Raises Forbidden by a lock, Invalid for a damaged picture.
    """
    made = []
    for plan in plans:
        pieces = cut_pieces(
            ctx.project, plan.frame, plan.boxes, max_pixels=ctx.engine.settings.max_image_pixels
        )
        made += _children_of(ctx, plan, pieces)
    for start in range(0, len(made), _NODES):
        ctx.run("document.add_files", {"nodes": [child["node"] for child in made[start : start + _NODES]]})
    raw = raw_of(ctx.conn)
    raw.executemany(
        "UPDATE document SET region = ? WHERE id = ?", [(child["region"], child["id"]) for child in made]
    )
    ctx.bulk_insert(
        cuts,
        ("child_id", "source_id", "kind", "rendition_id", "box", "transform", "batch_id", "created_at"),
        [
            (
                child["id"],
                child["source_id"],
                child["kind"],
                child["rendition_id"],
                child["box"],
                child["transform"],
                batch_id,
                ctx.now,
            )
            for child in made
        ],
    )
    ctx.changed(document_ids=[plan.frame.source_id for plan in plans])
    return [child["id"] for child in made]


def _children_of(ctx: ActionContext, plan: Plan, pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    frame = plan.frame
    before = count_cuts(ctx.conn, frame.source_id, plan.kind)
    found = []
    for number, (box, label, piece) in enumerate(
        zip(plan.boxes, plan.labels, pieces, strict=True), start=before + 1
    ):
        child_id = new_id()
        to_source = affine_to_source(frame.turned_back, rect_of(frame, box))
        node: dict[str, Any] = {
            "id": child_id,
            "parent_id": frame.source_id,
            # A crop lies beside the source; the parts of a split stand for it wherever pages are listed.
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
                "params": {
                    "source_id": frame.source_id,
                    "rendition_id": frame.rendition_id,
                    "box": list(box),
                    # Not the rendition's `transform`: that leads to the primary picture of its own document.
                    "to_source": to_source,
                },
            },
        }
        found.append(
            {
                "id": child_id,
                "node": node,
                "source_id": frame.source_id,
                "kind": plan.kind,
                "rendition_id": frame.rendition_id,
                "box": json_text(list(box)),
                "region": json_text(region_of(frame, box, plan.kind)),
                "transform": json_text(to_source),
            }
        )
    return found


def remove_children(ctx: ActionContext, ids: Sequence[str]) -> None:
    """Send derived children to the Trash, with whatever hangs on them."""
    most = 10_000
    for start in range(0, len(ids), most):
        ctx.run("document.delete", {"ids": list(ids[start : start + most])})
