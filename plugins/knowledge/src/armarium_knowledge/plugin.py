"""What knowledge contributes to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Migration, Plugin, hookimpl
from armarium_checking.api import EXTRAS as CHECK_LAYERS
from armarium_documents.api import Carrier
from armarium_knowledge.actions import (
    claims,
    confirming,
    entities,
    job_findings,
    mentions,
    merging,
    moving,
    notes,
    tagged,
)
from armarium_knowledge.folding import refold
from armarium_knowledge.jobs.matches import MATCHES
from armarium_knowledge.layers import LAYERS
from armarium_knowledge.models import metadata
from armarium_knowledge.queries import claims as claims_read
from armarium_knowledge.queries import entities as entities_read
from armarium_knowledge.queries import exported, for_families, graph, names, search_sources, staleness
from armarium_knowledge.queries import mentions as mentions_read
from armarium_knowledge.queries.page_marks import NamesOfPages
from armarium_knowledge.queries.visible import WithheldKnowledge
from armarium_knowledge.recipe_jobs import RECIPE_JOBS
from armarium_knowledge.routes import router
from armarium_search.api import KINDS as SEARCH_KINDS
from armarium_search.api import SCOPES as SEARCH_SCOPES

_CARRIER = Carrier(
    kinds={"mention": "mentions", "entity": "entities", "claim": "claims"},
    companions=("entity", "claim"),
    parts=("claim_source",),
    arrived=moving.propose_arrivals,
    expected=moving.expect_arrivals,
)
"""Entities and statements are transferred along with the pages that name them and that they rest on."""


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
        ),
        jobs=(MATCHES,),
        recipe_jobs=RECIPE_JOBS,
        routers=(router,),
        stats=for_families.stats,
        extras={
            "carriers": (_CARRIER,),
            "span_movers": (moving.Mover(),),
            "segment_carriers": (moving.EvidenceCarrier(),),
            "locators": (for_families.ClaimLocator(),),
            "link_ends": (for_families.EntityEnd(), for_families.ClaimEnd()),
            "same_ends": (for_families.same_entities,),
            "found_in_runs": (for_families.found_in_run,),
            "entity_counts": (for_families.entity_count,),
            "resting_on_documents": (for_families.resting_on,),
            CHECK_LAYERS: LAYERS,
            "rests_on_text": (confirming.RestingKnowledge(),),
            "entities_by_uri": (for_families.named_by_authority,),
            SEARCH_KINDS: search_sources.KINDS,
            SEARCH_SCOPES: search_sources.SCOPES,
            "export_records": exported.RECORDS,
            "withheld_rows": (WithheldKnowledge(),),
            "place_entities": (search_sources.place_entity,),
            "place_mentions": (search_sources.place_mentions,),
            "mark_takers": (tagged.NamesOfImports(),),
            "page_marks": (NamesOfPages(),),
        },
    )
