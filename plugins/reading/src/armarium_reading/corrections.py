"""What became of a model's readings: the ledger notes corrections and invalidations, each naming the call.

At the end of each step, in its transaction, the ledger is brought into line with the project: a person's
reading that corrects a model's, or a model's reading that a person chose, is a *correction* of the call; a
model's reading that was retracted or undone is an *invalidation* of it. If that no longer holds (after an
undo), an invalidation names the note that it withdraws as `caused_by_episode_id`. So an undo, a redo, and a
step that did several of these things at once need no code of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, or_, select

from armarium.api import ActionContext, is_among, versions
from armarium_documents.api import representations
from armarium_reading.ledger import episode_row
from armarium_reading.models import episodes
from armarium_source_model.api import standing_choices

_WATCHED = frozenset(
    {"representation.create", "reading.choose", "reading.retract", "reading.take", "segment.take_lines"}
)
"""The actions whose steps, alone or within others, can have such consequences."""

_R = representations.c
_READING = (
    *(_R.id, _R.segment_id, _R.document_id, _R.content, _R.retracted, _R.provenance_kind, _R.created_at),
    *(_R.corrects_representation_id, _R.producer_run_id, _R.producer_tool, _R.producer_model),
)

Readings = Mapping[str, Mapping[str, Any]]
"""The readings of the segments a step touched, by their ids."""


@dataclass(frozen=True, slots=True)
class _Note:
    """A consequence as the ledger stores it. *episode_id* is that of the call; without a segment it concerns
    the whole answer.
    """

    kind: str
    episode_id: str
    segment_id: str | None = None
    reading_id: str | None = None
    text: str | None = None


@dataclass(slots=True)
class Standing:
    """What remains of a call: the texts with which people replaced its readings, and whether it still counts."""

    corrections: dict[str | None, str] = field(default_factory=dict)
    """Segment (None: the whole answer) to the last text that a person wrote or chose for it."""
    invalid: set[str | None] = field(default_factory=set)
    """Segments whose reading was retracted or undone; None: everything the call gave."""


def standing_of(conn: Connection, episode_id: str) -> Standing:
    """Return what remains of the call *episode_id* now."""
    standing = Standing()
    for note in _load_notes(conn, episodes.c.corrects_episode_id == episode_id).values():
        if note.kind == "correction":
            standing.corrections[note.segment_id] = note.text or ""
        else:
            standing.invalid.add(note.segment_id)
    return standing


def note_consequences(ctx: ActionContext) -> None:
    """Bring the ledger into line with what this step did to models' readings."""
    if not _WATCHED & ctx.ran.keys():
        return
    segments = list(ctx.changes.get("segment_ids", ()))
    touched = list(ctx.changes.get("representation_ids", ()))
    rows = ctx.conn.execute(select(*_READING).where(is_among(_R.segment_id, segments))).all()
    readings = {row.id: row._asdict() for row in rows}
    calls = _Calls(ctx.conn)
    due = dict.fromkeys(_notes_due(ctx.conn, readings, calls))
    reading = _made_by_one_call(ctx.conn, touched, readings) or {}
    if (call := calls.episode_of(reading)) and reading["id"] not in readings:
        due[_Note("invalidation", call)] = None
    is_near = or_(
        is_among(episodes.c.segment_id, segments),
        episodes.c.segment_id.is_(None) & is_among(episodes.c.corrects_episode_id, calls.call_ids),
    )
    documents = list(ctx.changes.get("document_ids", ()))
    standing = _load_notes(ctx.conn, is_among(episodes.c.document_id, documents), is_near)
    new = [
        _row(ctx, calls, _Note("invalidation", note.episode_id, note.segment_id, note.reading_id), identity)
        for identity, note in standing.items()
        if note not in due
    ]
    standing_ids = set(standing.values())
    new += [_row(ctx, calls, note, None) for note in due if note not in standing_ids]
    if new:
        ctx.conn.execute(insert(episodes), new)


def _notes_due(conn: Connection, readings: Readings, calls: _Calls) -> Iterator[_Note]:
    """Return the notes the ledger should contain about these readings, oldest first."""
    for reading in sorted(readings.values(), key=lambda reading: (reading["created_at"], reading["id"])):
        segment_id, text = reading["segment_id"], reading["content"]
        if reading["producer_tool"] is not None:
            if reading["retracted"] and (call := calls.episode_of(reading)):
                yield _Note("invalidation", call, segment_id, reading["id"])
        elif (
            reading["provenance_kind"] == "human"
            and not reading["retracted"]
            and (call := calls.episode_of(_find_corrected(reading, readings)))
        ):
            yield _Note("correction", call, segment_id, reading["id"], text)
    for segment_id in dict.fromkeys(reading["segment_id"] for reading in readings.values()):
        for chosen in standing_choices(conn, segment_id).values():
            reading = readings.get(chosen) or {}
            if call := calls.episode_of(reading):
                yield _Note("correction", call, segment_id, chosen, reading["content"])


def _find_corrected(reading: Mapping[str, Any], readings: Readings) -> Mapping[str, Any]:
    """Return the model's reading that *reading* corrects, through any number of others; empty if there is none."""
    ids = set[str]()
    while reading and reading["producer_tool"] is None and reading["id"] not in ids:
        ids.add(reading["id"])
        reading = readings.get(reading["corrects_representation_id"]) or {}
    return reading


def _made_by_one_call(
    conn: Connection, touched: Iterable[str], readings: Readings
) -> Mapping[str, Any] | None:
    """Return one of the models' readings that this step made or retracted: all readings of one step come from
    one call.
    """
    for identity in touched:
        reading = readings.get(identity)
        if reading is None:
            earlier = versions(conn, representations, identity)
            reading = earlier[-1]["values"] if earlier else None
        if reading is not None:
            return reading
    return None


class _Calls:
    """Finds the call a model's reading comes from: the last one before it about its page, by the same run and model."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._known: dict[tuple[Any, ...], str | None] = {}
        self.rows: dict[str, Row[Any]] = {}

    @property
    def call_ids(self) -> list[str]:
        """Return the ids of the calls found so far."""
        return list(self.rows)

    def episode_of(self, reading: Mapping[str, Any]) -> str | None:
        """Return the episode of the call; None for a person's reading, or if the ledger has none."""
        if reading.get("producer_tool") is None:
            return None
        maker_columns = ("document_id", "producer_run_id", "producer_tool", "producer_model", "created_at")
        key = (*(reading[name] for name in maker_columns), reading["segment_id"])
        if key not in self._known:
            document_id, run_id, tool, model, made_at, segment_id = key
            columns = episodes.c
            row = self._conn.execute(
                select(episodes)
                .where(
                    columns.document_id == document_id,
                    columns.kind == "model_call",
                    columns.thread_id.is_(run_id) if run_id is None else columns.thread_id == run_id,
                    columns.provider == tool,
                    columns.model == model,
                    or_(columns.segment_id == segment_id, columns.segment_id.is_(None)),
                    columns.at <= made_at,
                )
                .order_by(columns.segment_id.is_(None), columns.seq.desc())
                .limit(1)
            ).first()
            self._known[key] = None if row is None else row.id
            if row is not None:
                self.rows[row.id] = row
        return self._known[key]

    def row(self, episode_id: str) -> Row[Any]:
        """Return the episode's row."""
        if episode_id not in self.rows:
            query = select(episodes).where(episodes.c.id == episode_id)
            self.rows[episode_id] = self._conn.execute(query).one()
        return self.rows[episode_id]


def _load_notes(conn: Connection, *where: ColumnElement[bool]) -> dict[str, _Note]:
    """Return the ledger's notes that were not withdrawn, by their episode, oldest first."""
    episode = episodes.c
    notes: dict[str, _Note] = {}
    for row in conn.execute(
        select(
            episode.id,
            episode.kind,
            episode.corrects_episode_id,
            episode.caused_by_episode_id,
            episode.segment_id,
            episode.target_id,
            episode.exchange,
        )
        .where(episode.kind != "model_call", *where)
        .order_by(episode.seq)
    ):
        if row.caused_by_episode_id is not None:
            notes.pop(row.caused_by_episode_id, None)
        else:
            text = row.exchange.get("corrected_text")
            notes[row.id] = _Note(row.kind, row.corrects_episode_id, row.segment_id, row.target_id, text)
    return notes


def _row(ctx: ActionContext, calls: _Calls, note: _Note, withdraws: str | None) -> dict[str, Any]:
    """Return *note* as a ledger row, with the run and model of the call it names."""
    call = calls.row(note.episode_id)
    exchange = {"prompt": "", "output": ""}
    if note.text is not None:
        exchange["corrected_text"] = note.text
    same_call = (
        "use_case",
        "node",
        "thread_id",
        "workflow_id",
        "job_id",
        "provider",
        "model",
        "model_version",
    )
    return {
        **episode_row(note.kind, call.document_id, ctx.principal.name),
        **{name: getattr(call, name) for name in same_call},
        "segment_id": note.segment_id,
        "target_id": note.reading_id,
        "exchange": exchange,
        "corrects_episode_id": note.episode_id,
        "caused_by_episode_id": withdraws,
    }
