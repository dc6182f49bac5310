"""Counts what is attached to the exported readings but goes into no file, so that no export omits it
silently.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, func, select

from armarium.api import raw_of
from armarium_documents.api import annotation_table, representations
from armarium_formats.assembling import AssembledPage
from armarium_formats.driver import Loss
from armarium_formats.tei.vocabulary import EDITED_KIND
from armarium_source_model.api import ladder_of_pass, links, segments

_OTHER_READINGS = f"""
SELECT r.segment_id, r.kind, min(r.provenance_kind = 'external_import')
FROM {segments} s JOIN {representations} r ON r.segment_id = s.id
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND r.kind <> ? AND NOT r.retracted GROUP BY r.segment_id, r.kind
"""

_OWN_FACTS = f"""
SELECT r.id, r.segment_id, r.language, r.script FROM {segments} s JOIN {representations} r ON r.segment_id = s.id
WHERE s.pass_id = ? AND s.deleted_at IS NULL AND r.kind = ? AND NOT r.retracted
AND (r.language IS NOT NULL OR r.script IS NOT NULL)
"""

_LINKS = f"""
WITH ends(id) AS (SELECT id FROM {segments} WHERE pass_id = :pass AND deleted_at IS NULL UNION ALL SELECT :document)
SELECT count(*) FROM (
  SELECT l.id FROM ends e CROSS JOIN {links} l ON l.from_id = e.id WHERE l.deleted_at IS NULL
  UNION SELECT l.id FROM ends e CROSS JOIN {links} l ON l.to_id = e.id WHERE l.deleted_at IS NULL)
"""


def losses_beside(
    conn: Connection, document_id: str, pass_id: str, kind: str, assembled: AssembledPage, format_name: str
) -> list[Loss]:
    """Return readings of other kinds, languages of readings, annotations and links that no format carries."""
    raw = raw_of(conn)
    edited = assembled.edited if format_name == "tei" and kind == "transcription" else frozenset[str]()
    kinds: Counter[str] = Counter(
        other
        for segment_id, other, imported in raw.execute(_OTHER_READINGS, (pass_id, kind))
        # The markup of a TEI line contains the editor's text beside the scribe's, as it was read.
        if not (imported and other == EDITED_KIND and segment_id in edited)
    )
    losses = [
        Loss(
            f"readings of the kind {other}",
            count,
            f"a file contains readings of one kind, here {kind}; export again with reading_kind {other}",
        )
        for other, count in sorted(kinds.items())
    ]
    own = 0
    exported = set(assembled.reading_of.values())
    if stated := raw.execute(_OWN_FACTS, (pass_id, kind)).fetchall():
        ladder = ladder_of_pass(conn, document_id, pass_id)
        for identity, segment_id, language, script in stated:
            there = ladder.value("language", segment_id), ladder.value("script", segment_id)
            is_other = language not in (None, there[0]) or script not in (None, there[1])
            own += identity in exported and is_other
    remarks = select(func.count()).where(annotation_table.c.document_id == document_id)
    annotations = conn.execute(remarks).scalar_one()
    (linked,) = raw.execute(_LINKS, {"pass": pass_id, "document": document_id}).fetchone()
    for what, count, why in (
        (
            "languages and scripts of readings",
            own,
            "a file states them for a line, not for one of its readings",
        ),
        (
            "annotations",
            annotations,
            "they stay with the page in the project; no format here can express them",
        ),
        ("links", linked, "they stay in the project; no format here can express them"),
    ):
        if count:
            losses.append(Loss(what, count, why))
    return losses
