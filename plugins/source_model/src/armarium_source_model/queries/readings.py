"""Reads readings: all of one segment, and the counting ones of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import Rows, json_text
from armarium_documents.api import representations
from armarium_source_model.counting import (
    HUMAN,
    IMPORTED,
    Counting,
    CountingBasis,
    ReadingFacts,
    ReadingRule,
    counting_reading,
    retired_ids,
)
from armarium_source_model.errors import unknown_reading

TRANSCRIPTION = "transcription"
"""The kind of reading that tells how a page is written; others may be in letters of their own."""

READINGS = Rows(representations, missing=unknown_reading)


class Reading(NamedTuple):
    """A reading that nobody retracted, with what is stated of it."""

    segment_id: str
    id: str
    provenance_kind: str
    created_at: str
    corrects_representation_id: str | None
    content: str
    kind: str
    confidence: float | None
    language: str | None
    script: str | None
    created_by: str | None
    producer_tool: str | None
    producer_model: str | None


class CountingText(NamedTuple):
    """A counting reading with its words."""

    representation_id: str
    text: str
    basis: CountingBasis
    labelled_machine: bool = False


# SQLite returns all rows as one JSON value: each row fetched would release the GIL and wait for it again,
# which with four readers takes fifteen times as long as reading the rows.
_WHOLE = f"SELECT json_group_array(json_array({', '.join(f'r.{name}' for name in Reading._fields)}))"
_COUNTED = f"SELECT json_group_array(json_array({', '.join(f'r.{name}' for name in Reading._fields[:6])}))"

_IN_PASS = f"""
FROM segment s CROSS JOIN {representations} r ON r.segment_id = s.id
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND NOT r.retracted
"""
_IN_DOCUMENT = f"""
FROM {representations} r WHERE r.document_id = ? AND r.kind = ? AND r.segment_id IS NOT NULL AND NOT r.retracted
"""
_IN_SEGMENTS = f"""
FROM json_each(?) j CROSS JOIN {representations} r ON r.segment_id = j.value WHERE r.kind = ? AND NOT r.retracted
"""
_NAMED = f"FROM json_each(?) j CROSS JOIN {representations} r ON r.id = j.value"

_CHOSEN_IN_PASS = """
SELECT c.segment_id, c.representation_id FROM reading_choice c JOIN segment s ON s.id = c.segment_id
WHERE c.document_id = (SELECT document_id FROM segment_pass WHERE id = ?1) AND c.superseded_at IS NULL
AND s.pass_id = ?1 AND c.kind = ?2
"""

_CHOSEN_OF_SEGMENTS = """
SELECT c.segment_id, c.representation_id
FROM json_each(?) j CROSS JOIN reading_choice c ON c.segment_id = j.value AND c.kind = ?
WHERE c.superseded_at IS NULL
"""


def counting_of_pass(
    conn: Connection,
    pass_id: str,
    kind: str = TRANSCRIPTION,
    rule: ReadingRule = "strict",
    *,
    words: bool = True,
) -> dict[str, CountingText]:
    """Return the counting reading of every live segment of a pass that has one: segment id -> CountingText.

    words False leaves out the words: most of what a pass contains, and rarely needed for its text.
    """
    query = f"{_COUNTED} {_IN_PASS} AND r.kind = ?" + ("" if words else " AND s.kind <> 'word'")
    return _count(_rows(conn, query, pass_id, kind), _chosen_in(conn, pass_id, kind), rule)


def counting_among(
    conn: Connection, readings: Iterable[Reading], pass_id: str, kind: str, rule: ReadingRule
) -> dict[str, CountingText]:
    """Like `counting_of_pass`, from *readings* of it."""
    of_kind = [reading for reading in readings if reading.kind == kind]
    return _count(of_kind, _chosen_in(conn, pass_id, kind), rule)


def _chosen_in(conn: Connection, pass_id: str, kind: str) -> dict[str, str]:
    return dict(conn.connection.cursor().execute(_CHOSEN_IN_PASS, (pass_id, kind)).fetchall())


def all_of_pass(conn: Connection, pass_id: str) -> list[Reading]:
    """Return every reading of the live segments of a pass, of all kinds."""
    return [Reading._make(row) for row in _rows(conn, f"{_WHOLE} {_IN_PASS}", pass_id)]


def readings_named(conn: Connection, ids: Iterable[str]) -> dict[str, Reading]:
    """Return the readings *ids*."""
    rows = _rows(conn, f"{_WHOLE} {_NAMED}", json_text(list(ids)))
    return {row[1]: Reading._make(row) for row in rows}


_WORDS = f"""
SELECT json_group_array(json_array(parent_segment_id, id, content, confidence)) FROM (
    SELECT w.parent_segment_id, w.id, r.content, r.confidence FROM segment w CROSS JOIN {representations} r ON r.segment_id = w.id
    WHERE w.pass_id = ? AND w.kind = 'word' AND w.deleted_at IS NULL AND r.kind = 'transcription' AND NOT r.retracted
    ORDER BY w.id, r.created_at, r.id)
"""


def word_confidences(conn: Connection, pass_id: str) -> dict[str, list[tuple[str, str, float]]]:
    """Return the words beneath each line, in the order they were made: id, newest text, and how sure its reader was.

    Words without a text or of whose confidence nothing is known are left out.
    """
    words_by_line: dict[str, dict[str, tuple[str, str, float]]] = {}
    for line_id, word_id, text, confidence in _rows(conn, _WORDS, pass_id):
        words_by_line.setdefault(line_id, {})[word_id] = (word_id, text, confidence)
    return {
        line_id: [word for word in words.values() if word[1] and word[2] is not None]
        for line_id, words in words_by_line.items()
    }


def other_texts(conn: Connection, counting: Mapping[str, CountingText]) -> dict[str, dict[str, float | None]]:
    """Return what else was read of segments than the text that counts, with how sure who read it was, the likeliest first."""
    others: dict[str, dict[str, float | None]] = {key: {} for key in counting}
    rows = _rows(conn, f"{_WHOLE} {_IN_SEGMENTS}", json_text(list(counting)), TRANSCRIPTION)
    for reading in sorted(map(Reading._make, rows), key=lambda reading: -(reading.confidence or 0)):
        if reading.content != counting[reading.segment_id].text:
            others[reading.segment_id].setdefault(reading.content, reading.confidence)
    return others


def counting_of_document(
    conn: Connection, document_id: str, rule: ReadingRule = "strict"
) -> dict[str, CountingText]:
    """Like `counting_of_pass`, over all passes of a page."""
    rows = _rows(conn, f"{_COUNTED} {_IN_DOCUMENT}", document_id, TRANSCRIPTION)
    chosen = conn.exec_driver_sql(
        "SELECT segment_id, representation_id FROM reading_choice "
        "WHERE document_id = ? AND superseded_at IS NULL AND kind = ?",
        (document_id, TRANSCRIPTION),
    ).all()
    return _count(rows, {row[0]: row[1] for row in chosen}, rule)


def counting_of_segments(
    conn: Connection, ids: Iterable[str], rule: ReadingRule = "strict", kind: str = TRANSCRIPTION
) -> dict[str, CountingText]:
    """Like `counting_of_pass`, for the segments *ids* and readings of a *kind*."""
    parameters = (json_text(list(ids)), kind)
    rows = _rows(conn, f"{_COUNTED} {_IN_SEGMENTS}", *parameters)
    chosen = conn.connection.cursor().execute(_CHOSEN_OF_SEGMENTS, parameters).fetchall() if rows else ()
    return _count(rows, dict(chosen), rule)


def _rows(conn: Connection, query: str, *values: str) -> list[Any]:
    (rows_json,) = conn.connection.cursor().execute(query, values).fetchone()
    rows: list[Any] = orjson.loads(rows_json)
    return rows


def _count(rows: Sequence[Any], chosen: dict[str, str], rule: ReadingRule) -> dict[str, CountingText]:
    texts: dict[str, CountingText] = {}
    single: dict[str, Any] = {}
    rivals: dict[str, list[Any]] = {}
    for row in rows:
        segment_id = row[0]
        if segment_id in rivals:
            rivals[segment_id].append(row)
        elif segment_id in single:
            rivals[segment_id] = [single.pop(segment_id), row]
        else:
            single[segment_id] = row
    for segment_id, row in single.items():
        # A reading without a rival counts under any rule; only its basis depends on its maker.
        kind = row[2]
        basis: CountingBasis = "newest-machine-unchosen"
        if chosen and chosen.get(segment_id) == row[1]:
            basis = "chosen"
        elif kind == HUMAN:
            basis = "correction" if row[4] else "newest-human"
        machine = basis == "newest-machine-unchosen" and kind != IMPORTED
        texts[segment_id] = CountingText(row[1], row[5], basis, machine)
    for segment_id, own in rivals.items():
        facts = [ReadingFacts(row[1], row[2], row[3], row[4]) for row in own]
        counting = counting_reading(facts, chosen_id=chosen.get(segment_id), rule=rule)
        if counting.representation_id is not None:
            text = next(row[5] for row in own if row[1] == counting.representation_id)
            texts[segment_id] = CountingText(
                counting.representation_id, text, counting.basis, counting.labelled_machine
            )
    return texts


def standing_choices(conn: Connection, segment_id: str) -> dict[str, str]:
    """Return kind -> the reading a person chose, for one segment."""
    return {
        row[0]: row[1]
        for row in conn.exec_driver_sql(
            "SELECT kind, representation_id FROM reading_choice WHERE segment_id = ? AND superseded_at IS NULL",
            (segment_id,),
        )
    }


def counting_of_segment(
    conn: Connection, segment_id: str, kind: str, rule: ReadingRule = "strict"
) -> Counting:
    """Return the counting reading of one kind of a segment."""
    facts = [
        ReadingFacts(*row)
        for row in conn.exec_driver_sql(
            f"SELECT id, provenance_kind, created_at, corrects_representation_id FROM {representations} "
            "WHERE segment_id = ? AND kind = ? AND NOT retracted",
            (segment_id, kind),
        )
    ]
    return counting_reading(facts, chosen_id=standing_choices(conn, segment_id).get(kind), rule=rule)


def readings_of(
    conn: Connection, segment_id: str, *, kind: str | None = None, rule: ReadingRule = "strict"
) -> dict[str, Any]:
    """Return all readings of a segment, including retracted ones, naming the counting one of each kind."""
    narrowed = () if kind is None else (representations.c.kind == kind,)
    oldest_first = (representations.c.created_at, representations.c.id)
    rows = READINGS.all(conn, representations.c.segment_id == segment_id, *narrowed, order=oldest_first)
    standing = _load_standing(conn, segment_id, rule)
    counting = {name: counted for name, counted in standing.counting.items() if kind in (None, name)}
    return {
        "segment_id": segment_id,
        "items": [standing.answer(row) for row in rows],
        "count": len(rows),
        "counting": {name: counted._asdict() for name, counted in sorted(counting.items())},
    }


def reading_of(conn: Connection, representation_id: str, rule: ReadingRule = "strict") -> dict[str, Any]:
    """Return one reading of a segment, as `readings_of` lists it; NotFound."""
    row = READINGS.require(conn, representation_id)
    return _load_standing(conn, row["segment_id"], rule).answer(row)


class _Standing(NamedTuple):
    """How the readings of a segment stand to each other."""

    counting: dict[str, Counting]
    """By kind."""
    corrected_by: dict[str, str]
    not_current: set[str]
    """Those that are retired or retracted."""

    def answer(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row of `content_representation` as a Reading. stale: its source is no longer current."""
        counting = self.counting.get(row["kind"])
        return {
            **row,
            "counting": counting is not None and row["id"] == counting.representation_id,
            "superseded_by": self.corrected_by.get(row["id"]),
            "stale": row["derived_from_representation_id"] in self.not_current,
        }


def _load_standing(conn: Connection, segment_id: str, rule: ReadingRule) -> _Standing:
    chosen = standing_choices(conn, segment_id)
    by_kind: dict[str, list[ReadingFacts]] = {}
    corrected_by: dict[str, str] = {}
    retracted: set[str] = set()
    for kind, is_retracted, *values in conn.exec_driver_sql(
        f"SELECT kind, retracted, id, provenance_kind, created_at, corrects_representation_id FROM {representations}"
        " WHERE segment_id = ? ORDER BY created_at, id",
        (segment_id,),
    ):
        facts = ReadingFacts(*values)
        if is_retracted:
            retracted.add(facts.id)
            continue
        by_kind.setdefault(kind, []).append(facts)
        if facts.corrects_id and facts.provenance_kind == HUMAN:
            corrected_by[facts.corrects_id] = facts.id
    counting = {
        name: counting_reading(facts, chosen_id=chosen.get(name), rule=rule)
        for name, facts in by_kind.items()
    }
    retired = {name for facts in by_kind.values() for name in retired_ids(facts)}
    return _Standing(counting, corrected_by, retired | retracted)


def reading_kind_keys(conn: Connection) -> list[str]:
    """Return the kinds of reading of this project, seeded ones first."""
    return [
        row[0]
        for row in conn.exec_driver_sql("SELECT key FROM reading_kind ORDER BY builtin DESC, created_at, key")
    ]
