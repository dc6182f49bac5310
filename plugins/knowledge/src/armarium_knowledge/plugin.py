"""What knowledge contributes to the engine; `hooks` holds what it answers to other families."""

from __future__ import annotations

from armarium.api import Migration, Plugin, actions_in, hookimpl, index_names, queries_in
from armarium_knowledge import actions, hooks, queries
from armarium_knowledge.folding import refold
from armarium_knowledge.jobs.matches import MATCHES
from armarium_knowledge.queries import for_families
from armarium_knowledge.queries.visible import WithheldKnowledge
from armarium_knowledge.recipe_jobs import RECIPE_JOBS
from armarium_knowledge.reconciliation_routes import LINKED
from armarium_knowledge.reconciliation_routes import router as reconciliation
from armarium_knowledge.records.entities import entities
from armarium_knowledge.records.ground import metadata
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
        version=3,
        migrations=(
            Migration(2, "Names folded without their punctuation", refold),
            Migration(3, "Entities are in the order of names", index_names(entities)),
        ),
        actions=actions_in(actions),
        queries=queries_in(queries),
        jobs=(MATCHES,),
        recipe_jobs=RECIPE_JOBS,
        routers=(router, reconciliation),
        linked=(LINKED,),
        stats=for_families.stats,
        withheld_along=(WithheldKnowledge(),),
        hooks=hooks,
    )
