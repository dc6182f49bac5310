"""What points at characters of a reading: moved along when a correction counts in its place, copied across a match.

Annotations are written by the actions of their own family. Other families' spans come along through `SpanMover`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import orjson

from armarium.api import ActionContext, raw_of

Why = tuple[str, str]
"""The id of what could not be placed, and why."""


class Corrected(NamedTuple):
    """One reading that counts now in the place of another."""

    document_id: str
    segment_id: str
    old_id: str
    new_id: str
    old_text: str
    new_text: str


class SpanMover(Protocol):
    """How another family's spans move along: put one into the plugin's `extras["span_movers"]`."""

    def move(self, ctx: ActionContext, corrected: Corrected) -> list[Why]:
        """Move inside the running step what `placed` places; what it does not place stays, and is answered with why."""
        ...


def move_spans(ctx: ActionContext, corrected: Corrected) -> list[dict[str, str]]:
    """Move every span on the old reading to the new one; `{id, why}` of those that stay where they are."""
    left = _move_annotations(ctx, corrected)
    for _, mover in ctx.engine.plugins.contributions("span_movers"):
        left += mover.move(ctx, corrected)
    return [{"id": identity, "why": why} for identity, why in left]


def placed(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Where the characters *start* to *end* of *old* stand in *new*, or why that cannot be said (B 4.2)."""
    words = old[start:end]
    if not words or end > len(old):
        return "Its characters lie outside the earlier reading."
    at = new.find(words)
    if at < 0:
        return "Its characters do not occur in the new reading."
    if new.find(words, at + 1) >= 0:
        return "Its characters occur more than once in the new reading."
    return at, at + len(words)


_ANNOTATIONS = """
WITH RECURSIVE above(id, parent_id) AS (
  SELECT id, parent_id FROM document WHERE id = :document
  UNION SELECT d.id, d.parent_id FROM above a JOIN document d ON d.id = a.parent_id)
SELECT id, targets, anchor FROM annotation WHERE document_id IN (SELECT id FROM above) AND (
  EXISTS (SELECT 1 FROM json_each(targets) t WHERE json_extract(t.value, '$.segment_id') = :segment)
  OR json_extract(anchor, '$.representation_id') = :reading
) ORDER BY created_at, id
"""
"""Annotations of the page, or of what it is in, that point into one segment or one reading."""


def _move_annotations(ctx: ActionContext, corrected: Corrected) -> list[Why]:
    given = {
        "document": corrected.document_id,
        "segment": corrected.segment_id,
        "reading": corrected.old_id,
    }
    left: list[Why] = []
    for identity, targets, anchor in raw_of(ctx.conn).execute(_ANNOTATIONS, given).fetchall():
        changes: dict[str, Any] = {}
        reasons: dict[str, None] = {}
        spans = orjson.loads(targets)
        moved = [_moved(one, corrected, reasons) for one in spans]
        if moved != spans:
            changes["targets"] = moved
        place = orjson.loads(anchor) if anchor else None
        if place is not None and place.get("representation_id") == corrected.old_id:
            there = _moved(place, corrected, reasons, segment_id=None)
            if there != place:
                changes["anchor"] = there | {"representation_id": corrected.new_id}
        if changes:
            ctx.run("annotation.update", {"annotation_id": identity, **changes})
        left += [(identity, why) for why in reasons]
    return left


def _moved(
    span: dict[str, Any], corrected: Corrected, reasons: dict[str, None], segment_id: str | None = ""
) -> dict[str, Any]:
    """*span* with its place in the new reading; itself where it is of another segment or cannot be placed."""
    if segment_id is not None and span.get("segment_id") != corrected.segment_id:
        return span
    if span.get("char_start") is None or span.get("char_end") is None:
        return span
    found = placed(span["char_start"], span["char_end"], corrected.old_text, corrected.new_text)
    if isinstance(found, str):
        reasons[found] = None
        return span
    return {**span, "char_start": found[0], "char_end": found[1]}


class Hanging(NamedTuple):
    """The two ends of a match with what counts on each."""

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
    """Copy the annotations of one segment to the other: (original, copy) of each, (original, why) of each left."""
    given = {"document": match.document_id, "segment": match.from_id, "reading": ""}
    copies: list[tuple[str, str]] = []
    left: list[tuple[str | None, str]] = []
    columns = (
        "id, document_id, page_id, page_index, anchor, anchor_kind, targets, paragraph_index, ink_payload, kind, text, rating, "
        "color, tags, metadata, linked_claim_id, linked_entity_id, linked_note_id"
    )
    names = columns.split(", ")
    query = _ANNOTATIONS.replace("SELECT id, targets, anchor", f"SELECT {columns}")
    for row in raw_of(ctx.conn).execute(query, given).fetchall():
        found: dict[str, Any] = dict(zip(names, row, strict=True))
        for name in ("anchor", "targets", "ink_payload", "tags", "metadata"):
            found[name] = None if found[name] is None else orjson.loads(found[name])
        original = str(found.pop("id"))
        if original in match.done:
            left.append((original, "It was carried across this match before."))
            continue
        targets: list[dict[str, Any]] = []
        why: str | None = None
        for span in found["targets"]:
            if span["segment_id"] != match.from_id:
                continue
            there = {**span, "segment_id": match.to_id}
            if span.get("char_start") is not None:
                at = placed(span["char_start"], span["char_end"], match.from_text, match.to_text)
                if isinstance(at, str):
                    why = at
                    break
                there |= {"char_start": at[0], "char_end": at[1]}
            targets.append(there)
        if why is not None:
            left.append((original, why))
            continue
        anchor = found["anchor"]
        if anchor is not None and anchor.get("segment_id") == match.from_id:
            found["anchor"] = {**anchor, "segment_id": match.to_id, "representation_id": None}
        made = ctx.run("annotation.create", {**found, "targets": targets})
        copies.append((original, str(made["id"])))
    return copies, left
