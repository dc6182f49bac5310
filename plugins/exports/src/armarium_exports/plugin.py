"""What exports contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_exports import actions, hookspecs, queries
from armarium_exports.jobs import EXPORT, MAKE_DOWNLOAD, PUBLISH, WRITE_KEPT
from armarium_exports.keeping import RestingExports, note_changes
from armarium_exports.receivers import routes as receiver_routes
from armarium_exports.records import metadata
from armarium_exports.routes import router
from armarium_exports.site.building import GROUP
from armarium_source_model.api import RestsOnText


@hookimpl
def armarium_plugin() -> Plugin:
    """Records, training samples, kept exports and a site of the project."""
    return Plugin(
        name="exports",
        summary="Records, training samples, kept exports and a site of the project",
        prefixes=("export", "exports", "publish"),
        metadata=metadata,
        driver_groups=(GROUP,),
        actions=actions_in(actions),
        routers=(router,),
        jobs=(WRITE_KEPT, MAKE_DOWNLOAD),
        recipe_jobs=(EXPORT, PUBLISH),
        queries=queries_in(queries, receiver_routes),
        on_step=(note_changes,),
        hookspecs=hookspecs,
        hooks=__name__,
    )


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (RestingExports(),)
