"""What knowledge contributes to the engine; `hooks` holds what it answers to other families."""

from __future__ import annotations

from armarium.api import Migration, Plugin, hookimpl
from armarium_knowledge import hooks
from armarium_knowledge.actions import (
    claims,
    confirming,
    entities,
    job_findings,
    mentions,
    merging,
    notes,
)
from armarium_knowledge.folding import refold
from armarium_knowledge.jobs.matches import MATCHES
from armarium_knowledge.models import metadata
from armarium_knowledge.queries import claims as claims_read
from armarium_knowledge.queries import dates, for_families, graph, names, staleness
from armarium_knowledge.queries import entities as entities_read
from armarium_knowledge.queries import mentions as mentions_read
from armarium_knowledge.queries.visible import WithheldKnowledge
from armarium_knowledge.recipe_jobs import RECIPE_JOBS
from armarium_knowledge.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Entities, mentions, claims, interpretations, and what a correction puts in doubt."""
    return Plugin(
        name="knowledge",
        summary="Entities, mentions, claims, interpretations, and what a correction puts in doubt",
        prefixes=(
            "knowledge",
            "entity",
            "mention",
            "claim",
            "interpretation",
            "prediction_review",
            *(job.id for job in RECIPE_JOBS),
        ),
        metadata=metadata,
        version=2,
        migrations=(Migration(2, "Names folded without their punctuation", refold),),
        actions=(
            entities.create,
            entities.change,
            entities.remove,
            merging.merge,
            merging.propose,
            merging.decide,
            merging.find,
            job_findings.take_dates,
            job_findings.take_links,
            mentions.create,
            mentions.repoint,
            mentions.respan,
            mentions.remove,
            mentions.take,
            claims.create,
            claims.change,
            claims.remove,
            claims.take,
            notes.interpret,
            notes.withdraw,
            notes.keep,
            notes.decide,
            confirming.confirm,
        ),
        queries=(
            entities_read.list_entities,
            entities_read.read_entity,
            entities_read.list_matches,
            entities_read.list_reviews,
            mentions_read.list_mentions,
            mentions_read.page_mentions,
            mentions_read.statements,
            claims_read.list_claims,
            claims_read.read_claim,
            claims_read.list_interpretations,
            graph.neighbourhood,
            graph.search,
            staleness.list_staleness,
            names.list_known_names,
            dates.read_written_date,
        ),
        jobs=(MATCHES,),
        recipe_jobs=RECIPE_JOBS,
        routers=(router,),
        stats=for_families.stats,
        withheld_along=(WithheldKnowledge(),),
        hooks=hooks,
    )
