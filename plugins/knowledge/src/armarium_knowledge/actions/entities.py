"""Writes of entities: create one, change it, delete it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, or_, select, update

from armarium.api import ActionContext, Route, RowLaw, ServiceError, action, new_id, project_setting, raw_of
from armarium_documents.api import runs_backwards
from armarium_knowledge import errors
from armarium_knowledge.actions.persons_only import (
    CORRECTED_BY_PERSONS,
    CURATED_ENTITIES,
    CURATED_STATEMENTS,
    DECIDED_MATCHES,
    REFUSED_BY_PERSONS,
)
from armarium_knowledge.folding import all_names, fold
from armarium_knowledge.queries.entities import entity, live_entity
from armarium_knowledge.records.claims import claim_entities, claims
from armarium_knowledge.records.entities import (
    TYPES,
    Deleted,
    Entity,
    EntityCreate,
    EntityId,
    EntityUpdate,
    entities,
    matches,
    reviews,
)
from armarium_knowledge.records.mentions import mentions, refusals
from armarium_knowledge.schemas.fields import NameIn


def _in_circle(raw: Any, row: Mapping[str, Any]) -> ServiceError | None:
    if row["parent_id"] is None:
        return None
    above = raw.execute(
        "WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT e.parent_id FROM up JOIN entity e ON e.id = up.id"
        " WHERE e.parent_id IS NOT NULL) SELECT 1 FROM up WHERE id = ?",
        (row["parent_id"], row["id"]),
    ).fetchone()
    return None if above is None else errors.own_parent(row["id"])


NO_CIRCLE = RowLaw("entity", _in_circle)
"""An entity is never below itself, whatever was undone."""


def known_types(conn: Connection) -> list[str]:
    """Return the types of entity in this project: the built-in ones, and those its settings name."""
    return list(dict.fromkeys([*TYPES, *(project_setting(conn, "entity_types") or ())]))


def check_type(conn: Connection, entity_type: str) -> None:
    """Raise Invalid for a type that the project does not have; one that came along with an entity it has."""
    types = known_types(conn)
    if entity_type in types:
        return
    if (
        conn.execute(select(entities.c.id).where(entities.c.entity_type == entity_type).limit(1)).first()
        is None
    ):
        raise errors.unknown_type(entity_type, types)


def name_rows(
    ctx: ActionContext, names: Sequence[NameIn], stored: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return names as they are stored: an existing one that stays the same keeps who gave it."""
    before = {row["id"]: row for row in stored}
    rows = []
    for name in names:
        fields = name.model_dump(mode="json", exclude={"id"})
        old = before.get(name.id or "")
        if old is not None and all(old[key] == value for key, value in fields.items()):
            rows.append(dict(old))
        else:
            name_id = old["id"] if old is not None else new_id()
            rows.append({"id": name_id, **fields, **ctx.provenance()})
    return rows


def insert_entity(ctx: ActionContext, p: EntityCreate, **more: Any) -> str:
    """Write a new entity; return its id."""
    fields = p.model_dump(mode="json", exclude={"names"})
    names = name_rows(ctx, p.names)
    entity_id = new_id()
    row = {
        "id": entity_id,
        **fields,
        "names": names,
        "folded_names": all_names(p.canonical_name, names),
        "curation_state": "unreviewed",
        **ctx.provenance(),
        "updated_at": ctx.now,
        **more,
    }
    ctx.conn.execute(entities.insert().values(row))
    ctx.note_changes(entity_ids=[entity_id])
    return entity_id


@action(
    "entity.create",
    result=Entity,
    summary="Create an entity.",
    route=Route("POST", "/api/entities"),
    words="Created an entity",
    laws=(NO_CIRCLE,),
)
def create(ctx: ActionContext, p: EntityCreate) -> dict[str, Any]:
    """Create it, with or without a source. Raises Invalid for a type the project does not have, NotFound for
    its parent.
    """
    check_type(ctx.conn, p.entity_type)
    if p.parent_id is not None:
        live_entity(ctx.conn, p.parent_id)
    _check_places(ctx.conn, p)
    entity_id = insert_entity(ctx, p)
    ctx.target(entity_id)
    return entity(ctx.conn, entity_id)


def _check_places(conn: Connection, p: EntityCreate | EntityUpdate) -> None:
    for date in p.date_values:
        if runs_backwards(date.iso_start, date.iso_end):
            raise errors.interval_reversed("date_values")
    for place in p.place_values:
        if place.relative is not None:
            live_entity(conn, place.relative.anchor_entity_id)
        when = place.when
        if when is not None and runs_backwards(when.start, when.end):
            raise errors.interval_reversed("place_values")


@action(
    "entity.update",
    result=Entity,
    summary="Change an entity: its names, type, dates, places, curation.",
    route=Route("PATCH", "/api/entities/{entity_id}"),
    words="Changed an entity",
    rules=(CURATED_ENTITIES,),
    laws=(NO_CIRCLE,),
)
def change(ctx: ActionContext, p: EntityUpdate) -> dict[str, Any]:
    """Change it. Raises NotFound, Conflict for a merged one, Forbidden if a machine would verify or reject it, or
    change one that a person verified or rejected.
    """
    row = live_entity(ctx.conn, p.entity_id)
    fields_sent = p.model_fields_set - {"entity_id"}
    changes = p.model_dump(mode="json", include=fields_sent - {"names"})
    if "entity_type" in fields_sent:
        check_type(ctx.conn, p.entity_type)
    if p.parent_id is not None:
        live_entity(ctx.conn, p.parent_id)
    if changes.get("curation_state") == "merged":
        raise errors.merge_in_its_own_way()
    _check_places(ctx.conn, p)
    if "names" in fields_sent:
        changes["names"] = name_rows(ctx, p.names, row.names)
    if fields_sent & {"names", "canonical_name"}:
        called = changes.get("canonical_name", row.canonical_name)
        changes["folded_names"] = all_names(called, changes.get("names", row.names))
    if changes:
        Entity.rows.change(ctx.conn, row.id, {**changes, "updated_at": ctx.now})
    ctx.target(row.id)
    ctx.note_changes(entity_ids=[row.id])
    return entity(ctx.conn, row.id)


def _leave_its_name(ctx: ActionContext, row: Row[Any]) -> None:
    """Let statements name, as text, an entity that is deleted."""
    claim = claims.c
    for column, words in (
        (claim.subject_entity_id, claim.subject_canonical),
        (claim.object_entity_id, claim.object_phrase),
    ):
        bare = update(claims).where(column == row.id, words == "")
        new_texts = {
            words.name: row.canonical_name,
            "folded_text": claim.folded_text + "\n" + fold(row.canonical_name),
        }
        ctx.conn.execute(bare.values(new_texts))
        ctx.conn.execute(update(claims).where(column == row.id).values({column.name: None}))


@action(
    "entity.delete",
    result=Deleted,
    summary="Delete an entity with its mentions.",
    route=Route("DELETE", "/api/entities/{entity_id}"),
    words="Deleted an entity",
    rules=(CURATED_ENTITIES, CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS, CURATED_STATEMENTS, DECIDED_MATCHES),
)
def remove(ctx: ActionContext, p: EntityId) -> dict[str, Any]:
    """Delete it. Statements that name it remain, with its name as text. Conflict if others were merged into it."""
    row = live_entity(ctx.conn, p.entity_id)
    into = select(entities.c.id).where(entities.c.merged_into_id == row.id)
    if claim_ids := [row.id for row in ctx.conn.execute(into)]:
        raise errors.holds_merged(row.id, claim_ids)
    about = or_(reviews.c.source_entity_id == row.id, reviews.c.target_entity_id == row.id)
    decided = select(reviews.c.id).where(about, reviews.c.resulting_claim_id.is_not(None))
    if review_ids := [row.id for row in ctx.conn.execute(decided)]:
        raise errors.has_decided_reviews(row.id, review_ids)
    pages = raw_of(ctx.conn).execute(
        "SELECT DISTINCT document_id FROM mention WHERE entity_id = ?", (row.id,)
    )
    ctx.note_changes(document_ids=[page[0] for page in pages], entity_ids=[row.id])
    named_by = select(claim_entities.c.claim_id).where(claim_entities.c.entity_id == row.id)
    ctx.note_changes(claim_ids=[row.claim_id for row in ctx.conn.execute(named_by)])
    for table in (mentions, refusals, claim_entities):
        ctx.conn.execute(delete(table).where(table.c.entity_id == row.id))
    pair = or_(matches.c.survivor_entity_id == row.id, matches.c.candidate_entity_id == row.id)
    ctx.conn.execute(delete(matches).where(pair))
    ctx.conn.execute(delete(reviews).where(about))
    _leave_its_name(ctx, row)
    ctx.conn.execute(update(entities).where(entities.c.parent_id == row.id).values(parent_id=None))
    Entity.rows.delete(ctx.conn, row.id)
    ctx.target(row.id)
    return {"status": "deleted", "id": row.id}
