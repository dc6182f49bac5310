"""Writes rows within an action: passes, many segments, many readings, forwarding notes.

Other families use these through `armarium_source_model.api`, so that an import or a reader writes one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Row, select

from armarium.api import ActionContext, Invalid, json_text, new_id, raw_of
from armarium_documents.api import add_representations, renditions, require_all_live, require_live
from armarium_source_model.counting import HUMAN, IMPORTED, TEXT_LAYER
from armarium_source_model.errors import (
    OtherPage,
    pass_deleted,
    refuse_provisional,
    unknown_pass,
    unknown_segment,
)
from armarium_source_model.letter_rows import PlacedReading, add_places
from armarium_source_model.models import passes, segments
from armarium_source_model.queries.passes import get_pass
from armarium_source_model.schemas.readings import PlacesIn
from armarium_source_model.schemas.settings import DIRECTIONS
from armarium_source_model.scripts import is_language, is_script
from armarium_source_model.segment_rows import (
    COLUMNS,
    Belonging,
    NewSegment,
    ReadySegments,
    new_ids,
    ready_segments,
    rows_of,
)

LINE_ORDERS = frozenset({"tb", "bt", "lr", "rl"})
USER = "user"
"""The provider of what a person drew by hand."""

_NO_READER = {
    USER: "A reader's work cannot be a person's: name the reader as provider.",
    TEXT_LAYER: "Only the engine says that a text is the file's own: name the reader as provider.",
}


def refuse_provider(provider: str) -> None:
    """Raise Invalid if a caller's reader has a name that would rank its work above that of readers."""
    why = _NO_READER.get(provider.strip().casefold())
    if why is not None:
        raise Invalid(why, code="not_a_person" if provider == USER else "not_a_reader", provider=provider)


@dataclass(slots=True)
class NewReading:
    """A reading to be added to a segment; the words are stored exactly as given."""

    segment_id: str
    text: str
    kind: str = "transcription"
    level: str | None = None
    confidence: float | None = None
    producer_tool: str | None = None
    producer_model: str | None = None
    producer_run_id: str | None = None
    language: str | None = None
    script: str | None = None
    places: PlacesIn | None = None
    """Where its letters stand, if its reader said so."""


class StatedFacts(NamedTuple):
    """What a file states of its page as a whole; statements on the page itself take precedence.

    line_order: how the lines follow each other: tb, bt, lr or rl. proportion: the width of the page divided by
    its height.
    """

    language: str | None = None
    script: str | None = None
    direction: str | None = None
    line_order: str | None = None
    proportion: float | None = None

    def lawful(self) -> StatedFacts:
        """Return the facts without invalid BCP 47 tags, ISO 15924 codes and directions."""
        return StatedFacts(
            self.language if self.language and is_language(self.language) else None,
            self.script if self.script and is_script(self.script) else None,
            self.direction if self.direction in DIRECTIONS else None,
            self.line_order if self.line_order in LINE_ORDERS else None,
            self.proportion,
        )


@dataclass(slots=True)
class NewPass:
    """A pass to be added to a live, unlocked page, with its first segments if any.

    rendition_id: the picture that the segments were measured on. facts: what its file states of the page as a
    whole.
    """

    document_id: str
    name: str
    provider: str | None = None
    model: str | None = None
    run_id: str | None = None
    source_artifact_id: str | None = None
    artifact_type: str | None = None
    import_file: str | None = None
    import_checksum: str | None = None
    import_format: str | None = None
    has_original: bool = False
    transformation: Mapping[str, Any] | None = None
    segments: ReadySegments | None = None
    rendition_id: str | None = None
    facts: StatedFacts = field(default_factory=StatedFacts)


class MadePass(NamedTuple):
    """Ids of a pass that was added, and of its segments in order."""

    pass_id: str
    segment_ids: list[str]


_STATED = tuple(
    attribute.name
    for attribute in fields(NewPass)
    if attribute.name in passes.c and attribute.name not in ("run_id", "transformation")
)
"""What a new pass says of its row, as it says it."""

_PASS_COLUMNS = (
    "id", *_STATED, "transformation", "ground_truth", "provenance_kind", "created_by", "run_id", "created_at",
    *StatedFacts._fields,
)  # fmt: skip


def create_pass(ctx: ActionContext, new: NewPass) -> str:
    """Create a pass on a live, unlocked page; return its id. The maker is derived, never taken from a body:
    an import is external_import, a machine caller is what it is, a model or run is workflow, else a person.
    """
    return create_passes(ctx, [new])[0].pass_id


def create_passes(ctx: ActionContext, new: Sequence[NewPass]) -> list[MadePass]:
    """Create passes with their segments, by few statements; see `create_pass` for their makers."""
    documents = list(dict.fromkeys(new_pass.document_id for new_pass in new))
    require_all_live(ctx.conn, documents)
    made_passes: list[MadePass] = []
    rows: list[tuple[object, ...]] = []
    segment_rows: list[Iterable[tuple[object, ...]]] = []
    for new_pass in new:
        provenance = _maker_of(ctx, new_pass)
        made_passes.append(
            MadePass(new_id(), [] if new_pass.segments is None else new_ids(new_pass.segments))
        )
        pass_id, ids = made_passes[-1]
        rows.append(
            (
                pass_id,
                *(getattr(new_pass, name) for name in _STATED),
                json_text(dict(new_pass.transformation)) if new_pass.transformation is not None else None,
                0,
                provenance["provenance_kind"],
                provenance["created_by"],
                provenance["run_id"],
                provenance["created_at"],
                *new_pass.facts.lawful(),
            )
        )
        if new_pass.segments is not None:
            by_hand = provenance["provenance_kind"] == HUMAN
            to = Belonging(new_pass.document_id, pass_id, new_pass.rendition_id, by_hand, provenance, ctx.now)
            segment_rows.append(rows_of(new_pass.segments, ids, to))
    ctx.bulk_insert(passes, _PASS_COLUMNS, rows)
    ctx.bulk_insert(segments, COLUMNS, chain.from_iterable(segment_rows))
    pass_ids = [made_pass.pass_id for made_pass in made_passes]
    ctx.target(*pass_ids)
    ctx.note_changes(pass_ids=pass_ids, document_ids=documents)
    if segment_rows:
        ctx.note_changes(segment_ids=chain.from_iterable(made_pass.segment_ids for made_pass in made_passes))
    return made_passes


def _maker_of(ctx: ActionContext, new: NewPass) -> dict[str, Any]:
    provenance = ctx.provenance()
    if new.import_format is not None or new.import_file is not None:
        provenance["provenance_kind"] = IMPORTED
    elif provenance["provenance_kind"] == HUMAN and (
        new.run_id or new.model or new.provider not in (None, USER)
    ):
        provenance["provenance_kind"] = "workflow"
    if new.run_id is not None:
        provenance["run_id"] = new.run_id
    return provenance


def set_transformation(ctx: ActionContext, pass_id: str, value: Mapping[str, Any] | None) -> None:
    """Set the georeference of a pass, or clear it (None); refuses a pass that may not be written to."""
    row = writable_pass(ctx, pass_id)
    ctx.conn.execute(
        passes.update()
        .where(passes.c.id == pass_id)
        .values(transformation=None if value is None else dict(value))
    )
    ctx.target(pass_id)
    ctx.note_changes(pass_ids=[pass_id], document_ids=[row.document_id])


def writable_pass(ctx: ActionContext, pass_id: str, document_id: str | None = None) -> Row[Any]:
    """Return the row of a pass that may be written to; otherwise refuse (404, 409, 403, 422)."""
    refuse_provisional(pass_id)
    row = get_pass(ctx.conn, pass_id)
    _refuse_unwritable(ctx, pass_id, row, document_id)
    return row


class _Maker(NamedTuple):
    """What `add_segments` needs of a pass; read without SQLAlchemy, because an import writes many small
    passes.
    """

    document_id: str
    deleted_at: str | None
    provenance_kind: str
    run_id: str | None


def _maker(ctx: ActionContext, pass_id: str, document_id: str) -> _Maker:
    refuse_provisional(pass_id)
    row = (
        raw_of(ctx.conn)
        .execute(
            "SELECT document_id, deleted_at, provenance_kind, run_id FROM segment_pass WHERE id = ?",
            (pass_id,),
        )
        .fetchone()
    )
    if row is None:
        raise unknown_pass(pass_id)
    maker = _Maker(*row)
    _refuse_unwritable(ctx, pass_id, maker, document_id)
    return maker


def _refuse_unwritable(
    ctx: ActionContext, pass_id: str, row: Row[Any] | _Maker, document_id: str | None
) -> None:
    if document_id is not None and row.document_id != document_id:
        raise OtherPage(
            f"Pass {pass_id} belongs to document {row.document_id}, not to {document_id}; name a pass of that page.",
            code="other_document",
        )
    if row.deleted_at is not None:
        raise pass_deleted(pass_id)
    require_live(ctx.conn, row.document_id)


def add_segments(
    ctx: ActionContext,
    pass_id: str,
    document_id: str,
    rendition_id: str | None,
    new: Sequence[NewSegment],
    *,
    provenance_kind: str | None = None,
) -> list[str]:
    """Add many segments to a pass with one executemany; return their ids in the order given.

    rendition_id: the picture they were measured on; None means the page's current primary one.
    provenance_kind: who made them if not the pass's maker (a machine never makes a person's on its own
    initiative). Every shape is checked; BadGeometry names the segment's key and nothing is written.
    """
    maker = _maker(ctx, pass_id, document_id)
    provenance = row_provenance(ctx, maker, provenance_kind)
    if rendition_id is None:
        rendition_id = primary_rendition(ctx, document_id)
    ready = ready_segments(new)
    ids = new_ids(ready)
    by_hand = provenance["provenance_kind"] == HUMAN
    to = Belonging(document_id, pass_id, rendition_id, by_hand, provenance, ctx.now)
    ctx.bulk_insert(segments, COLUMNS, rows_of(ready, ids, to))
    ctx.target(pass_id)
    ctx.note_changes(segment_ids=ids, pass_ids=[pass_id], document_ids=[document_id])
    return ids


def row_provenance(
    ctx: ActionContext, pass_row: _Maker, provenance_kind: str | None = None
) -> dict[str, Any]:
    """Return the maker of a row of a pass: the one given, else the pass's maker. A machine never makes a
    person's row; it only copies one, if the caller says so.
    """
    provenance = ctx.provenance()
    kind = provenance_kind or pass_row.provenance_kind
    if (
        kind != HUMAN
        or provenance["provenance_kind"] == HUMAN
        or (provenance_kind == HUMAN and ctx.principal.restates_persons)
    ):
        provenance["provenance_kind"] = kind
    if provenance["run_id"] is None:
        provenance["run_id"] = pass_row.run_id
    return provenance


def primary_rendition(ctx: ActionContext, document_id: str) -> str | None:
    """Return a document's current primary rendition, or None if it has no picture."""
    primary = select(renditions.c.id).where(renditions.c.document_id == document_id, renditions.c.is_primary)
    return ctx.conn.execute(primary).scalar()


_READING_COLUMNS = (
    "id", "document_id", "kind", "content", "language", "script", "segment_id", "level",
    "corrects_representation_id", "retracted", "producer_run_id", "producer_tool", "producer_model",
    "review_state", "confidence", "provenance_kind", "created_by", "run_id", "created_at",
)  # fmt: skip


def add_readings(
    ctx: ActionContext, new: Sequence[NewReading], *, provenance_kind: str | None = None
) -> list[str]:
    """Add many readings with one executemany; return their ids in the order given. NotFound names an unknown
    one.

    provenance_kind: external_import for an import; else a reading with a tool or model is workflow (or
    agent), and one without is the caller's own. A machine never makes a person's reading on its own
    initiative.
    """
    if not new:
        return []
    homes = {
        row[0]: row[1]
        for row in raw_of(ctx.conn).execute(
            "SELECT s.id, s.document_id FROM json_each(?) j JOIN segment s ON s.id = j.value",
            (orjson.dumps(list({reading.segment_id for reading in new})).decode(),),
        )
    }
    for reading in new:
        if reading.segment_id not in homes:
            refuse_provisional(reading.segment_id)
            raise unknown_segment(reading.segment_id)
    documents = sorted(set(homes.values()))
    for document_id in documents:
        require_live(ctx.conn, document_id)
    provenance = ctx.provenance()
    caller = provenance["provenance_kind"]

    def maker(reading: NewReading) -> str:
        if provenance_kind is not None and (provenance_kind != HUMAN or ctx.principal.restates_persons):
            return provenance_kind
        if caller == HUMAN and (reading.producer_tool or reading.producer_model or reading.producer_run_id):
            return "workflow"
        return str(caller)

    ids = [new_id() for _ in new]
    add_representations(
        ctx,
        _READING_COLUMNS,
        (
            (
                identity,
                homes[reading.segment_id],
                reading.kind,
                reading.text,
                reading.language,
                reading.script,
                reading.segment_id,
                reading.level,
                None,
                0,
                reading.producer_run_id,
                reading.producer_tool,
                reading.producer_model,
                "source",
                reading.confidence,
                maker(reading),
                provenance["created_by"],
                provenance["run_id"],
                ctx.now,
            )
            for identity, reading in zip(ids, new, strict=True)
        ),
    )
    placed = [
        PlacedReading(identity, reading.segment_id, homes[reading.segment_id], reading.text, reading.places)
        for identity, reading in zip(ids, new, strict=True)
        if reading.places is not None
    ]
    add_places(ctx, placed)
    ctx.note_changes(representation_ids=ids, segment_ids=homes, document_ids=documents)
    return ids
