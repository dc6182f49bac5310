"""The graph that statements make of entities: the neighbourhood of one, and a search for words in both."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import by_name, is_among, json_text, query, raw_of
from armarium_knowledge.folding import fold
from armarium_knowledge.queries.claims import shown_claims
from armarium_knowledge.queries.entities import entity, in_words, shown_entities, survivor_of
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.claims import Claim, GraphSearch, Neighbourhood, claims
from armarium_knowledge.records.entities import NOT_MERGED, Entity, entities

_BESIDE = """
SELECT c.id, c.subject_entity_id, c.object_entity_id, c.predicate_verb FROM json_each(:these) j JOIN claim c
ON c.{column} = j.value WHERE c.subject_entity_id IS NOT NULL AND c.object_entity_id IS NOT NULL
AND c.merged_into_id IS NULL AND c.curation_state <> 'rejected' AND c.id NOT IN (SELECT value FROM json_each(:hidden))
{among} ORDER BY c.id
"""

_FROM_THESE = _BESIDE.format(column="subject_entity_id", among="")
_TO_THESE = _BESIDE.format(column="object_entity_id", among="")
_AMONG_THESE = _BESIDE.format(
    column="subject_entity_id", among="AND c.object_entity_id IN (SELECT value FROM json_each(:these))"
)


@query(
    "/api/kg/entities/{entity_id}/neighbourhood",
    summary="The entities around one, connected by statements",
    answer=Neighbourhood,
)
def neighbourhood(
    conn: Connection,
    entity_id: str,
    depth: Annotated[int, Query(ge=1, le=3)] = 1,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> dict[str, Any]:
    """Return the nearest first, at most *limit*, with all statements between them; for a merged entity, around
    the one it was merged into. Rejected statements and what is left out of the lists do not count.
    """
    entity(conn, entity_id)
    centre = survivor_of(conn, entity_id)
    hidden = HiddenKnowledge(conn)
    out, hidden_claims = set(hidden.entities), json_text(hidden.claims)
    raw = raw_of(conn)
    depths = {centre: 0}
    relations: dict[str, tuple[str, str, str]] = {}
    frontier, truncated = [centre], False
    for level in range(1, depth + 1):
        neighbours: dict[str, None] = {}
        parameters = {"these": json_text(frontier), "hidden": hidden_claims}
        for beside in (_FROM_THESE, _TO_THESE):
            for claim_id, subject, target, verb in raw.execute(beside, parameters):
                if subject in out or target in out:
                    continue
                relations[claim_id] = (subject, target, verb)
                neighbours |= dict.fromkeys(
                    entity_id for entity_id in (subject, target) if entity_id not in depths
                )
        frontier = list(neighbours)
        room = limit - len(depths)
        if len(frontier) > room:
            frontier, truncated = frontier[:room], True
        depths |= dict.fromkeys(frontier, level)
        if not frontier:
            break
    # Nothing was asked about the outermost yet but what connects them with the nearer ones.
    parameters = {"these": json_text(frontier), "hidden": hidden_claims}
    relations |= {
        claim_id: (subject, target, verb)
        for claim_id, subject, target, verb in raw.execute(_AMONG_THESE, parameters)
    }
    rows = {row["id"]: row for row in Entity.rows.all(conn, is_among(entities.c.id, depths))}
    fields = ("id", "canonical_name", "entity_type", "curation_state")
    nodes = [
        {**{name: rows[entity_id][name] for name in fields}, "depth": far}
        for entity_id, far in depths.items()
    ]
    edges: dict[tuple[str, str, str], list[str]] = {}
    for claim_id, edge in sorted(relations.items()):
        if edge[0] in depths and edge[1] in depths:
            edges.setdefault(edge, []).append(claim_id)
    return {
        "entity_id": centre,
        "nodes": nodes,
        "edges": [
            {"source": source, "target": target, "predicate": verb, "claim_ids": ids}
            for (source, target, verb), ids in edges.items()
        ],
        "truncated": truncated,
    }


@query(
    "/api/kg/search",
    summary="Words looked for in names of entities and in statements",
    answer=GraphSearch,
    refusals=(),
    name="search_graph",
)
def search(
    conn: Connection,
    q: Annotated[str, Query(min_length=1, max_length=1_000)],
    kinds: Annotated[list[Literal["entities", "claims"]], Query()] = ["entities", "claims"],  # noqa: B006
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> dict[str, Any]:
    """Find those in which every word occurs; a name that consists of just the words comes first. What rests
    only on the Trash is left out.
    """
    hidden = HiddenKnowledge(conn)
    hits: dict[str, list[dict[str, Any]]] = {"entities": [], "claims": []}
    if fold(q):
        if "entities" in kinds:
            name_conditions = [in_words(entities.c.folded_names, q), NOT_MERGED]
            if hidden.entities:
                name_conditions.append(~is_among(entities.c.id, hidden.entities))
            exact = (
                entities.c.folded_names != fold(q),
                by_name(entities.c.canonical_name),
                entities.c.id,
            )
            rows = Entity.rows.page(conn, *name_conditions, order=exact, limit=limit, offset=0)["items"]
            hits["entities"] = shown_entities(conn, rows)
        if "claims" in kinds:
            text_conditions = [in_words(claims.c.folded_text, q), claims.c.merged_into_id.is_(None)]
            if hidden.claims:
                text_conditions.append(~is_among(claims.c.id, hidden.claims))
            rows = Claim.rows.page(
                conn, *text_conditions, order=(claims.c.created_at, claims.c.id), limit=limit, offset=0
            )
            hits["claims"] = shown_claims(conn, rows["items"])
    return {"query": q, **hits, "count": len(hits["entities"]) + len(hits["claims"])}
