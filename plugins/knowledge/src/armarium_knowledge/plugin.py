"""What knowledge brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_documents.api import Carrier
from armarium_knowledge.actions import claims, entities, mentions, merging, moving, notes
from armarium_knowledge.models import metadata
from armarium_knowledge.queries import claims as claims_read
from armarium_knowledge.queries import entities as entities_read
from armarium_knowledge.queries import graph, offered
from armarium_knowledge.queries import mentions as mentions_read
from armarium_knowledge.routes import router

_CARRIER = Carrier(
    kinds={"mention": "mentions", "entity": "entities", "claim": "claims"},
    companions=("entity", "claim"),
    arrived=moving.arrived,
)
"""Entities and statements come along with the pages that name them and that they rest on."""


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
        ),
        metadata=metadata,
        actions=(
            entities.create,
            entities.change,
            entities.remove,
            merging.merge,
            merging.propose,
            merging.decide,
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
        ),
        routers=(router,),
        stats=offered.stats,
        extras={
            "carriers": (_CARRIER,),
            "span_movers": (moving.Mover(),),
            "segment_carriers": (moving.EvidenceCarrier(),),
            "locators": (offered.ClaimLocator(),),
            "link_ends": (offered.EntityEnd(), offered.ClaimEnd()),
            "entity_counts": (offered.entity_count,),
            "resting_on_documents": (offered.resting_on,),
            "entities_by_uri": (offered.named_by_authority,),
        },
    )
