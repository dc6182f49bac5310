"""Writes of what jobs work out about entities: their dates and their links to authorities."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import orjson

from armarium.api import ActionContext, action, find_step, versions
from armarium_documents.api import require_live
from armarium_knowledge.queries.entities import live_entity
from armarium_knowledge.records.entities import Entity, entities
from armarium_knowledge.schemas.work import TakeDates, TakeLinks, Touched


@action(
    "entity.take_dates",
    result=Touched,
    summary="Write the dates worked out from a page's mentions.",
    words="Worked out dates on {document_id|a page}",
)
def take_dates(ctx: ActionContext, p: TakeDates) -> dict[str, Any]:
    """Add them to those an entity has, without repeating any, or adding one that a person took away."""
    dates = ((date.entity_id, date.date.model_dump(mode="json")) for date in p.dates)
    return _add_values(ctx, p.document_id, "date_values", dates, ("as_written", "iso_start", "iso_end"))


@action(
    "entity.take_links",
    result=Touched,
    summary="Write the links to an authority file found for the entities of a page.",
    words="Linked entities on {document_id|a page} to an authority file",
)
def take_links(ctx: ActionContext, p: TakeLinks) -> dict[str, Any]:
    """Add them to those an entity has, without repeating any, or adding one that a person took away."""
    links = ((link.entity_id, link.link.model_dump(mode="json")) for link in p.links)
    return _add_values(ctx, p.document_id, "authority_links", links, ("uri",))


def _add_values(
    ctx: ActionContext,
    document_id: str,
    column: str,
    values: Iterable[tuple[str, dict[str, Any]]],
    same: tuple[str, ...],
) -> dict[str, Any]:
    require_live(ctx.conn, document_id)
    touched: dict[str, None] = {}
    for entity_id, value in values:
        present = list(getattr(live_entity(ctx.conn, entity_id), column))
        known_values = [*present, *_taken_away(ctx, entity_id, column)]
        if any(all(old[key] == value[key] for key in same) for old in known_values):
            continue
        changes = {column: [*present, value], "updated_at": ctx.now}
        Entity.rows.change(ctx.conn, entity_id, changes)
        touched[entity_id] = None
    ctx.target(document_id, *touched)
    ctx.note_changes(entity_ids=list(touched), document_ids=[document_id])
    return {"entity_ids": list(touched)}


def _taken_away(ctx: ActionContext, entity_id: str, column: str) -> list[dict[str, Any]]:
    """Return the values that persons have taken away from an entity, according to its history."""
    states = versions(ctx.conn, entities, entity_id)
    values: list[dict[str, Any]] = []
    for before, after in itertools.pairwise(states):
        if before["values"][column] == after["values"][column]:
            continue
        step = find_step(ctx.conn, after["audit_id"] or "")
        if step is not None and step.action_name == "entity.update" and step.actor_kind == "person":
            remaining = orjson.loads(after["values"][column])
            values += [value for value in orjson.loads(before["values"][column]) if value not in remaining]
    return values
