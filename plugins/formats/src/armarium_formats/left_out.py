"""Counts what is attached to the exported readings but goes into no file, so that no export omits it
silently.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Connection, func, select

from armarium.api import raw_of
from armarium_documents.api import annotation_table
from armarium_formats.assembling import AssembledPage
from armarium_formats.driver import Loss, as_losses
from armarium_formats.tei.vocabulary import EDITED_KIND
from armarium_source_model.api import IMPORTED, ladder_of_pass, links, segments

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
    edited = assembled.edited if format_name == "tei" and kind == "transcription" else frozenset[str]()
    of_others = {
        (reading.kind, reading.segment_id)
        for reading in assembled.every_reading
        # The markup of a TEI line contains the editor's text beside the scribe's, as it was read.
        if reading.provenance_kind != IMPORTED
        or reading.kind != EDITED_KIND
        or reading.segment_id not in edited
    }
    kinds = Counter(other for other, _ in of_others if other != kind)
    exported = set(assembled.reading_of.values())
    readings = [
        reading
        for reading in assembled.every_reading
        if reading.id in exported and (reading.language or reading.script)
    ]
    ladder = ladder_of_pass(conn, document_id, pass_id) if readings else None
    own = sum(
        reading.language not in (None, ladder.value("language", reading.segment_id))
        or reading.script not in (None, ladder.value("script", reading.segment_id))
        for reading in readings
        if ladder is not None
    )
    remarks = select(func.count()).where(annotation_table.c.document_id == document_id)
    annotations = conn.execute(remarks).scalar_one()
    (linked,) = raw_of(conn).execute(_LINKS, {"pass": pass_id, "document": document_id}).fetchone()
    lost = Counter[tuple[str, str]]()
    for other, count in sorted(kinds.items()):
        why = f"a file contains readings of one kind, here {kind}; export again with reading_kind {other}"
        lost[f"readings of the kind {other}", why] = count
    lost[
        "languages and scripts of readings", "a file states them for a line, not for one of its readings"
    ] = own
    lost["annotations", "they stay with the page in the project; no format here can express them"] = (
        annotations
    )
    lost["links", "they stay in the project; no format here can express them"] = linked
    return as_losses(lost)
