"""The contents of the Trash, and what emptying it would remove."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from fastapi import Query
from sqlalchemy import Connection, Table

from armarium.api import Engine, paged, query, raw_of
from armarium_documents.hookspecs import armarium_documents_resting
from armarium_documents.models import renditions
from armarium_documents.queries.transfers import arriving
from armarium_documents.queries.tree import id_list
from armarium_documents.schemas.trash import EmptyPlan, TrashEntry

IN_TRASH = "deleted_at IS NOT NULL AND (trash_root_id IS NULL OR trash_root_id NOT IN (SELECT value FROM json_each(:held)))"
"""SQL: in the Trash, and not a copy that a transfer is still writing (`held`: the roots of those)."""


@query(
    "/api/documents/trash",
    summary="What is in the Trash, newest first",
    answer=paged(TrashEntry),
    refusals=(404, 409),
    name="list_trash",
)
def entries(
    conn: Connection,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> dict[str, Any]:
    """Return one entry per deletion, with the number of documents that went with it."""
    raw = raw_of(conn)
    unseen = id_list(arriving(raw))
    (total,) = raw.execute(
        "SELECT count(*) FROM document WHERE trash_root_id IS NOT NULL AND trash_root_id = id"
        " AND id NOT IN (SELECT value FROM json_each(?))",
        (unseen,),
    ).fetchone()
    rows = raw.execute(
        "SELECT d.id, d.name, d.doc_type, d.prototype_key, d.deleted_at, d.deleted_by, d.trash_info, f.name,"
        " f.deleted_at, f.id IS NOT NULL,"
        " (SELECT count(*) FROM document c WHERE c.trash_root_id = d.id) - 1"
        " FROM document d LEFT JOIN document f ON f.id = json_extract(d.trash_info, '$.from_folder_id')"
        " WHERE d.trash_root_id IS NOT NULL AND d.trash_root_id = d.id"
        " AND d.id NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY d.deleted_at DESC, d.id DESC LIMIT ? OFFSET ?",
        (unseen, limit, offset),
    )
    items = [_entry(row) for row in rows]
    return {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}


def _entry(row: tuple[Any, ...]) -> dict[str, Any]:
    identity, name, doc_type, prototype, at, by, stored, folder_name, folder_deleted, folder_there, inside = (
        row
    )
    info = orjson.loads(stored) if stored else {}
    folder_id, path = info.get("from_folder_id"), info.get("from_folder_path")
    if folder_id is None:
        state, place = "top", "from the top of the project"
    elif not folder_there:
        state, place = "gone", f"from {path}, a folder that is gone"
    elif folder_deleted is not None:
        state, place = "in-trash", f"from “{folder_name}”, which is also in the Trash"
    else:
        state, place = "live", f"from “{folder_name}” ({path})"
    reason = info.get("reason", "deleted")
    if reason == "moved":
        why = f"Moved to the project {info.get('moved_to_project')}; the copy there was verified first."
    elif "copied_from" in info:
        why = f"A copy from the project {info['copied_from']}; the transfer that made it was undone."
    else:
        why = f"Deleted by {by}."
    return {
        "id": identity,
        "document_id": identity,
        "name": name,
        "doc_type": doc_type,
        "prototype_key": prototype,
        "item_count": inside,
        "deleted_at": at,
        "deleted_by": by,
        "from_folder_id": folder_id,
        "from_folder_path": path,
        "from_folder_state": state,
        "from_where": place,
        "reason": reason,
        "moved_to_project": info.get("moved_to_project"),
        "moved_on": info.get("moved_on"),
        "transfer_id": info.get("transfer_id"),
        "why": why,
    }


def moves(raw: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return the moves that emptying the Trash makes permanent, one line per target project."""
    rows = raw.execute(
        "SELECT json_extract(trash_info, '$.moved_to_project'),"
        " max(COALESCE(json_extract(trash_info, '$.moved_to_name'), json_extract(trash_info, '$.moved_to_project'))),"
        " count(*) FROM document WHERE trash_root_id IS NOT NULL AND trash_root_id = id"
        " AND json_extract(trash_info, '$.reason') = 'moved' GROUP BY 1 ORDER BY 1"
    )
    return [
        {
            "target_path": path,
            "target_name": name,
            "count": count,
            "sentence": f"{count} {'thing' if count == 1 else 'things'} moved to {name} can then no longer be moved back.",
        }
        for path, name, count in rows
    ]


@query(
    "/api/documents/trash/empty",
    summary="What Empty Trash would remove, and the question to ask",
    answer=EmptyPlan,
    refusals=(404, 409),
    name="plan_empty_trash",
)
def plan(conn: Connection, engine: Engine) -> dict[str, Any]:
    """Return the plan; its bytes are those of files that nothing else needs."""
    raw = raw_of(conn)
    items, nodes = raw.execute(
        f"SELECT count(*) FILTER (WHERE trash_root_id = id), count(*) FROM document WHERE {IN_TRASH}",
        {"held": id_list(arriving(raw))},
    ).fetchone()
    (size,) = raw.execute(
        f"SELECT COALESCE(sum(size_bytes), 0) FROM (SELECT r.checksum, max(r.size_bytes) AS size_bytes"
        f" FROM {renditions.name} r JOIN document d ON d.id = r.document_id"
        f" WHERE d.deleted_at IS NOT NULL AND r.checksum IS NOT NULL GROUP BY r.checksum) gone"
        f" WHERE NOT EXISTS (SELECT 1 FROM {renditions.name} k JOIN document l ON l.id = k.document_id"
        " WHERE k.checksum = gone.checksum AND l.deleted_at IS NULL)"
    ).fetchone()
    resting = resting_on(engine, conn, to_remove(raw)) if nodes else {}
    also = {kind: sum(len(ids) for _, ids in resting.get(kind, ())) for kind in ("statements", "entities")}
    if nodes == 0:
        question = "The Trash is empty; there is nothing to remove."
    else:
        question = (
            f"Remove {items} {'thing' if items == 1 else 'things'} from the Trash permanently, {nodes} "
            f"{'document' if nodes == 1 else 'documents'} in all{_resting_words(also)}? "
            "A snapshot is taken first; this cannot be undone."
        )
    return {
        "items": items,
        "documents": nodes,
        **also,
        "bytes": size,
        "moved": moves(raw),
        "question": question,
    }


def _resting_words(also: dict[str, int]) -> str:
    """Return in words what goes with the documents because it rests on them alone."""
    singular = {"statements": "statement", "entities": "entity"}
    parts = [f"{count} {kind if count != 1 else singular[kind]}" for kind, count in also.items() if count]
    return f", and {' and '.join(parts)} that rest on them alone" if parts else ""


def to_remove(raw: sqlite3.Connection) -> list[str]:
    """Return the documents that emptying the Trash removes; copies still being written are left."""
    parameters = {"held": id_list(arriving(raw))}
    return [row[0] for row in raw.execute(f"SELECT id FROM document WHERE {IN_TRASH}", parameters)]


def resting_on(
    engine: Engine, conn: Connection, document_ids: Sequence[str]
) -> dict[str, list[tuple[Table, list[str]]]]:
    """Count what families store that depends only on these documents, by the word it is counted under."""
    by_kind: dict[str, list[tuple[Table, list[str]]]] = {}
    for resting in engine.points.ask(armarium_documents_resting, conn, document_ids):
        for kind, rows in resting.items():
            by_kind.setdefault(kind, []).append(rows)
    return by_kind
