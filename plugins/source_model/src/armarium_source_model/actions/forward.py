"""Writes what an undo means for the append-only forwarding notes, so that citations still resolve after
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from armarium.api import first_of_chain
from armarium_source_model.notes import Note, add_notes
from armarium_source_model.queries.forwarding import notes_about, notes_of_step

if TYPE_CHECKING:
    from armarium.api import ActionContext, UndoContext


def forward_undo(undo: UndoContext) -> None:
    """After an undo or redo of a step that wrote forwarding notes, write notes that state what holds now."""
    ctx = undo.step
    found = notes_of_step(ctx.conn, first_of_chain(ctx.conn, undo.audit_id))
    add_notes(
        ctx,
        [one for note in found for one in (_restate_note(note) if undo.redo else _restore_note(ctx, note))],
    )


def _restore_note(ctx: ActionContext, note: dict[str, Any]) -> Iterator[Note]:
    document_id, old = note["document_id"], note["old_segment_id"]
    if note["kind"] == "restored":
        # What was restored is withdrawn again as it was before: merged into another, or deleted.
        before = [one for one in notes_about(ctx.conn, old) if one["sequence"] < note["sequence"]]
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
