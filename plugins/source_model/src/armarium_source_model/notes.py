"""Writes forwarding notes inside an action: where the citation of a segment leads from now on, and what an undo means for
them, so that citations still resolve after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from armarium.api import ActionContext, first_of_chain, json_text, new_id
from armarium_source_model.models import forwardings
from armarium_source_model.queries.forwarding import follow, notes_about, notes_of_step

if TYPE_CHECKING:
    from armarium.api import UndoContext

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


def forward_undo(undo: UndoContext) -> None:
    """After an undo or redo of a step that wrote forwarding notes, write notes that state what holds now."""
    ctx = undo.step
    notes = notes_of_step(ctx.conn, first_of_chain(ctx.conn, undo.audit_id))
    add_notes(
        ctx,
        [
            new_note
            for note in notes
            for new_note in (_restate_note(note) if undo.redo else _restore_note(ctx, note))
        ],
    )


def _restore_note(ctx: ActionContext, note: dict[str, Any]) -> Iterator[Note]:
    document_id, old = note["document_id"], note["old_segment_id"]
    if note["kind"] == "restored":
        # What was restored is withdrawn again as it was before: merged into another, or deleted.
        before = [earlier for earlier in notes_about(ctx.conn, old) if earlier["sequence"] < note["sequence"]]
        if before and before[-1]["kind"] == "merged":
            yield document_id, old, "merged", before[-1]["new_segment_ids"], before[-1]["reason"]
        else:
            yield document_id, old, "deleted", (), None
        return
    yield document_id, old, "restored", (old,), None
    if note["kind"] == "split":
        for part in note["new_segment_ids"]:
            if part != old:
                # The part no longer exists; citations of it lead to the whole it was taken from.
                yield document_id, part, "merged", (old,), None


def _restate_note(note: dict[str, Any]) -> Iterator[Note]:
    document_id, old = note["document_id"], note["old_segment_id"]
    yield document_id, old, note["kind"], note["new_segment_ids"], note["reason"]
    if note["kind"] == "split":
        for part in note["new_segment_ids"]:
            if part != old:
                yield document_id, part, "restored", (part,), None
