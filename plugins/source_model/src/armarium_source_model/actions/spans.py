"""Moves what points at characters of a reading to the correction that counts instead, or across a match.

Annotations are written by the actions of their own family. Other families' spans are moved by `armarium_source_model_move_spans`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, exists, func, or_

from armarium.api import ActionContext, is_among, provenance_columns
from armarium_documents.api import ANNOTATIONS, ancestor_ids, annotation_table
from armarium_source_model.hookspecs import ReadingChange, Why, armarium_source_model_move_spans
from armarium_source_model.spans import span_in_new_text


def move_spans(ctx: ActionContext, corrected: ReadingChange) -> list[dict[str, str]]:
    """Move every span from the old reading to the new one; return `{id, why}` of those that stay."""
    unmoved = _move_annotations(ctx, corrected)
    for stays in ctx.engine.points.ask(armarium_source_model_move_spans, ctx, corrected):
        unmoved += stays
    return [{"id": identity, "why": why} for identity, why in unmoved]


def _annotations_at(
    conn: Connection, document_id: str, segment_id: str, reading_id: str = ""
) -> list[dict[str, Any]]:
    """Return annotations of the page, or of its ancestors, that point into one segment or one reading."""
    annotation = annotation_table.c
    target = func.json_each(annotation.targets).table_valued("value").c.value
    into_segment = exists().where(func.json_extract(target, "$.segment_id") == segment_id)
    into_reading = func.json_extract(annotation.anchor, "$.representation_id") == reading_id
    here = is_among(annotation.document_id, ancestor_ids(conn, document_id))
    return ANNOTATIONS.all(
        conn, here, or_(into_segment, into_reading), order=(annotation.created_at, annotation.id)
    )


def _move_annotations(ctx: ActionContext, corrected: ReadingChange) -> list[Why]:
    unmoved: list[Why] = []
    for annotation in _annotations_at(
        ctx.conn, corrected.document_id, corrected.segment_id, corrected.old_id
    ):
        changes: dict[str, Any] = {}
        reasons: dict[str, None] = {}
        moved = [_move_span(target, corrected, reasons) for target in annotation["targets"]]
        if moved != annotation["targets"]:
            changes["targets"] = moved
        place = annotation["anchor"]
        if place is not None and place.get("representation_id") == corrected.old_id:
            new_place = _move_span(place, corrected, reasons, segment_id=None)
            if new_place != place:
                changes["anchor"] = new_place | {"representation_id": corrected.new_id}
        if changes:
            ctx.run("annotation.update", {"annotation_id": annotation["id"], **changes})
        unmoved += [(annotation["id"], why) for why in reasons]
    return unmoved


def _move_span(
    span: dict[str, Any], corrected: ReadingChange, reasons: dict[str, None], segment_id: str | None = ""
) -> dict[str, Any]:
    """Return *span* placed in the new reading; unchanged if of another segment or if it cannot be placed."""
    if segment_id is not None and span.get("segment_id") != corrected.segment_id:
        return span
    if span.get("char_start") is None or span.get("char_end") is None:
        return span
    outcome = span_in_new_text(span["char_start"], span["char_end"], corrected.old_text, corrected.new_text)
    if isinstance(outcome, str):
        reasons[outcome] = None
        return span
    return {**span, "char_start": outcome[0], "char_end": outcome[1]}


class Hanging(NamedTuple):
    """The two ends of a match with the counting reading of each."""

    document_id: str
    from_id: str
    to_id: str
    from_text: str
    to_text: str
    done: frozenset[str]
    """What was carried across this match before."""


def carry_annotations(
    ctx: ActionContext, match: Hanging
) -> tuple[list[tuple[str, str]], list[tuple[str | None, str]]]:
    """Copy the annotations of one segment to the other: (original, copy) of each, (original, why) of the
    rest.
    """
    copies: list[tuple[str, str]] = []
    uncopied: list[tuple[str | None, str]] = []
    for annotation in _annotations_at(ctx.conn, match.document_id, match.from_id):
        for made_by in provenance_columns():
            del annotation[made_by.name]
        original = str(annotation.pop("id"))
        if original in match.done:
            uncopied.append((original, "It has already been carried across this match."))
            continue
        targets: list[dict[str, Any]] = []
        why: str | None = None
        for span in annotation["targets"]:
            if span["segment_id"] != match.from_id:
                continue
            target = {**span, "segment_id": match.to_id}
            if span.get("char_start") is not None:
                at = span_in_new_text(span["char_start"], span["char_end"], match.from_text, match.to_text)
                if isinstance(at, str):
                    why = at
                    break
                target |= {"char_start": at[0], "char_end": at[1]}
            targets.append(target)
        if why is not None:
            uncopied.append((original, why))
            continue
        anchor = annotation["anchor"]
        if anchor is not None and anchor.get("segment_id") == match.from_id:
            annotation["anchor"] = {**anchor, "segment_id": match.to_id, "representation_id": None}
        copy = ctx.run("annotation.create", {**annotation, "targets": targets})
        copies.append((original, str(copy["id"])))
    return copies, uncopied
