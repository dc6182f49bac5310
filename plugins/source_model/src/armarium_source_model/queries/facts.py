"""Reads what is stated for a page and its segments, with a fixed number of statements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from armarium.api import json_text, raw_of
from armarium_documents.api import documents, renditions
from armarium_source_model.facts import Holder, Ladder, PageFacts, is_unknown
from armarium_source_model.languages import shortest_tag
from armarium_source_model.models import page_texts, segments

_PAGE = f"""
WITH RECURSIVE up(id, parent_id, name, language, script, direction, steps) AS (
  SELECT id, parent_id, name, language, script, direction, 0 FROM {documents} WHERE id = :document
  UNION ALL
  SELECT d.id, d.parent_id, d.name, d.language, d.script, d.direction, up.steps + 1
  FROM up JOIN {documents} d ON d.id = up.parent_id WHERE up.steps < 1000)
SELECT iif(steps, 'ancestor', 'page'), id, language, script, direction, name, NULL, NULL, NULL, 2 * steps AS place
FROM up
WHERE language IS NOT NULL OR script IS NOT NULL OR direction IS NOT NULL
UNION ALL
SELECT 'file', id, language, script, direction, coalesce(import_file, name), line_order, proportion, column_count, 1
FROM segment_pass WHERE id = :pass
UNION ALL
SELECT 'project', '', max(iif(key = 'language', value, NULL)), max(iif(key = 'script', value, NULL)),
  max(iif(key = 'direction', value, NULL)), '', NULL, NULL, NULL, 10000
FROM source_setting WHERE key IN ('language', 'script', 'direction')
UNION ALL
SELECT 'picture', id, NULL, NULL, NULL, '', NULL, CAST(pixel_width AS REAL) / nullif(pixel_height, 0), NULL, 10001
FROM {renditions} WHERE document_id = :document AND is_primary
ORDER BY place
"""

_SEGMENTS = """
SELECT id, language, script, direction, coalesce(kind_raw, kind), parent_segment_id
FROM segment WHERE pass_id = ? AND deleted_at IS NULL
"""


def page_language_sql(document: str, pass_id: str) -> str:
    """Return SQL for the language stated for a node as `page_facts` finds it; NULL if none is. *document*: the alias
    of its row of the documents; *pass_id*: SQL for the pass whose file is asked.
    """
    return f"""coalesce({document}.language,
      (SELECT o.language FROM segment_pass o WHERE o.id = {pass_id}),
      (WITH RECURSIVE up(parent_id, language, steps) AS (
        SELECT {document}.parent_id, NULL, 0 UNION ALL
        SELECT u.parent_id, u.language, steps + 1 FROM up JOIN {documents} u ON u.id = up.parent_id
        WHERE up.language IS NULL AND steps < 1000)
       SELECT language FROM up WHERE language IS NOT NULL),
      (SELECT value FROM source_setting WHERE key = 'language'))"""


_SEVERAL = "mul"
"""The tag of what is in several languages."""
_OF_SEGMENTS = f"""
SELECT s.id, coalesce(
  (WITH RECURSIVE around(parent_id, language, steps) AS (
    SELECT s.parent_segment_id, s.language, 0 UNION ALL
    SELECT o.parent_segment_id, o.language, steps + 1 FROM around a JOIN {segments} o ON o.id = a.parent_id
    WHERE a.language IS NULL AND o.deleted_at IS NULL AND steps < 100)
   SELECT language FROM around WHERE language IS NOT NULL),
  {page_language_sql("d", "s.pass_id")})
FROM json_each(?) j JOIN {segments} s ON s.id = j.value JOIN {documents} d ON d.id = s.document_id
"""
_OF_PAGES = f"""
SELECT d.id, {page_language_sql("d", f"(SELECT t.pass_id FROM {page_texts} t WHERE t.document_id = d.id)")}
FROM json_each(?) j JOIN {documents} d ON d.id = j.value
"""


def languages_of_segments(conn: Connection, segment_ids: Iterable[str]) -> dict[str, str | None]:
    """Return in which language each segment is stated to be, by its shortest code alone (`es`, `la`): the nearest statement, as
    `Ladder` finds it; None where there is none, or it is undetermined or several.
    """
    rows = raw_of(conn).execute(_OF_SEGMENTS, (json_text(list(segment_ids)),))
    return {identity: _plain_code(tag) for identity, tag in rows}


def languages_of_pages(conn: Connection, page_ids: Iterable[str]) -> dict[str, str | None]:
    """Return the same for pages as a whole, with what the file of the text that counts says."""
    rows = raw_of(conn).execute(_OF_PAGES, (json_text(list(page_ids)),))
    return {identity: _plain_code(tag) for identity, tag in rows}


def _plain_code(tag: str | None) -> str | None:
    if tag is None or is_unknown("language", tag):
        return None
    code = shortest_tag(tag).partition("-")[0].lower()
    return None if code == _SEVERAL else code


def page_facts_rows(
    conn: Connection, document_id: str | None, pass_id: str | None = None
) -> tuple[tuple[Any, ...], ...]:
    """Return the rows from which `page_facts` is built; they are equal as long as the statements are."""
    values = {"document": document_id, "pass": pass_id}
    return tuple(conn.connection.cursor().execute(_PAGE, values).fetchall())


def page_facts(conn: Connection, document_id: str | None, pass_id: str | None = None) -> PageFacts:
    """Return what is stated for a page (any node; None: only the project), and by the file of *pass_id*."""
    return facts_of_rows(page_facts_rows(conn, document_id, pass_id))


def facts_of_rows(rows: tuple[tuple[Any, ...], ...]) -> PageFacts:
    """Build the facts from rows of `page_facts_rows`."""
    holders: list[Holder] = []
    line_order = columns = None
    aspect = 1.0
    for kind, identity, language, script, direction, name, order, proportion, number, _ in rows:
        # The picture comes last: it takes precedence over the page of the layout file.
        aspect = proportion or aspect
        line_order, columns = line_order or order, columns or number
        if language is not None or script is not None or direction is not None:
            holders.append(Holder(kind, identity, language, script, direction, name))
    return PageFacts(tuple(holders), line_order, aspect, columns)


def ladder_of_pass(conn: Connection, document_id: str, pass_id: str) -> Ladder:
    """Return the facts of every live segment of a pass, using two statements."""
    rows = conn.connection.cursor().execute(_SEGMENTS, (pass_id,)).fetchall()
    return Ladder(
        page_facts(conn, document_id, pass_id), ((Holder("segment", *row[:5]), row[5]) for row in rows)
    )
