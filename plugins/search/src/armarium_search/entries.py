"""Maintains the entries by which documents and artifacts are found: in the step that changes them, and for
older projects by a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from armarium.api import GOING, ActionContext, Engine, JobContext, JobKind, Library, is_waiting, raw_of
from armarium_documents.api import artifacts, documents, span_of
from armarium_search.models import artifact_texts, names
from armarium_source_model.api import fold_text

JOB_KIND = "search-names"
BATCH = 500
"""How many documents or artifacts are indexed in one transaction."""
LONGEST = 200_000
"""How many characters of a document's description, or of an artifact, are indexed."""

_DESCRIBED = (
    "id, name, date_original, page_label, case_id, date_iso, attributes, source_metadata, page_content"
)
_PUT_NAME = (
    f"INSERT INTO {names} (document_id, name, more, first_day, last_day) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (document_id) DO UPDATE SET name = excluded.name, more = excluded.more, first_day = excluded.first_day, "
    "last_day = excluded.last_day WHERE name IS NOT excluded.name OR more IS NOT excluded.more "
    "OR first_day IS NOT excluded.first_day OR last_day IS NOT excluded.last_day"
)
_PUT_ARTIFACT = (
    f"INSERT INTO {artifact_texts} (artifact_id, document_id, words) VALUES (?, ?, ?) ON CONFLICT (artifact_id) DO UPDATE "
    "SET words = excluded.words, document_id = excluded.document_id WHERE words IS NOT excluded.words"
)


def make_names_anew(operations: Any) -> None:
    """Make the table of names anew, to be filled when the project opens: its days were texts, which knew no year before 0."""
    connection = operations.get_bind()
    names.drop(connection)
    names.create(connection)


def note_step(ctx: ActionContext) -> None:
    """At the end of each step, index the documents and artifacts that it changed."""
    touched = ctx.touched_tables((documents, artifacts))
    raw = raw_of(ctx.conn)
    if documents.name in touched:
        keep_names(raw, ctx.values_touched(documents, "id"))
    if artifacts.name in touched:
        keep_artifacts(raw, ctx.values_touched(artifacts, "id"))


def keep_names(raw: Any, ids: Iterable[str]) -> None:
    """Write the entries of the documents *ids*, and remove those of deleted documents."""
    wanted_ids = orjson.dumps(list(ids)).decode()
    rows = raw.execute(
        f"SELECT {_DESCRIBED} FROM {documents} WHERE id IN (SELECT value FROM json_each(?))", (wanted_ids,)
    ).fetchall()
    raw.executemany(_PUT_NAME, [_entry(row) for row in rows])
    raw.execute(
        f"DELETE FROM {names} WHERE document_id IN (SELECT value FROM json_each(?)) "
        f"AND NOT EXISTS (SELECT 1 FROM {documents} d WHERE d.id = document_id)",
        (wanted_ids,),
    )


def _entry(row: tuple[Any, ...]) -> tuple[str, str, str, int | None, int | None]:
    identity, name, *texts, date_iso, attributes, source_metadata, page_content = row
    span = span_of(date_iso) if date_iso else None
    first, last = (None, None) if span is None else (span.start, span.end)
    described = [text for text in (*texts, date_iso) if text]
    described += _texts_in(orjson.loads(attributes)) or []
    described += _texts_in(orjson.loads(source_metadata)) or []
    described.append(page_content or "")
    folded = fold_text("\n\n".join(described)[:LONGEST])
    return identity, " ".join(fold_text(name)).strip(), " ".join(folded).strip(), first, last


def _texts_in(value: Any) -> list[str]:
    texts: list[str] = []
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            texts.append(inner)
        elif isinstance(inner, int | float) and not isinstance(inner, bool):
            texts.append(str(inner))
        elif isinstance(inner, dict):
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
    return texts


def keep_artifacts(raw: Any, ids: Iterable[str]) -> None:
    """Write the entries of the artifacts *ids*, and remove those of deleted or empty artifacts."""
    wanted_ids = orjson.dumps(list(ids)).decode()
    rows = raw.execute(
        f"SELECT id, document_id, content FROM {artifacts} WHERE id IN (SELECT value FROM json_each(?)) AND content <> ''",
        (wanted_ids,),
    ).fetchall()
    folded = [(row[0], row[1], fold_text(row[2][:LONGEST])) for row in rows]
    raw.executemany(
        _PUT_ARTIFACT,
        [(artifact_id, page, " ".join(folded_text).strip()) for artifact_id, page, folded_text in folded],
    )
    raw.execute(
        f"DELETE FROM {artifact_texts} WHERE artifact_id IN (SELECT value FROM json_each(?)) "
        f"AND NOT EXISTS (SELECT 1 FROM {artifacts} a WHERE a.id = artifact_id AND a.content <> '')",
        (wanted_ids,),
    )


_KEPT = ((documents, keep_names), (artifacts, keep_artifacts))


def look_over(job: JobContext) -> dict[str, int]:
    """Index all documents and artifacts, in the order of their ids; after a kill it resumes where it was."""
    progress = {"table": 0, "after": "", "done": 0, **job.checkpoint}
    while progress["table"] < len(_KEPT):
        job.check()
        progress = _look_over_some(job.library, progress)
        job.save(progress, done=progress["done"])
    return {"entries": progress["done"]}


def _look_over_some(library: Library, progress: dict[str, Any]) -> dict[str, Any]:
    table, keep = _KEPT[progress["table"]]
    with library.db.write() as conn:
        raw = raw_of(conn)
        next_ids = f"SELECT id FROM {table} WHERE id > ? ORDER BY id LIMIT {BATCH}"
        ids = [row[0] for row in raw.execute(next_ids, (progress["after"],))]
        keep(raw, ids)
    if not ids:
        return {**progress, "table": progress["table"] + 1, "after": ""}
    return {**progress, "after": ids[-1], "done": progress["done"] + len(ids)}


def begin(engine: Engine, library: Library) -> None:
    """When a project without entries is opened, index its contents, by a job if there are many."""
    with library.db.write() as conn:
        raw = raw_of(conn)
        if raw.execute(f"SELECT EXISTS (SELECT 1 FROM {names})").fetchone()[0] or is_waiting(
            raw, JOB_KIND, states=GOING
        ):
            return
        first = [row[0] for row in raw.execute(f"SELECT id FROM {documents} LIMIT {BATCH}")]
        batch = [row[0] for row in raw.execute(f"SELECT id FROM {artifacts} LIMIT {BATCH}")]
        if max(len(first), len(batch)) == BATCH:
            engine.jobs.enqueue(conn, JOB_KIND, {}, title="Index the names of documents")
            return
        # A new project already has its first folder; until a job had run, it could not be found by name.
        keep_names(raw, first)
        keep_artifacts(raw, batch)


def remake(library: Library) -> None:
    """Write all entries anew, for the doctor."""
    with library.db.write() as conn:
        raw_of(conn).execute(f"DELETE FROM {names}")
        raw_of(conn).execute(f"DELETE FROM {artifact_texts}")
    progress: dict[str, Any] = {"table": 0, "after": "", "done": 0}
    while progress["table"] < len(_KEPT):
        progress = _look_over_some(library, progress)


def examine(library: Library) -> Iterator[str]:
    """Return what is wrong with the entries, in sentences; nothing while the job that writes them is pending."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        if is_waiting(raw, JOB_KIND, states=GOING):
            return
        kept_rows = {
            row[0]: row
            for row in raw.execute(f"SELECT document_id, name, more, first_day, last_day FROM {names}")
        }
        wrong = sum(
            kept_rows.pop(row[0], None) != _entry(row)
            for row in raw.execute(f"SELECT {_DESCRIBED} FROM {documents}")
        ) + len(kept_rows)
    if wrong:
        yield (
            f"The search entries of {wrong} documents do not match their names and descriptions. Nothing is "
            "lost: `armarium doctor --rebuild` builds them again."
        )


NAMES = JobKind(
    name=JOB_KIND,
    lane="database",
    summary="Index the names of documents and the text of artifacts, so that they are found.",
    run=look_over,
)
