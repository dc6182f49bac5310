"""Writes forwarding notes inside an action: where the citation of a segment leads from now on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from armarium.api import ActionContext, json_text, new_id
from armarium_source_model.models import forwardings
from armarium_source_model.queries.forwarding import follow

Note = tuple[str, str, str, Sequence[str], str | None]
"""document id, old segment id, kind, new segment ids, reason."""


def add_notes(ctx: ActionContext, notes: Iterable[Note]) -> None:
    """Write forwarding notes; their sequence decides which note about a segment is the newest."""
    ctx.bulk_insert(
        forwardings,
        (
            "id",
            "document_id",
            "old_segment_id",
            "kind",
            "new_segment_ids",
            "actor",
            "audit_id",
            "reason",
            "created_at",
        ),
        [
            (
                new_id(),
                document_id,
                old_segment_id,
                kind,
                json_text(list(new_segment_ids)),
                ctx.principal.name,
                ctx.audit_id,
                reason,
                ctx.now,
            )
            for document_id, old_segment_id, kind, new_segment_ids, reason in notes
        ],
    )


def live_after(ctx: ActionContext, segment_id: str) -> list[str]:
    """Return the live segments a deleted or merged segment leads to, for the sentence of a refusal."""
    return follow(ctx.conn, segment_id)[1]
