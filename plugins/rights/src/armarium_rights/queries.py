"""The records that apply to a target, and their combination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, and_, case, func, or_, select, true

from armarium.api import Engine, Library, branches, is_among, query
from armarium_documents.api import documents, renditions
from armarium_rights.errors import no_such_project, unknown_target
from armarium_rights.records import Effective, RecordsPage, TargetKind, records
from armarium_source_model.api import forwardings, segments

PROJECT = "library"
STRICTEST = ("none", "local", "cloud")

SOURCE = func.coalesce(
    select(renditions.c.document_id)
    .where(renditions.c.id == func.json_extract(documents.c.region, "$.rendition_id"))
    .scalar_subquery(),
    documents.c.parent_id,
)
"""Of a document with a region: the one whose picture it shows a part of, wherever in the tree it lies itself."""

live = records.c.withdrawn_at.is_(None)
remade = forwardings.c.kind.in_(("merged", "split"))


def as_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the table as answers show it."""
    inner = ("document_id", "segment_id")
    value = {column.name: row[column.name] for column in records.columns if column.name not in inner}
    return value | {"target_id": row["segment_id"] or row["document_id"] or PROJECT}


def documents_above(conn: Connection, ids: Iterable[str]) -> dict[str, int]:
    """Return the documents *ids*, all above them, the originals of aliases among them and what pictures among them were cut
    from, each with its distance above.
    """

    def above(nearer: set[str]) -> Iterator[str]:
        source = case((documents.c.region.is_not(None), SOURCE))
        parents = select(documents.c.parent_id, documents.c.alias_target_id, source)
        for row in conn.execute(parents.where(is_among(documents.c.id, nearer))):
            yield from row

    return _levels(ids, above)


def segments_above(conn: Connection, ids: Iterable[str]) -> dict[str, int]:
    """Return the segments *ids*, the regions that contain them and those they were split or merged from, each
    with its distance above.
    """
    successors = func.json_each(forwardings.c.new_segment_ids).table_valued("value").alias("made")

    def above(nearer: set[str]) -> Iterator[str]:
        regions = select(segments.c.parent_segment_id).where(is_among(segments.c.id, nearer))
        origins = (
            select(forwardings.c.old_segment_id)
            .select_from(forwardings.join(successors, true()))
            .where(remade, is_among(successors.c.value, nearer))
        )
        yield from conn.execute(regions).scalars()
        yield from conn.execute(origins).scalars()

    return _levels(ids, above)


def _levels(ids: Iterable[str], above: Callable[[set[str]], Iterable[str | None]]) -> dict[str, int]:
    levels: dict[str, int] = {}
    nearer, level = set(ids), 0
    while nearer:
        levels |= dict.fromkeys(nearer, level)
        nearer = {node_id for node_id in above(nearer) if node_id is not None} - levels.keys()
        level += 1
    return levels


def applying(
    conn: Connection, document_ids: Iterable[str], segment_ids: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Return the live records about these documents and segments and all above them, the project's first, the
    nearest last.
    """
    docs, parts = documents_above(conn, document_ids), segments_above(conn, segment_ids)
    about = records.c.target_kind
    condition = or_(
        about == PROJECT,
        and_(about == "document", is_among(records.c.document_id, docs)),
        and_(about == "segment", is_among(records.c.segment_id, parts)),
    )
    ordered = select(records).where(live, condition).order_by(records.c.created_at, records.c.id)
    records_applying = [row._asdict() for row in conn.execute(ordered)]
    ranks = {PROJECT: 0, "document": 1, "segment": 2}

    def nearness(row: Mapping[str, Any]) -> tuple[int, int]:
        kind = row["target_kind"]
        level = {"document": docs.get(row["document_id"]), "segment": parts.get(row["segment_id"])}.get(kind)
        return ranks[kind], -(level or 0)

    return sorted(records_applying, key=nearness)


def combine_records(records_found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Combine records; each only tightens."""
    limits = [set(row["readers"]) for row in records_found if row["restricted"]]
    uses = [row["model_use"] for row in records_found if row["model_use"] is not None]
    return {
        "restricted": bool(limits),
        "readers": sorted(set.intersection(*limits)) if limits else None,
        "model_use": min(uses, key=STRICTEST.index) if uses else None,
        "labels": _each_once(row["labels"] for row in records_found),
        "holders": _each_once(row["holders"] for row in records_found),
        "conditions": _each_once([row["conditions"]] for row in records_found if row["conditions"]),
        "record_ids": [row["id"] for row in records_found],
    }


@contextmanager
def lend_project(engine: Engine, library: Library) -> Iterator[Connection | None]:
    """Lend the project of a branch as the caller sees it, since its records hold in the branch too; None where *library* is no
    branch, or this engine does not know the project. Raises what opening it does.
    """
    card = branches.card_of(library) if library.is_branch else None
    project = None if card is None else branches.find_project(engine, library.path, card.project_uuid)
    if project is None:
        yield None
        return
    with project.db.read() as conn:
        yield conn


@query(
    "/api/rights",
    summary="The rights records in force; in a branch, those of its project too",
    answer=RecordsPage,
    refusals=(409,),
    name="list_rights",
)
def list_records(
    conn: Connection,
    engine: Engine,
    library: Library,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> dict[str, Any]:
    """Return the newest first; of what the caller may not see there is none."""
    query = select(records, documents.c.name).outerjoin(documents, documents.c.id == records.c.document_id)
    rows_by_id = {row.id: (row, False) for row in conn.execute(query.where(live))}
    with lend_project(engine, library) as project:
        for row in () if project is None else project.execute(query.where(live)):
            rows_by_id.setdefault(row.id, (row, True))
    newest = sorted(rows_by_id.values(), key=lambda pair: (pair[0].created_at, pair[0].id), reverse=True)
    items = [
        {
            **as_answer(row._asdict()),
            "document_id": row.document_id,
            "target_name": row.name,
            "of_project": of_project,
        }
        for row, of_project in newest[offset : offset + limit]
    ]
    return {"items": items, "count": len(items), "total": len(rows_by_id), "limit": limit, "offset": offset}


@query(
    "/api/rights/effective",
    summary="What applies to a target: every record above it, combined so that each only tightens",
    answer=Effective,
    refusals=(404, 409),
)
def effective(
    conn: Connection,
    engine: Engine,
    library: Library,
    target_kind: TargetKind,
    target_id: Annotated[str, Query(min_length=1, max_length=200)],
) -> dict[str, Any]:
    """The records of the project, of the documents above the target, of the regions that contain it, and its
    own. In a branch also those that its project has of them, wherever they lie there.
    """
    document_id, segment_id = target(conn, target_kind, target_id)
    pages, parts = [document_id] if document_id else [], [segment_id] if segment_id else []
    own = applying(conn, pages, parts)
    own_ids = {row["id"] for row in own}
    with lend_project(engine, library) as project:
        above = (documents_above(conn, pages), segments_above(conn, parts))
        of_project = [] if project is None else applying(project, *above)
    combined = combine_records([*(row for row in of_project if row["id"] not in own_ids), *own])
    return {"target_kind": target_kind, "target_id": target_id, **combined}


def target(conn: Connection, kind: str, target_id: str) -> tuple[str | None, str | None]:
    """Return (document, segment) of a target, None for what it lacks. Raises a refusal if it does not exist."""
    if kind == PROJECT:
        if target_id != PROJECT:
            raise no_such_project(target_id)
        return None, None
    if kind == "segment":
        row = conn.execute(select(segments.c.document_id).where(segments.c.id == target_id)).first()
        if row is None:
            raise unknown_target(kind, target_id)
        return str(row[0]), target_id
    if conn.execute(select(documents.c.id).where(documents.c.id == target_id)).first() is None:
        raise unknown_target(kind, target_id)
    return target_id, None


def _each_once(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(record for listed in lists for record in listed))
