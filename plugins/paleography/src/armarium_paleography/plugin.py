"""What paleography adds to the engine; `hooks` holds what it answers to other families."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_paleography import actions, hooks, queries
from armarium_paleography.jobs import LOOK_KIND
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
        actions=actions_in(actions),
        jobs=(LOOK_KIND,),
        queries=queries_in(queries),
        routers=(router,),
        hooks=hooks,
    )
