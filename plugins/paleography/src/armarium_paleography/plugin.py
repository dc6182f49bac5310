"""What paleography adds to the engine; `hooks` holds what it answers to other families."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_paleography import hooks
from armarium_paleography.actions import campaigns, editorial, hands, joining, letterforms, likeness, signs
from armarium_paleography.jobs import LOOK_KIND
from armarium_paleography.queries import campaigns as campaign_queries
from armarium_paleography.queries import editorial as editorial_queries
from armarium_paleography.queries import hands as hand_queries
from armarium_paleography.queries import inventory
from armarium_paleography.queries import letterforms as letterform_queries
from armarium_paleography.queries import likeness as likeness_queries
from armarium_paleography.queries import signs as sign_queries
from armarium_paleography.records.ground import metadata
from armarium_paleography.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Campaigns, editorial facts, hands, signs, letterforms and fonts."""
    return Plugin(
        name="paleography",
        summary="Campaigns, editorial facts, hands, signs, letterforms and fonts",
        prefixes=("paleography", "campaign", "editorial", "hand", "sign", "letterform", "likeness"),
        metadata=metadata,
        actions=actions_in(campaigns, editorial, hands, signs, letterforms, joining, likeness),
        jobs=(LOOK_KIND,),
        queries=queries_in(
            campaign_queries,
            editorial_queries,
            hand_queries,
            sign_queries,
            letterform_queries,
            inventory,
            likeness_queries,
        ),
        routers=(router,),
        hooks=hooks,
    )
