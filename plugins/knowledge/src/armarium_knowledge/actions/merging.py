"""Merges entities, and decides whether two are one; undoing a merge separates them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import or_, select, update

from armarium.api import ActionContext, Route, action, cancel_with_undo, is_among, json_text, new_id, raw_of
from armarium_knowledge import errors
from armarium_knowledge.actions.entities import NO_CIRCLE
from armarium_knowledge.actions.laws import OF_ENTITIES
from armarium_knowledge.actions.persons_only import DECIDED_MATCHES
from armarium_knowledge.folding import all_names
from armarium_knowledge.queries.entities import entity, live_entity
from armarium_knowledge.records.claims import claims
from armarium_knowledge.records.entities import (
    Decide,
    Entity,
    EntityMatchCandidate,
    FindMatches,
    Merge,
    Merged,
    ProposedMatches,
    ProposeMatches,
    Queued,
    entities,
    matches,
    reviews,
)

JOB_KIND = "entity-matches"


@action(
    "entity.merge",
    result=Merged,
    summary="Merge entities into one.",
    route=Route("POST", "/api/entities/merge"),
    words="Merged entities",
    person_only=errors.accept_needs_a_person,
    laws=(NO_CIRCLE, *OF_ENTITIES),
)
def merge(ctx: ActionContext, p: Merge) -> dict[str, Any]:
    """Merge: the survivor gets their names, mentions and statements; the merged ones remain and say into
    which they were merged.

    A span refused to one of them is refused to the survivor, unless the survivor is named there. Only for
    people. Raises NotFound, Conflict for one already merged, Invalid if the survivor is among them.
    """
    survivor = live_entity(ctx.conn, p.survivor_id)
    ids = list(dict.fromkeys(p.ids))
    if survivor.id in ids:
        raise errors.merges_with_itself(survivor.id)
    rows = [live_entity(ctx.conn, entity_id) for entity_id in ids]
    names = list(survivor.names)
    known_names = {survivor.canonical_name, *(name["text"] for name in names)}
    changes: dict[str, Any] = {}
    for row in rows:
        details = {"romanized": None, "language": row.language, "script": None, "when": None, "source": None}
        own = {"id": new_id(), "text": row.canonical_name, **details, **ctx.provenance()}
        for name in (own, *row.names):
            if name["text"] not in known_names:
                known_names.add(name["text"])
                names.append(name)
        for column in ("date_values", "place_values", "authority_links"):
            values = changes.get(column, list(getattr(survivor, column)))
            changes[column] = values + [value for value in getattr(row, column) if value not in values]
        if survivor.description is None and "description" not in changes and row.description is not None:
            changes["description"] = row.description
    changes |= {
        "names": names,
        "folded_names": all_names(survivor.canonical_name, names),
        "updated_at": ctx.now,
    }
    Entity.rows.change(ctx.conn, survivor.id, changes)
    _repoint(ctx, survivor.id, ids)
    merged_state = {"curation_state": "merged", "merged_into_id": survivor.id, "updated_at": ctx.now}
    ctx.conn.execute(update(entities).where(entities.c.id.in_(ids)).values(merged_state))
    ctx.target(survivor.id, *ids)
    ctx.note_changes(entity_ids=[survivor.id, *ids])
    return {"entity": entity(ctx.conn, survivor.id), "merged_ids": ids}


_SPAN = "segment_id, representation_id, segment_char_start, segment_char_end"
_SAME = (
    "o.segment_id = {0}.segment_id AND o.representation_id = {0}.representation_id AND o.segment_char_start ="
    " {0}.segment_char_start AND o.segment_char_end = {0}.segment_char_end"
)


def _repoint(ctx: ActionContext, survivor_id: str, ids: list[str]) -> None:
    """Let what names the merged entities name the survivor; of two mentions of exactly the same characters
    one remains.
    """
    raw = raw_of(ctx.conn)
    parameters = {"to": survivor_id, "ids": json_text(ids)}
    among = "(SELECT value FROM json_each(:ids))"
    ctx.note_changes(
        document_ids=[
            row[0]
            for row in raw.execute(
                f"SELECT DISTINCT document_id FROM mention WHERE entity_id IN {among}", parameters
            )
        ],
        claim_ids=[
            row[0]
            for row in raw.execute(
                f"SELECT DISTINCT claim_id FROM claim_entity WHERE entity_id IN {among}", parameters
            )
        ],
    )
    for table in ("mention", "mention_refusal"):
        everyone = f"entity_id = :to OR entity_id IN {among}"
        twice = (
            f"SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY {_SPAN}"
            f" ORDER BY entity_id = :to DESC, created_at, id) AS place FROM {table} WHERE {everyone}) WHERE place > 1"
        )
        raw.execute(f"DELETE FROM {table} WHERE id IN ({twice})", parameters)
        raw.execute(f"UPDATE {table} SET entity_id = :to WHERE entity_id IN {among}", parameters)
    raw.execute(
        "DELETE FROM mention_refusal WHERE entity_id = :to AND EXISTS (SELECT 1 FROM mention o"
        f" WHERE o.entity_id = :to AND {_SAME.format('mention_refusal')})",
        parameters,
    )
    raw.execute(
        "DELETE FROM claim_entity WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY claim_id"
        f" ORDER BY entity_id = :to DESC, id) AS place FROM claim_entity WHERE entity_id = :to OR entity_id IN {among})"
        " WHERE place > 1)",
        parameters,
    )
    raw.execute(f"UPDATE claim_entity SET entity_id = :to WHERE entity_id IN {among}", parameters)
    for column in (claims.c.subject_entity_id, claims.c.object_entity_id):
        ctx.conn.execute(update(claims).where(column.in_(ids)).values({column.name: survivor_id}))
    for column in (reviews.c.source_entity_id, reviews.c.target_entity_id):
        ctx.conn.execute(update(reviews).where(column.in_(ids)).values({column.name: survivor_id}))
    raw.execute(f"DELETE FROM prediction_review WHERE id IN ({_ASKED_TWICE})", parameters)
    _move_children(ctx, survivor_id, ids)
    _move_matches(raw, parameters)


_ASKED_TWICE = """
SELECT id FROM (SELECT id, row_number() OVER (
    PARTITION BY source_entity_id, relation, target_entity_id ORDER BY created_at, id
) AS place FROM prediction_review WHERE state = 'pending' AND :to IN (source_entity_id, target_entity_id)) WHERE place > 1
"""


def _move_children(ctx: ActionContext, survivor_id: str, ids: list[str]) -> None:
    """Put what is below the merged entities below the survivor; what is above the survivor itself, below the
    first entity above them that is neither.
    """
    entity = entities.c
    rows = ctx.conn.execute(
        select(entity.id, entity.parent_id).where(entity.parent_id.in_(ids), ~entity.id.in_(ids))
    ).all()
    above = _find_above(ctx, survivor_id)
    below = [row.id for row in rows if row.id not in above]
    ctx.conn.execute(update(entities).where(is_among(entity.id, below)).values(parent_id=survivor_id))
    for row in rows:
        if row.id in above:
            parent: str | None = row.parent_id
            while parent is not None and parent in (survivor_id, *ids):
                parent = above.get(parent)
            Entity.rows.change(ctx.conn, row.id, {"parent_id": parent})


def _find_above(ctx: ActionContext, entity_id: str) -> dict[str, str | None]:
    """Return the entity and all that it is below, each with its parent."""
    rows = raw_of(ctx.conn).execute(
        "WITH RECURSIVE up(id, parent_id) AS (SELECT id, parent_id FROM entity WHERE id = ? UNION"
        " SELECT e.id, e.parent_id FROM up JOIN entity e ON e.id = up.parent_id) SELECT id, parent_id FROM up",
        (entity_id,),
    )
    return dict(rows.fetchall())


def _move_matches(raw: Any, parameters: Mapping[str, Any]) -> None:
    """Settle the matches between entities that are now one; the others become the survivor's, and a pair that
    was rejected with one of them does not wait for a decision again.
    """
    own = "(SELECT value FROM json_each(:ids) UNION SELECT :to)"
    among = "(SELECT value FROM json_each(:ids))"
    raw.execute(
        f"DELETE FROM entity_match WHERE state = 'pending' AND survivor_entity_id IN {own} AND candidate_entity_id IN {own}",
        parameters,
    )
    for column, other in (
        ("survivor_entity_id", "candidate_entity_id"),
        ("candidate_entity_id", "survivor_entity_id"),
    ):
        raw.execute(
            f"UPDATE entity_match SET {column} = :to WHERE {column} IN {among} AND {other} NOT IN {own}"
            " AND state IN ('pending', 'rejected')",
            parameters,
        )
    raw.execute(
        "DELETE FROM entity_match WHERE state = 'pending' AND id IN (SELECT id FROM (SELECT id, row_number() OVER ("
        "PARTITION BY min(survivor_entity_id, candidate_entity_id), max(survivor_entity_id, candidate_entity_id)"
        " ORDER BY state = 'rejected' DESC, score DESC, id) AS place FROM entity_match"
        " WHERE state IN ('pending', 'rejected') AND :to IN (survivor_entity_id, candidate_entity_id)) WHERE place > 1)",
        parameters,
    )


@action(
    "entity.propose_matches",
    result=ProposedMatches,
    summary="Propose that pairs of entities are the same.",
    words="Proposed matches of entities",
)
def propose(ctx: ActionContext, p: ProposeMatches) -> dict[str, Any]:
    """Propose them. A pending or decided pair is left out, so a rejected one does not come back. Nothing is merged."""
    ids = {entity_id for pair in p.pairs for entity_id in (pair.survivor_id, pair.candidate_id)}
    live = {entity_id: live_entity(ctx.conn, entity_id) for entity_id in sorted(ids)}
    match_ids = []
    for pair in p.pairs:
        if pair.survivor_id == pair.candidate_id:
            raise errors.merges_with_itself(pair.survivor_id)
        if match_of(ctx, pair.survivor_id, pair.candidate_id) is not None:
            continue
        assert {pair.survivor_id, pair.candidate_id} <= live.keys()
        match_ids.append(
            insert_match(ctx, pair.survivor_id, pair.candidate_id, pair.score, pair.method, pair.reason)["id"]
        )
    ctx.target(*match_ids)
    return {"match_ids": match_ids}


def match_of(ctx: ActionContext, entity_id: str, other_id: str) -> Any:
    """Return the match between two entities, whatever was decided about it."""
    match_row = matches.c
    forth = (match_row.survivor_entity_id == entity_id) & (match_row.candidate_entity_id == other_id)
    back = (match_row.survivor_entity_id == other_id) & (match_row.candidate_entity_id == entity_id)
    return ctx.conn.execute(select(matches).where(or_(forth, back))).first()


def insert_match(
    ctx: ActionContext, survivor: str, candidate: str, score: float, method: str, reason: str | None
) -> dict[str, Any]:
    """Write a pending match; return it as answered."""
    pending = {
        "survivor_entity_id": survivor,
        "candidate_entity_id": candidate,
        "score": score,
        "method": method,
        "state": "pending",
        "reason": reason,
        "decided_by_person": False,
        "created_at": ctx.now,
    }
    ctx.note_changes(entity_ids=[survivor, candidate])
    return EntityMatchCandidate.rows.insert(ctx.conn, pending)


@action(
    "entity.decide_match",
    result=EntityMatchCandidate,
    summary="Accept that two entities are the same, which merges them, or reject it.",
    route=Route("POST", "/api/entity-matches/{match_id}/decide"),
    words="Decided a match of entities",
    rules=(DECIDED_MATCHES,),
)
def decide(ctx: ActionContext, p: Decide) -> dict[str, Any]:
    """Decide it. Only people accept. Raises NotFound, Conflict for one already decided or whose entities were
    merged since.
    """
    row = EntityMatchCandidate.rows.require(ctx.conn, p.match_id)
    if row["state"] != "pending":
        raise errors.match_decided(row["state"])
    if p.state == "accepted":
        if ctx.principal.kind != "person":
            raise errors.accept_needs_a_person()
        live_entity(ctx.conn, row["survivor_entity_id"])
        live_entity(ctx.conn, row["candidate_entity_id"])
    outcome = {
        "state": p.state,
        "reason": p.reason if p.reason is not None else row["reason"],
        "decided_by": ctx.principal.name,
        "decided_at": ctx.now,
    }
    by_person = ctx.principal.kind == "person"
    EntityMatchCandidate.rows.change(ctx.conn, p.match_id, {**outcome, "decided_by_person": by_person})
    if p.state == "accepted":
        ctx.run(
            "entity.merge", {"survivor_id": row["survivor_entity_id"], "ids": [row["candidate_entity_id"]]}
        )
    ctx.target(p.match_id, row["survivor_entity_id"], row["candidate_entity_id"])
    ctx.note_changes(entity_ids=[row["survivor_entity_id"], row["candidate_entity_id"]])
    return {**row, **outcome}


@action(
    "entity.find_matches",
    result=Queued,
    summary="Look for entities that may be the same, by their names.",
    words="Looked for entities that may be the same",
    after_undo=cancel_with_undo,
)
def find(ctx: ActionContext, p: FindMatches) -> dict[str, Any]:
    """Enqueue a job that proposes pairs for review; nothing is merged. NotFound for an unknown entity."""
    for entity_id in p.entity_ids:
        Entity.rows.require(ctx.conn, entity_id)
    job_id = ctx.enqueue(JOB_KIND, p.model_dump(mode="json"), title="Look for entities that may be the same")
    ctx.target(job_id)
    return {"job_id": job_id}
