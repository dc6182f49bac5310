"""What knowledge answers at the extension points of other families, whose docstrings say when each is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armarium.api import hookimpl
from armarium_checking.api import Layer
from armarium_documents.api import Carrier
from armarium_knowledge.actions import confirming, mentions, moving
from armarium_knowledge.layers import LAYERS
from armarium_knowledge.queries import exported, for_families, page_marks, search_sources
from armarium_search.api import Kind, Scope
from armarium_source_model.api import LinkEnd, Locator, RestsOnText, SegmentCarrier

if_asked = hookimpl(optionalhook=True)
"""For the points of families without which knowledge can be loaded."""

armarium_documents_entity_count = hookimpl(for_families.entity_count)
armarium_documents_resting = hookimpl(for_families.resting_on)
armarium_source_model_move_spans = hookimpl(moving.move_spans)
armarium_source_model_same_ends = hookimpl(for_families.same_entities)
armarium_source_model_entities_by_uri = hookimpl(for_families.named_by_authority)
armarium_workflows_found_in_run = if_asked(for_families.found_in_run)
armarium_georeference_entity = if_asked(search_sources.place_entity)
armarium_georeference_mentions = if_asked(search_sources.place_mentions)
armarium_formats_take_marks = if_asked(mentions.take_names_of_import)
armarium_formats_mark_page = if_asked(page_marks.mark_names)


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    # Entities and statements are transferred along with the pages that name them and that they rest on.
    carrier = Carrier(
        kinds={"mention": "mentions", "entity": "entities", "claim": "claims"},
        companions=("entity", "claim"),
        parts=("claim_source",),
        arrived=moving.propose_arrivals,
        expected=moving.expect_arrivals,
    )
    return (carrier,)


@hookimpl
def armarium_source_model_carriers() -> Sequence[SegmentCarrier]:
    return (moving.EvidenceCarrier(),)


@hookimpl
def armarium_source_model_locators() -> Sequence[Locator]:
    return (for_families.ClaimLocator(),)


@hookimpl
def armarium_source_model_link_ends() -> Sequence[LinkEnd]:
    return (for_families.EntityEnd(), for_families.ClaimEnd())


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (confirming.RestingKnowledge(),)


@if_asked
def armarium_checking_layers() -> Sequence[Layer]:
    return LAYERS


@if_asked
def armarium_search_kinds() -> Sequence[Kind]:
    return search_sources.KINDS


@if_asked
def armarium_search_scopes() -> Sequence[Scope]:
    return search_sources.SCOPES


@if_asked
def armarium_exports_records() -> Mapping[str, object]:
    return exported.RECORDS
