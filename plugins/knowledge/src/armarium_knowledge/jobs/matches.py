"""Looks for entities that may be the same, and proposes them for review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from armarium.api import JobContext, JobKind
from armarium_knowledge.actions.merging import JOB_KIND
from armarium_knowledge.matching import AlikePair, Candidate, candidates_of, find_alike
from armarium_knowledge.records.entities import FindMatches, entities
from armarium_search.api import embed_texts

AT_ONCE = 500
LEAST_COSINE = 0.75
"""From which likeness of their vectors on two entities are proposed."""
MOST_NEAR = 5
"""With how many others an entity is proposed for its vector."""
CELLS = 4_000_000
"""How many pairs of vectors are compared at once, which bounds the memory."""


def find_matches(job: JobContext) -> dict[str, Any]:
    """Propose pairs, the likeliest first; run again after a kill it finds the same ones, and proposes each
    only once.
    """
    args: FindMatches = job.args
    entity = entities.c
    with job.library.db.read_all() as conn:
        listed = select(
            entity.id, entity.entity_type, entity.language, entity.folded_names, entity.description
        )
        rows = conn.execute(
            listed.where(entity.curation_state.in_(("unreviewed", "verified"))).order_by(entity.id)
        ).all()
    candidates = candidates_of(tuple(row[:4]) for row in rows)
    described = {row.id: f"{row.folded_names}\n{row.description or ''}" for row in rows}
    entity_ids = set(args.entity_ids)
    alike = []
    for number, pair in enumerate(find_alike(candidates, args.min_score)):
        if number % AT_ONCE == 0:
            job.check()
        if not entity_ids or entity_ids & {pair.one, pair.other}:
            alike.append(pair)
    by_name = {(pair.one, pair.other) for pair in alike}
    alike += [
        pair
        for pair in _find_near(job, candidates, described, entity_ids)
        if (pair.one, pair.other) not in by_name
    ]
    alike.sort(key=lambda pair: (-pair.score, pair.one, pair.other))
    proposed = 0
    for start in range(0, len(alike), AT_ONCE):
        job.check()
        pairs = [
            {
                "survivor_id": pair.one,
                "candidate_id": pair.other,
                "score": pair.score,
                "method": pair.method,
                "reason": pair.reason,
            }
            for pair in alike[start : start + AT_ONCE]
        ]
        outcome = job.act(
            "entity.propose_matches", {"pairs": pairs}, done=start + len(pairs), total=len(alike)
        )
        proposed += len((outcome.result or {}).get("match_ids", ()))
    return {"compared": len(candidates), "alike": len(alike), "proposed": proposed}


def _find_near(
    job: JobContext, candidates: Sequence[Candidate], described: Mapping[str, str], entity_ids: set[str]
) -> Iterator[AlikePair]:
    """Yield pairs of one type whose names and descriptions have similar vectors, each once; none if the project
    has no vectors of its own.
    """
    vectors = embed_texts(job.library, job.engine, [described[candidate.id] for candidate in candidates])
    if vectors is None:
        return
    of_type: dict[str, list[int]] = {}
    for number, candidate in enumerate(candidates):
        of_type.setdefault(candidate.entity_type, []).append(number)
    for own in of_type.values():
        own_vectors = vectors[own]
        step = max(1, CELLS // len(own))
        for start in range(0, len(own), step):
            job.check()
            cosines = own_vectors[start : start + step] @ own_vectors[start:].T
            for row, near in enumerate(cosines):
                # Of a pair the first finds the second; of very many alike, none says much.
                columns = (near[row + 1 :] >= LEAST_COSINE).nonzero()[0] + row + 1
                for column in columns[(-near[columns]).argsort(kind="stable")][:MOST_NEAR]:
                    first, second = sorted(candidates[own[start + at]].id for at in (row, int(column)))
                    if not entity_ids or entity_ids & {first, second}:
                        score = min(round(float(near[column]), 4), 1.0)
                        yield AlikePair(first, second, score, _NEAR, "embedding_cosine")


_NEAR = "Their names and descriptions have similar vectors."

MATCHES = JobKind(
    name=JOB_KIND,
    lane="cpu",
    summary="Look for entities that may be the same.",
    run=find_matches,
    args=FindMatches,
)
