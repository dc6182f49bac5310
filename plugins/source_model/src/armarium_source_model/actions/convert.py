"""Converts a page's older geometry blobs into passes, segments and readings, permanently."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from armarium.api import ActionContext, Conflict, action
from armarium_documents.api import require_live, supersede_geometry
from armarium_source_model.api import (
    NewPass,
    NewReading,
    NewSegment,
    add_readings,
    add_segments,
    create_pass,
    passes,
)
from armarium_source_model.counting import HUMAN
from armarium_source_model.queries.legacy import OldGeometry, old_geometry_of
from armarium_source_model.schemas.fields import Id
from armarium_source_model.schemas.segments import ConvertedPage


@action(
    "segment.convert_page",
    result=ConvertedPage,
    summary="Convert the boxes of a page's older artifacts into segments; the blobs are frozen from then on.",
    words="Converted the older boxes of {document_id|a page} into lines",
)
def convert_page(ctx: ActionContext, document_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if the page has nothing to convert."""
    require_live(ctx.conn, document_id)
    old = old_geometry_of(ctx.conn, document_id)
    if not old:
        raise Conflict(
            f"Document {document_id} has no older geometry, so there is nothing to convert.",
            code="nothing_to_convert",
        )
    converted = [_convert(ctx, old_geometry) for old_geometry in old]
    return {"document_id": document_id, "passes": converted}


def _convert(ctx: ActionContext, old: OldGeometry) -> dict[str, Any]:
    new = NewPass(
        old.document_id,
        old.as_pass()["name"],
        provider=old.provider,
        model=old.model,
        run_id=old.run_id,
        source_artifact_id=old.id,
        artifact_type=old.artifact_type,
    )
    pass_id = create_pass(ctx, new)

    def written_as(maker: str) -> str:
        # The makers of the boxes are known, but a machine does not write a person's rows on its own
        # initiative.
        return "unknown" if maker == HUMAN and not ctx.principal.restates_persons else maker

    ctx.conn.execute(
        passes.update().where(passes.c.id == pass_id).values(provenance_kind=written_as(old.provenance_kind))
    )
    shapes = list(old.shapes())
    ids: list[str] = []
    # In sequence, because it decides the order where positions tie.
    for maker, boxes in groupby(shapes, key=lambda pair: old.makers[pair[0]].shape):
        ids += add_segments(
            ctx,
            pass_id,
            old.document_id,
            old.rendition_id,
            [
                NewSegment(
                    key=str(index),
                    kind=shape.kind,
                    rect=shape.rect,
                    polygon=shape.polygon,
                    baseline=shape.baseline,
                    confidence=shape.confidence,
                    metadata=shape.metadata,
                    page_index=shape.page_index,
                    source_artifact_id=old.id,
                    box_index=index,
                )
                for index, shape in boxes
            ],
            provenance_kind=written_as(maker),
        )
    texts = [
        (identity, shape.text, old.makers[index].words)
        for identity, (index, shape) in zip(ids, shapes, strict=True)
        if shape.text
    ]
    source = None if old.provider == "user" else old.provider
    readings: list[str] = []
    for maker in dict.fromkeys(words for _, _, words in texts):
        tool, model, run_id = (None, None, None) if maker == HUMAN else (source, old.model, old.run_id)
        readings += add_readings(
            ctx,
            [
                NewReading(identity, text, producer_tool=tool, producer_model=model, producer_run_id=run_id)
                for identity, text, words in texts
                if words == maker
            ],
            provenance_kind=written_as(maker),
        )
    supersede_geometry(ctx, old.id, pass_id)
    ctx.target(old.id, pass_id)
    return {
        "artifact_id": old.id,
        "pass_id": pass_id,
        "segments": len(ids),
        "readings": len(readings),
        "left_out": len(old.boxes) - len(shapes),
    }
