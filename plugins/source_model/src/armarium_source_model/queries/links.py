"""Reads links: those of a thing, the vocabulary, and the segments that name a place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, Row, select

from armarium.api import Conflict, Engine, NotFound, Rows, json_text, query
from armarium_documents.api import find_node
from armarium_source_model.errors import unknown_link
from armarium_source_model.hookspecs import (
    armarium_source_model_entities_by_uri,
    armarium_source_model_link_ends,
    armarium_source_model_same_ends,
)
from armarium_source_model.models import links
from armarium_source_model.queries.forwarding import absorbed_into, follow
from armarium_source_model.schemas.links import LinksOf, LinkTypes, Naming
from armarium_source_model.vocabulary import ALIASES, LINK_TYPES, authority_of

LINKS = Rows(links, missing=unknown_link)


def same_ends(engine: Engine, conn: Connection, end_id: str) -> tuple[str, list[str]]:
    """Return the thing that *end_id* was merged into, itself if it was not, and all that were merged into that."""
    return engine.points.ask_first(armarium_source_model_same_ends, conn, end_id) or (end_id, [])


def get_link(conn: Connection, link_id: str) -> Row[Any]:
    """Return the row of a link, deleted or not; NotFound."""
    return LINKS.row(conn, link_id)


@query("/api/links/types", summary="The link vocabulary", answer=LinkTypes, refusals=())
def list_types(conn: Connection) -> dict[str, Any]:
    """Every type with its label from either end, and the aliases."""
    return {
        "types": [
            {"key": kind.key, "label": kind.label, "inverse_label": kind.inverse_label, "builtin": True}
            for kind in LINK_TYPES.values()
        ],
        "aliases": dict(ALIASES),
    }


@query("/api/links/of/{end_id:path}", summary="The links of a thing", answer=LinksOf)
def list_links(
    conn: Connection, engine: Engine, end_id: str, include_deleted: bool = False
) -> dict[str, Any]:
    """List every link of it, from either side, also those of what was merged into it; end_id may be a
    percent-encoded URI.
    """
    live_id, merged = same_ends(engine, conn, end_id)
    rows = links_of(conn, end_id, include_deleted=include_deleted, also=merged if live_id == end_id else ())
    if not rows:
        require_end(engine, conn, end_id)
    return {"end_id": end_id, "links": rows}


def links_of(
    conn: Connection, end_id: str, *, include_deleted: bool = False, also: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return every link of *end_id*, seen from its side, oldest first; also those of segments it absorbed, and
    of the things *also*.
    """
    ends = [end_id, *also, *absorbed_into(conn, end_id)]
    touching = select(links).where(links.c.from_id.in_(ends) | links.c.to_id.in_(ends))
    if not include_deleted:
        touching = touching.where(links.c.deleted_at.is_(None))
    answers = []
    for row in conn.execute(touching.order_by(links.c.created_at, links.c.id)):
        kind = LINK_TYPES[row.link_type]
        inbound = row.to_id == end_id or (row.from_id != end_id and row.to_id in ends)
        own_id = row.to_id if inbound else row.from_id
        answers.append(
            {
                "id": row.id,
                "link_type": kind.key,
                "label": kind.inverse_label if inbound else kind.label,
                "directed": kind.is_directed,
                "inbound": inbound,
                "other_kind": row.from_kind if inbound else row.to_kind,
                "other_id": row.from_id if inbound else row.to_id,
                "certainty": row.certainty,
                "note": row.note,
                "deleted_at": row.deleted_at,
                "absorbed_id": None if own_id == end_id else own_id,
            }
        )
    return answers


def require_end(engine: Engine, conn: Connection, end_id: str) -> None:
    """Raise NotFound unless *end_id* is a URI or the id of something that can be linked."""
    if ":" in end_id or links_of(conn, end_id, include_deleted=True):
        return
    segment = conn.exec_driver_sql("SELECT 1 FROM segment WHERE id = ?", (end_id,)).first()
    if segment is not None or find_node(conn, end_id) is not None:
        return
    for end in engine.points.collect(armarium_source_model_link_ends):
        with suppress(NotFound):
            # A merged one is answered with a Conflict, but still has its own links.
            with suppress(Conflict):
                end.check(conn, end_id)
            return
    raise NotFound(f"Nothing in this project has the id {end_id}, so no link touches it.", id=end_id)


def standing_link(conn: Connection, link_type: str, one: str, other: str, directed: bool) -> Row[Any] | None:
    """Return the live link of this type between two ends, or None."""
    forth = (links.c.from_id == one) & (links.c.to_id == other)
    back = (links.c.from_id == other) & (links.c.to_id == one)
    return conn.execute(
        select(links).where(
            links.c.link_type == link_type, links.c.deleted_at.is_(None), forth if directed else forth | back
        )
    ).first()


_SAME_AS = """
SELECT from_kind, from_id, to_kind, to_id FROM link
WHERE link_type = 'same_as' AND deleted_at IS NULL AND 'uri' IN (from_kind, to_kind){of_uri} ORDER BY created_at, id
"""

_NAMING = """
SELECT l.id, l.certainty, s.id, s.document_id, s.deleted_at, CASE l.from_kind WHEN 'segment' THEN l.to_kind ELSE l.from_kind END,
CASE l.from_kind WHEN 'segment' THEN l.to_id ELSE l.from_id END
FROM link l JOIN segment s ON s.id = CASE l.from_kind WHEN 'segment' THEN l.from_id ELSE l.to_id END
WHERE l.deleted_at IS NULL AND l.link_type IN ('names', 'same_as')
AND (l.from_kind = 'segment') <> (l.to_kind = 'segment'){of_these} ORDER BY l.created_at, l.id
"""

_OF_URI = " AND (from_id = :uri OR to_id = :uri)"
_OF_THESE = """
AND (l.from_id IN (SELECT value FROM json_each(:these)) OR l.to_id IN (SELECT value FROM json_each(:these)))
"""


@query("/api/links/naming", summary="What names a place", answer=Naming, refusals=(), name="list_naming")
def naming(
    conn: Connection,
    engine: Engine,
    uri: Annotated[str | None, Query(description="the place; default: every place", max_length=2000)] = None,
) -> dict[str, Any]:
    """List the segments that name a place same_as a URI, directly or by an entity."""
    same_link = conn.exec_driver_sql(
        _SAME_AS.format(of_uri=_OF_URI if uri is not None else ""), {"uri": uri}
    ).all()
    places: dict[str, None] = {}
    for from_kind, from_id, to_kind, to_id in same_link:
        if to_kind == "uri" and from_kind == "entity":
            places[same_ends(engine, conn, from_id)[0]] = None
        elif from_kind == "uri" and to_kind == "entity":
            places[same_ends(engine, conn, to_id)[0]] = None
    for entities in engine.points.ask(armarium_source_model_entities_by_uri, conn, uri):
        places |= dict.fromkeys(entities)
    # A place that a segment names may have been merged since; the live one is answered.
    of_uri = [*places, uri] if uri is not None else []
    if uri is not None:
        of_uri += [merged_id for place in places for merged_id in same_ends(engine, conn, place)[1]]
    these = json_text(of_uri)
    links_there = conn.exec_driver_sql(
        _NAMING.format(of_these=_OF_THESE if uri is not None else ""), {"these": these}
    )
    namings = []
    live: dict[str, str] = {}
    for link_id, certainty, segment_id, document_id, deleted_at, kind, target_name in links_there.all():
        if kind == "entity" and target_name not in places and target_name not in live:
            live[target_name] = same_ends(engine, conn, target_name)[0]
        other = live.get(target_name, target_name)
        by_entity = kind == "entity" and other in places
        if not (by_entity or (kind == "uri" and uri in (None, other))):
            continue
        # Names given by a withdrawn segment apply to its successors.
        for named_by in [segment_id] if deleted_at is None else follow(conn, segment_id)[1]:
            namings.append(
                {
                    "segment_id": named_by,
                    "document_id": document_id,
                    "entity_id": other if by_entity else None,
                    "certainty": certainty,
                    "link_id": link_id,
                }
            )
    authority = authority_of(uri) if uri is not None else None
    return {
        "uri": uri,
        "authority": authority[0] if authority else None,
        "authority_id": authority[1] if authority else None,
        "entity_ids": list(places),
        "segments": namings,
    }
