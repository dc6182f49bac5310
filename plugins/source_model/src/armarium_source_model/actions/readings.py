"""Corrects a line, chooses the counting reading, retracts a reading, and adds kinds of readings."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, select

from armarium.api import ActionContext, Conflict, Invalid, NotFound, Route, RowRule, action, new_id
from armarium_documents.api import add_representations, representations, require_live, retract_representation
from armarium_source_model.actions.edits import editable
from armarium_source_model.actions.facts import StatedFacts
from armarium_source_model.actions.spans import move_spans
from armarium_source_model.counting import HUMAN, Counting
from armarium_source_model.errors import OtherReadingCounts, person_only, refuse_provisional, unknown_kind
from armarium_source_model.hookspecs import ReadingChange
from armarium_source_model.models import reading_choices, reading_kinds
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.readings import (
    READINGS,
    counting_of_segment,
    reading_kind_keys,
    reading_of,
)
from armarium_source_model.queries.segments import SegmentRow
from armarium_source_model.schemas.readings import (
    ChoiceOut,
    Choose,
    Correct,
    CorrectedReading,
    CorrectedReadings,
    CorrectMany,
    KindCreate,
    KindOut,
    ReadingOut,
    Retract,
)

SEEDED_KINDS = {
    "transcription": "Transcription", "normalized_text": "Normalised text", "translation": "Translation",
    "transliteration": "Transliteration", "markdown": "Markdown", "html": "HTML", "svg": "SVG",
    "as_read_aloud": "As read aloud", "description": "Description", "coordinate": "Coordinate",
    "world-point": "World point", "music": "Music", "drawing": "Drawing",
}  # fmt: skip


def seed_kinds(ctx: ActionContext) -> None:
    """Give a new project the kinds of readings every project has."""
    ctx.conn.execute(
        reading_kinds.insert(),
        [
            {"key": key, "label": label, "builtin": True, "created_at": ctx.now}
            for key, label in SEEDED_KINDS.items()
        ],
    )


def require_kind(ctx: ActionContext, kind: str) -> None:
    """Raise UnknownKind, naming the kinds of this project, if *kind* is not one of them."""
    kinds = reading_kind_keys(ctx.conn)
    if kind not in kinds:
        raise unknown_kind(kind, kinds)


@action(
    "representation.create",
    result=CorrectedReading,
    summary="Write a reading of a segment that corrects the one that counts.",
    route=Route("POST", "/api/segments/{segment_id}/correct", name="correct"),
    words="Corrected a line of {segment_id|a page}",
)
def correct(ctx: ActionContext, p: Correct) -> dict[str, Any]:
    """Raises OtherReadingCounts if another reading counts than the caller saw, UnknownKind, SegmentDeleted.

    A person's correction retires what it corrects, including an explicit choice of it. A machine's is added
    beside it. If the new reading counts, spans on the old one are moved where possible (`unplaced`: the
    others).
    """
    refuse_provisional(p.segment_id, p.expected_counting_id)
    row = editable(ctx, p.segment_id, None)
    require_kind(ctx, p.kind)
    StatedFacts(ctx).check(p.language, p.script)
    counting = counting_of_segment(ctx.conn, row.id, p.kind, reading_rule(ctx.conn))
    if p.expected_counting_id is not None and p.expected_counting_id != counting.representation_id:
        text = None
        if counting.representation_id is not None:
            rival = READINGS.get(ctx.conn, counting.representation_id)
            text = rival["content"] if rival else None
        raise OtherReadingCounts(p.expected_counting_id, counting.representation_id, text)
    representation_id, unplaced = write_correction(
        ctx, row, p.text, counting, kind=p.kind, level=p.level, language=p.language, script=p.script
    )
    return {**reading_of(ctx.conn, representation_id, reading_rule(ctx.conn)), "unplaced": unplaced}


@action(
    "representation.create_many",
    result=CorrectedReadings,
    summary="Correct the readings of several segments in one step.",
    route=Route("POST", "/api/segments/correct-many", name="correct_many"),
    words="Corrected lines of {|a page}",
)
def correct_many(ctx: ActionContext, p: CorrectMany) -> dict[str, Any]:
    """As representation.create for each; a refusal names the index, and nothing is written."""
    items: list[dict[str, Any]] = []
    met: set[str] = set()
    for index, correction in enumerate(p.corrections):
        try:
            if correction.segment_id in met:
                raise Invalid(
                    f"{correction.segment_id} is named twice; name each segment once.", code="named_twice"
                )
            met.add(correction.segment_id)
            items.append(ctx.run(correct.name, Correct(kind=p.kind, **correction.model_dump())))
        except (Invalid, Conflict, NotFound) as refusal:
            refusal.detail = f"corrections[{index}]: {refusal.detail}"
            refusal.fields["index"] = index
            raise
    return {"items": items, "count": len(items)}


def write_correction(
    ctx: ActionContext,
    segment: Row[Any] | SegmentRow,
    text: str,
    counting: Counting,
    *,
    kind: str = "transcription",
    level: str | None = None,
    language: str | None = None,
    script: str | None = None,
) -> tuple[str, list[dict[str, str]]]:
    """Insert a reading by the caller that corrects the counting one; return its id and the unplaced spans.

    A person's retires the previous reading and an explicit choice of it; a machine's only states what it
    means to correct.
    """
    if counting.basis == "chosen" and ctx.principal.kind == "person":
        _withdraw_choice(ctx, segment.id, kind)
    before = counting.representation_id
    reading_id = write_reading(
        ctx, segment, text, kind=kind, level=level, language=language, script=script, corrects=before
    )
    if kind != "transcription" or before is None:
        return reading_id, []
    if (
        counting_of_segment(ctx.conn, segment.id, kind, reading_rule(ctx.conn)).representation_id
        != reading_id
    ):
        return reading_id, []
    old = READINGS.require(ctx.conn, before)
    return reading_id, move_spans(
        ctx, ReadingChange(segment.document_id, segment.id, before, reading_id, old["content"] or "", text)
    )


def write_reading(
    ctx: ActionContext,
    segment: Row[Any] | SegmentRow,
    text: str,
    *,
    kind: str = "transcription",
    level: str | None = None,
    language: str | None = None,
    script: str | None = None,
    corrects: str | None = None,
) -> str:
    """Insert a reading by the caller; return its id."""
    representation_id = new_id()
    row = {
        "id": representation_id,
        "document_id": segment.document_id,
        "kind": kind,
        "content": text,
        "language": language,
        "script": script,
        "segment_id": segment.id,
        "level": level,
        "corrects_representation_id": corrects,
        "retracted": False,
        "review_state": "source",
        **ctx.provenance(),
    }
    add_representations(ctx, tuple(row), [tuple(row.values())])
    _touch(ctx, segment.id, segment.document_id, segment.pass_id, representation_id)
    return representation_id


def _touch(
    ctx: ActionContext, segment_id: str, document_id: str, pass_id: str, *representation_ids: str
) -> None:
    ctx.target(segment_id, *representation_ids)
    ctx.note_changes(
        segment_ids=[segment_id],
        document_ids=[document_id],
        pass_ids=[pass_id],
        representation_ids=representation_ids,
    )


def _withdraw_choice(ctx: ActionContext, segment_id: str, kind: str, *, but: str | None = None) -> bool:
    """Withdraw what is chosen, *but* a choice of that reading; return whether one stays. Two stand only where a branch brought one."""
    table = reading_choices
    standing = (table.c.segment_id == segment_id, table.c.kind == kind, table.c.superseded_at.is_(None))
    chosen = set(ctx.conn.execute(select(table.c.representation_id).where(*standing)).scalars())
    if chosen - {but}:
        others = (*standing, table.c.representation_id.is_distinct_from(but))
        ctx.conn.execute(table.update().where(*others).values(superseded_at=ctx.now))
    return but in chosen


@action(
    "reading.choose",
    result=ChoiceOut,
    summary="Say which reading of a segment counts, or withdraw that choice.",
    route=Route("POST", "/api/segments/{segment_id}/readings/choice"),
    words=lambda p: (
        "Chose the reading of a line of {segment_id|a page}"
        if p.get("representation_id")
        else "Withdrew the choice of a reading for a line of {segment_id|a page}"
    ),
    person_only=True,
)
def choose(ctx: ActionContext, p: Choose) -> dict[str, Any]:
    """Raises NotFound, UnknownKind, Invalid for a reading of another segment or kind, or a retracted one."""
    refuse_provisional(p.segment_id, p.representation_id)
    row = editable(ctx, p.segment_id, None)
    require_kind(ctx, p.kind)
    if p.representation_id is not None:
        reading = READINGS.require(ctx.conn, p.representation_id)
        if reading["segment_id"] != row.id:
            raise Invalid(
                f"Reading {p.representation_id} is not of segment {row.id}; choose one of its own readings.",
                code="other_segment",
            )
        if reading["kind"] != p.kind:
            raise Invalid(
                f"Reading {p.representation_id} is a {reading['kind']}, not a {p.kind}; name its own kind.",
                code="other_kind",
            )
        if reading["retracted"]:
            raise Invalid(f"Reading {p.representation_id} was retracted and cannot count.", code="retracted")
    if not _withdraw_choice(ctx, row.id, p.kind, but=p.representation_id) and p.representation_id is not None:
        ctx.conn.execute(
            reading_choices.insert().values(
                id=new_id(),
                document_id=row.document_id,
                segment_id=row.id,
                kind=p.kind,
                representation_id=p.representation_id,
                superseded_at=None,
                **ctx.provenance(),
            )
        )
    ids = [reading_id for reading_id in (p.representation_id,) if reading_id is not None]
    _touch(ctx, row.id, row.document_id, row.pass_id, *ids)
    counting = counting_of_segment(ctx.conn, row.id, p.kind, reading_rule(ctx.conn))
    return {
        "segment_id": row.id,
        "kind": p.kind,
        "representation_id": p.representation_id,
        "counting": counting._asdict(),
    }


_A_PERSONS: RowRule[Retract] = RowRule(
    representations.name,
    "person",
    when=lambda before, after: (
        after is not None
        and after["retracted"]
        and after["provenance_kind"] == HUMAN
        and not (before is not None and before["retracted"])
    ),
    refusal=lambda: person_only("retract a person's reading"),
)
"""A machine takes back what machines read."""


@action(
    "reading.retract",
    result=ReadingOut,
    summary="Take a reading out of the count; it stays readable.",
    route=Route("POST", "/api/segments/readings/{representation_id}/retract"),
    words="Retracted a reading of a line of {representation_id|a page}",
    rules=(_A_PERSONS,),
)
def retract(ctx: ActionContext, p: Retract) -> dict[str, Any]:
    """Raises NotFound, Conflict if it is already retracted, PersonOnly if a machine would retract a
    person's.
    """
    refuse_provisional(p.representation_id)
    reading = READINGS.require(ctx.conn, p.representation_id)
    if reading["segment_id"] is None:
        raise NotFound(f"{p.representation_id} is a text of a whole document, not a reading of a segment.")
    if reading["retracted"]:
        raise Conflict(f"Reading {p.representation_id} is already retracted.", code="already_retracted")
    require_live(ctx.conn, reading["document_id"])
    pass_id = ctx.conn.exec_driver_sql(
        "SELECT pass_id FROM segment WHERE id = ?", (reading["segment_id"],)
    ).scalar_one()
    retract_representation(ctx, p.representation_id)
    _touch(ctx, reading["segment_id"], reading["document_id"], pass_id, p.representation_id)
    return reading_of(ctx.conn, p.representation_id, reading_rule(ctx.conn))


@action(
    "reading_kind.create",
    result=KindOut,
    summary="Add a kind of reading this project uses; kinds are never removed.",
    words="Added a kind of reading",
)
def add_kind(ctx: ActionContext, p: KindCreate) -> dict[str, Any]:
    """Raises Conflict if the project has it already."""
    if p.key in reading_kind_keys(ctx.conn):
        raise Conflict(f"This project already has the reading kind {p.key}.", code="already_exists", id=p.key)
    ctx.conn.execute(
        reading_kinds.insert().values(key=p.key, label=p.label, builtin=False, created_at=ctx.now)
    )
    ctx.target(p.key)
    return {"key": p.key, "label": p.label, "builtin": False}
