"""Looks for entities that may be the same, and proposes them for review."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import JobContext, JobKind
from armarium_knowledge.actions.merging import JOB_KIND
from armarium_knowledge.matching import candidates_of, find_alike
from armarium_knowledge.models import entities
from armarium_knowledge.schemas.entities import FindMatches

AT_ONCE = 500


def find_matches(job: JobContext) -> dict[str, Any]:
    """Propose pairs, the likeliest first; run again after a kill it finds the same ones, and proposes each
    only once.
    """
    args: FindMatches = job.args
    e = entities.c
    with job.library.db.read_all() as conn:
        listed = select(e.id, e.entity_type, e.language, e.folded_names)
        rows = conn.execute(listed.where(e.curation_state.in_(("unreviewed", "verified"))).order_by(e.id))
        candidates = candidates_of(tuple(row) for row in rows)
    asked = set(args.entity_ids)
    found = []
    for number, pair in enumerate(find_alike(candidates, args.min_score)):
        if number % AT_ONCE == 0:
            job.check()
        if not asked or asked & {pair.one, pair.other}:
            found.append(pair)
    found.sort(key=lambda pair: (-pair.score, pair.one, pair.other))
    proposed = 0
    for start in range(0, len(found), AT_ONCE):
        job.check()
        pairs = [
            {
                "survivor_id": pair.one,
                "candidate_id": pair.other,
                "score": pair.score,
                "method": "name_variant",
                "reason": pair.reason,
            }
            for pair in found[start : start + AT_ONCE]
        ]
        outcome = job.act(
            "entity.propose_matches", {"pairs": pairs}, done=start + len(pairs), total=len(found)
        )
        proposed += len((outcome.result or {}).get("match_ids", ()))
    return {"compared": len(candidates), "alike": len(found), "proposed": proposed}


MATCHES = JobKind(
    name=JOB_KIND,
    lane="cpu",
    summary="Look for entities that may be the same.",
    run=find_matches,
    args=FindMatches,
)
