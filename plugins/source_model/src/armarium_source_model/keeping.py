"""Maintains the stored text of each page: in the step that changes it, or by a job if very many pages
change.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator

import orjson
from sqlalchemy import Connection

from armarium.api import (
    ActionContext,
    Engine,
    JobContext,
    JobKind,
    Library,
    NotFound,
    is_waiting,
    raw_of,
    words_of,
)
from armarium_documents.api import documents, renditions, representations
from armarium_source_model.counting import ReadingRule
from armarium_source_model.folding import FoldedText, fold_again, fold_text
from armarium_source_model.marks import has_marks, words_meant
from armarium_source_model.models import (
    due_pages,
    page_texts,
    page_words,
    pass_choices,
    passes,
    reading_choices,
    segments,
    source_settings,
)
from armarium_source_model.queries.passes import reading_rule, working_pass
from armarium_source_model.queries.readings import counting_of_segments
from armarium_source_model.queries.text import page_text
from armarium_source_model.scripts import script_of
from armarium_source_model.text import first_strong_direction, text_fingerprint

log = logging.getLogger("armarium.source_model.page_texts")

MOST_AT_ONCE = 200
"""Pages whose texts one step brings up to date itself; where it changes more, a job does the rest."""
JOB_KIND = "source_model-page-texts"
BATCH = 100
"""Pages that the job brings up to date in one transaction."""

_OF_PAGES = (representations, reading_choices, segments, passes, pass_choices, renditions)
_READINGS = frozenset({representations.name, reading_choices.name, documents.name})
_INHERITED = ("parent_id", "script", "direction")
"""What of a document tells how the pages beneath it are written."""
_SETTINGS = "library_setting"

_PUT = (
    f"INSERT INTO {page_texts} (document_id, pass_id, text, spans, words, halves, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (document_id) DO UPDATE SET pass_id = excluded.pass_id, text = excluded.text, spans = excluded.spans, "
    "words = excluded.words, halves = excluded.halves, fingerprint = excluded.fingerprint "
    "WHERE text IS NOT excluded.text OR spans IS NOT excluded.spans OR pass_id IS NOT excluded.pass_id"
)
_BENEATH = (
    f"WITH RECURSIVE down(id) AS (SELECT value FROM json_each(?) UNION SELECT d.id FROM down JOIN {documents} d "
    "ON d.parent_id = down.id) SELECT id FROM down WHERE EXISTS "
    f"(SELECT 1 FROM {passes} p WHERE p.document_id = down.id)"
)
_PAGES_OF = f"SELECT s.document_id, s.id FROM json_each(?) j CROSS JOIN {segments} s ON s.id = j.value"
_ALL = f"INSERT OR IGNORE INTO {due_pages} SELECT DISTINCT document_id FROM {passes}"


def note_step(ctx: ActionContext) -> None:
    """At the end of each step, update the texts of the pages it changed, or leave them to the job."""
    watched = (*_OF_PAGES, documents, source_settings)
    settings = ctx.schema.by_name.get(_SETTINGS)
    touched = ctx.touched_tables((*watched, *([] if settings is None else [settings])))
    if not touched:
        return
    raw = raw_of(ctx.conn)
    ruled = (
        _SETTINGS in touched
        and settings is not None
        and "reading_rule" in ctx.values_touched(settings, "key")
    )
    if ruled or source_settings.name in touched:
        raw.execute(_ALL)
    pages: set[str] = set()
    for table in _OF_PAGES:
        if table.name in touched:
            pages |= ctx.values_touched(table, "document_id")
    is_reading = touched <= _READINGS
    if documents.name in touched and (moved := ctx.ids_moved(documents, _INHERITED)):
        is_reading = False
        beneath = raw.execute(_BENEATH, (orjson.dumps(sorted(moved)).decode(),)).fetchall()
        pages |= {row[0] for row in beneath}
    rule = reading_rule(ctx.conn)
    changed = sorted(pages)
    if is_reading and changed:
        read = set().union(
            *(
                ctx.values_touched(table, "segment_id")
                for table in (representations, reading_choices)
                if table.name in touched
            )
        )
        read_by_page: dict[str, set[str]] = {}
        for page, segment_id in raw.execute(_PAGES_OF, (orjson.dumps(sorted(read - {None})).decode(),)):
            read_by_page.setdefault(page, set()).add(segment_id)
        changed = [
            page for page in changed if not splice(ctx.conn, page, read_by_page.get(page, set()), rule)
        ]
    for page in changed[:MOST_AT_ONCE]:
        bring_up_to_date(ctx.conn, page, rule)
    raw.executemany(
        f"INSERT OR IGNORE INTO {due_pages} VALUES (?)", [(page,) for page in changed[MOST_AT_ONCE:]]
    )
    if raw.execute(f"SELECT 1 FROM {due_pages} LIMIT 1").fetchone() and not is_waiting(raw, JOB_KIND):
        ctx.enqueue(JOB_KIND, {}, title=TITLE)


def bring_up_to_date(conn: Connection, document_id: str, rule: ReadingRule) -> None:
    """Update the stored text of a page, or remove it if it has none; on failure the page is left to the
    job.
    """
    raw = raw_of(conn)
    raw.execute("SAVEPOINT page_text")
    try:
        row = _row(conn, document_id, rule)
        if row is None:
            raw.execute(f"DELETE FROM {page_texts} WHERE document_id = ?", (document_id,))
        else:
            raw.execute(_PUT, row)
            _add_words(raw, " ".join(row[4:6]).split())
        raw.execute(f"DELETE FROM {due_pages} WHERE document_id = ?", (document_id,))
    except Exception as error:
        raw.execute("ROLLBACK TO page_text")
        log.error("the text of page %s could not be stored: %s", document_id, type(error).__name__)
        raw.execute(f"INSERT OR IGNORE INTO {due_pages} VALUES (?)", (document_id,))
    finally:
        raw.execute("RELEASE page_text")


def _row(conn: Connection, document_id: str, rule: ReadingRule) -> tuple[str, ...] | None:
    try:
        page = page_text(conn, document_id, rule=rule)
    except NotFound:
        return None
    if not page.text or page.pass_id is None:
        return None
    spans = [(span.segment_id, span.char_start, span.char_end) for span in page.assembled.spans]
    words = words_meant(
        conn, page.pass_id, [(segment_id, page.text[start:end]) for segment_id, start, end in spans]
    )
    folded = fold_text(_format_text(page.text))
    if words:
        folded = folded._replace(halves=" ".join([*folded.halves.split(), *words]))
    return _values(document_id, page.pass_id, page.text, spans, folded)


def _values(
    document_id: str,
    pass_id: str,
    text: str,
    spans: Iterable[tuple[str, int, int]],
    folded: FoldedText | None = None,
) -> tuple[str, ...]:
    text = _format_text(text)
    folded = folded or fold_text(text)
    spans_json = orjson.dumps(list(spans)).decode()
    return (document_id, pass_id, text, spans_json, folded.words, folded.halves, text_fingerprint(text))


def _format_text(text: str) -> str:
    # What the database cannot store, half of a surrogate pair, is not searchable either.
    return text.encode("utf-8", "replace").decode()


def splice(conn: Connection, document_id: str, read: set[str], rule: ReadingRule) -> bool:
    """Put new readings of the page's segments *read* into its row; False if other lines may change too.

    The order of a page may depend on the direction of its texts; if a line keeps its direction and script,
    and had and has a text, only the line changes.
    """
    raw = raw_of(conn)
    row = raw.execute(
        "SELECT pass_id, text, spans, words, halves, "
        f"(SELECT count(*) FROM {passes} p WHERE p.document_id = t.document_id AND p.deleted_at IS NULL), "
        f"EXISTS (SELECT 1 FROM {due_pages} d WHERE d.document_id = t.document_id) "
        f"FROM {page_texts} t WHERE document_id = ?",
        (document_id,),
    ).fetchone()
    if row is None or row[6]:
        return False
    pass_id, text, spans = row[0], row[1], orjson.loads(row[2])
    if has_marks(conn, pass_id):
        # What files say of the words may be found too, and moves with them.
        return False
    folded: FoldedText | None = FoldedText(row[3], row[4])
    # A page's only pass is the one it is read by; with several, a reading may change which one is.
    if row[5] != 1 and working_pass(conn, document_id, rule)[0] != pass_id:
        return False
    counting = counting_of_segments(conn, read, rule=rule)
    places = {span[0]: number for number, span in enumerate(spans)}
    if not read <= places.keys():
        of_pass = raw.execute(
            f"SELECT s.id FROM json_each(?) j JOIN {segments} s ON s.id = j.value "
            "WHERE s.document_id = ? AND s.pass_id = ? AND s.deleted_at IS NULL",
            (
                orjson.dumps(sorted(read)).decode(),
                document_id,
                pass_id,
            ),
        ).fetchall()
        read = {segment[0] for segment in of_pass}
        if not read <= places.keys():
            return False
    known_words = f" {row[3]} {row[4]} "
    words: list[str] = []
    # From the last line back, so that the text before a line has not moved yet.
    for number in sorted((places[segment_id] for segment_id in read), reverse=True):
        segment_id, start, end = spans[number]
        old, new = text[start:end], _format_text(counting[segment_id].text) if segment_id in counting else ""
        if not new or _detect_writing(new) != _detect_writing(old):
            return False
        # Folding a page takes longer than the correction; a line takes a hundredth of that.
        folded = folded and fold_again(folded, text[:start], old, new)
        words += words_of(new)
        text = f"{text[:start]}{new}{text[end:]}"
        moved = len(new) - len(old)
        spans[number] = (segment_id, start, end + moved)
        if moved:
            spans[number + 1 :] = [
                (segment_id, first + moved, last + moved) for segment_id, first, last in spans[number + 1 :]
            ]
    row_now = _values(document_id, pass_id, text, spans, folded)
    raw.execute(_PUT, row_now)
    _add_words(
        raw,
        (word for word in words if f" {word} " not in known_words)
        if folded
        else " ".join(row_now[4:6]).split(),
    )
    return True


def _add_words(raw: sqlite3.Connection, words: Iterable[str]) -> None:
    # One statement, because a page has hundreds of words, nearly all of them known.
    if new := list(dict.fromkeys(words)):
        spans_json = orjson.dumps(new).decode()
        raw.execute(
            f"INSERT OR IGNORE INTO {page_words} (word) SELECT value FROM json_each(?)", (spans_json,)
        )


def _detect_writing(text: str) -> tuple[str | None, str | None]:
    return first_strong_direction(text), script_of(text)


TITLE = "Bring the texts of pages up to date"


def work_off(job: JobContext) -> dict[str, int]:
    """Update every due page, several per transaction; if killed, it continues with the rest."""
    pages_done = int(job.checkpoint.get("done", 0))
    while True:
        job.check()
        counted = _work_off_some(job.library)
        if not counted[0]:
            return {"pages": pages_done}
        pages_done += counted[0]
        job.save({"done": pages_done}, done=pages_done, total=pages_done + counted[1])


def _work_off_some(library: Library) -> tuple[int, int]:
    """Return the number updated and the number left. One that fails twice is left out until it changes
    again.
    """
    with library.db.write() as conn:
        raw = raw_of(conn)
        due = [row[0] for row in raw.execute(f"SELECT document_id FROM {due_pages} LIMIT ?", (BATCH,))]
        rule = reading_rule(conn)
        for page in due:
            bring_up_to_date(conn, page, rule)
        raw.executemany(f"DELETE FROM {due_pages} WHERE document_id = ?", [(page,) for page in due])
        (remaining,) = raw.execute(f"SELECT count(*) FROM {due_pages}").fetchone()
    return len(due), remaining


def begin(engine: Engine, library: Library) -> None:
    """When a project is opened, queue the job if it has no stored texts yet, or some are due."""
    with library.db.write() as conn:
        raw = raw_of(conn)
        has_texts_and_due = raw.execute(
            f"SELECT EXISTS (SELECT 1 FROM {page_texts}), EXISTS (SELECT 1 FROM {due_pages})"
        ).fetchone()
        if has_texts_and_due == (0, 0):
            raw.execute(_ALL)
        if raw.execute(f"SELECT 1 FROM {due_pages} LIMIT 1").fetchone() and not is_waiting(raw, JOB_KIND):
            engine.jobs.enqueue(conn, JOB_KIND, {}, title=TITLE)


def remake(library: Library) -> None:
    """Rewrite the rows of all pages, for the doctor."""
    with library.db.write() as conn:
        raw_of(conn).execute(f"DELETE FROM {page_texts}")
        raw_of(conn).execute(_ALL)
    while _work_off_some(library)[0]:
        pass


def examine(library: Library) -> Iterator[str]:
    """Return in sentences what is wrong with the stored texts; due pages are reported, as search still sees
    old text.
    """
    wrong: list[str] = []
    with library.db.read() as conn:
        raw = raw_of(conn)
        rule = reading_rule(conn)
        query = (
            f"SELECT document_id FROM {passes} UNION SELECT document_id FROM {page_texts} "
            f"EXCEPT SELECT document_id FROM {due_pages}"
        )
        columns = "document_id, pass_id, text, spans, words, halves, fingerprint"
        for (page,) in raw.execute(query).fetchall():
            stored = raw.execute(
                f"SELECT {columns} FROM {page_texts} WHERE document_id = ?", (page,)
            ).fetchone()
            if stored != _row(conn, page, rule):
                wrong.append(page)
    if wrong:
        yield (
            f"The stored text of {len(wrong)} pages differs from what counts on them (the first is {wrong[0]}). Nothing is lost: "
            "`armarium doctor --rebuild` rebuilds the texts and their index."
        )


KEEPING = JobKind(
    name=JOB_KIND,
    lane="database",
    summary="Bring the texts of pages up to date, which searching reads.",
    run=work_off,
)
