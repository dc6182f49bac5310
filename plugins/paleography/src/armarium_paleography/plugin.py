"""What paleography adds to the engine; `hooks` holds what it answers to other families."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_paleography import hooks
from armarium_paleography.actions import campaigns, editorial, hands, joining, letterforms, likeness, signs
from armarium_paleography.jobs import LOOK_KIND
from armarium_paleography.queries import campaigns as campaign_queries
from armarium_paleography.queries import editorial as editorial_queries
from armarium_paleography.queries import hands as hand_queries
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
        actions=(
            campaigns.create,
            campaigns.update,
            campaigns.withdraw,
            campaigns.assign,
            campaigns.assign_reading,
            editorial.create,
            editorial.withdraw,
            hands.create,
            hands.withdraw,
            hands.attribute,
            hands.withdraw_attribution,
            signs.create,
            signs.withdraw,
            signs.add_instance,
            signs.withdraw_instance,
            signs.take,
            letterforms.describe,
            letterforms.clear,
            letterforms.create_allograph,
            letterforms.withdraw_allograph,
            joining.update_hand,
            joining.merge_hands,
            joining.update_sign,
            joining.merge_signs,
            joining.update_allograph,
            joining.merge_allographs,
            likeness.look,
            likeness.propose,
            likeness.accept,
            likeness.reject,
        ),
        jobs=(LOOK_KIND,),
        queries=(
            campaign_queries.campaigns_of_document,
            campaign_queries.campaign_of_segment,
            campaign_queries.campaigns_of_reading,
            editorial_queries.facts_of_segment,
            hand_queries.list_hands,
            hand_queries.hands_of_segment,
            hand_queries.attributions_of_hand,
            sign_queries.list_signs,
            sign_queries.instances_of_sign,
            letterform_queries.list_letterforms,
            letterform_queries.list_allographs,
            letterform_queries.list_features,
            letterform_queries.letterform_of_segment,
            likeness_queries.list_alike,
            likeness_queries.list_proposals,
        ),
        routers=(router,),
        hooks=hooks,
    )
