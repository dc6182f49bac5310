"""Creates derived children: nodes under their source, their pictures, and where each was cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, select

from armarium.api import ActionContext, is_among, new_id, rules_of
from armarium_documents.api import documents, place_in_source, renditions
from armarium_images.cutting import cut_pieces
from armarium_images.models import cuts
from armarium_images.orientation import affine_to_source
from armarium_images.pieces import Piece
from armarium_images.planning import Plan, rect_of, region_of
from armarium_images.queries import count_cuts

_NODES = 500
"""Nodes that one `document.add_files` takes."""

_LONGEST_STEM = 900

_OWN = frozenset(table.name for table in (documents, renditions, cuts))
"""Tables whose rows every picture has from its making."""


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


def work_on(ctx: ActionContext, ids: Sequence[str]) -> list[tuple[str, Select[Any]]]:
    """Return the statements for those of the documents *ids* to which rows of some family belong, each with the word for these
    rows.
    """
    statements = []
    for table in ctx.project.schema.tables:
        rules = rules_of(table)
        if rules.document is None or table.name in _OWN or rules.kind not in ("tracked", "append-only"):
            continue
        belongs_to = table.c[rules.document]
        word = rules.label or table.name.replace("_", " ")
        statements.append((word, select(belongs_to).where(is_among(belongs_to, ids)).distinct()))
    return statements


def kept_by_source(ctx: ActionContext, plan: Plan) -> list[dict[str, str]]:
    """Return in words what was recorded on a picture that is split: it stays there, and pages are listed without it."""
    frame = plan.frame
    if plan.kind != "split":
        return []
    words = [word for word, found in work_on(ctx, [frame.source_id]) if ctx.conn.execute(found).first()]
    if not words:
        return []
    return [
        {
            "document_id": frame.source_id,
            "why": f"“{frame.name}” keeps what is recorded on it ({', '.join(words)}): lists of pages and exports of texts "
            "have its parts instead. Read these, or unsplit it.",
        }
    ]


def remove_children(ctx: ActionContext, ids: Sequence[str]) -> None:
    """Send derived children to the Trash, with everything attached to them."""
    most = 10_000
    for start in range(0, len(ids), most):
        ctx.run("document.delete", {"ids": list(ids[start : start + most])})
