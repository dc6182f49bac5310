"""Writes of what jobs work out about entities: their dates and their links to authorities."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import orjson

from armarium.api import ActionContext, Example, action, find_step, versions
from armarium_documents.api import require_live
from armarium_knowledge import samples
from armarium_knowledge.queries.entities import live_entity
from armarium_knowledge.records.entities import Entity, entities
from armarium_knowledge.schemas.work import TakeDates, TakeLinks, Touched


def _dates_example(ex: Example) -> dict[str, Any]:
    there = samples.mention(ex)
    date = {"as_written": "March 1642", "iso_start": "1642-03", "precision": "month"}
    return {"document_id": there["page_id"], "dates": [{"entity_id": there["entity_id"], "date": date}]}


@action(
    "entity.take_dates",
    params=TakeDates,
    result=Touched,
    summary="Write the dates worked out from a page's mentions.",
    words="Worked out dates on {document_id|a page}",
    example=_dates_example,
)
def take_dates(ctx: ActionContext, p: TakeDates) -> dict[str, Any]:
    """Add them to those an entity has, without repeating any, or adding one that a person took away."""
    given = ((one.entity_id, one.date.model_dump(mode="json")) for one in p.dates)
    return _add(ctx, p.document_id, "date_values", given, ("as_written", "iso_start", "iso_end"))


def _links_example(ex: Example) -> dict[str, Any]:
    there = samples.mention(ex)
    link = {"authority": "viaf", "authority_id": "1", "uri": "http://viaf.org/viaf/1"}
    return {"document_id": there["page_id"], "links": [{"entity_id": there["entity_id"], "link": link}]}


@action(
    "entity.take_links",
    params=TakeLinks,
    result=Touched,
    summary="Write the links to an authority file found for the entities of a page.",
    words="Linked entities on {document_id|a page} to an authority file",
    example=_links_example,
)
def take_links(ctx: ActionContext, p: TakeLinks) -> dict[str, Any]:
    """Add them to those an entity has, without repeating any, or adding one that a person took away."""
    given = ((one.entity_id, one.link.model_dump(mode="json")) for one in p.links)
    return _add(ctx, p.document_id, "authority_links", given, ("uri",))


def _add(
    ctx: ActionContext,
    document_id: str,
    column: str,
    given: Iterable[tuple[str, dict[str, Any]]],
    same: tuple[str, ...],
) -> dict[str, Any]:
    require_live(ctx.conn, document_id)
    touched: dict[str, None] = {}
    for entity_id, value in given:
        there = list(getattr(live_entity(ctx.conn, entity_id), column))
        known = [*there, *_taken_away(ctx, entity_id, column)]
        if any(all(one[key] == value[key] for key in same) for one in known):
            continue
        changes = {column: [*there, value], "updated_at": ctx.now}
        Entity.rows.change(ctx.conn, entity_id, changes)
        touched[entity_id] = None
    ctx.target(document_id, *touched)
    ctx.note_changes(entity_ids=list(touched), document_ids=[document_id])
    return {"entity_ids": list(touched)}


def _taken_away(ctx: ActionContext, entity_id: str, column: str) -> list[dict[str, Any]]:
    """Return the values that persons have taken away from an entity, according to its history."""
    states = versions(ctx.conn, entities, entity_id)
    found: list[dict[str, Any]] = []
    for before, after in itertools.pairwise(states):
        if before["values"][column] == after["values"][column]:
            continue
        step = find_step(ctx.conn, after["audit_id"] or "")
        if step is not None and step.action_name == "entity.update" and step.actor_kind == "person":
            left = orjson.loads(after["values"][column])
            found += [one for one in orjson.loads(before["values"][column]) if one not in left]
    return found
