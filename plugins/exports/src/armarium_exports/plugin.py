"""What exports contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, hookimpl
from armarium_exports import actions, hookspecs
from armarium_exports.jobs import EXPORT, PUBLISH, WRITE_KEPT
from armarium_exports.keeping import note_changes
from armarium_exports.models import metadata
from armarium_exports.queries import list_kept, list_sites
from armarium_exports.receivers.routes import list_receivers, report
from armarium_exports.routes import router
from armarium_exports.site.building import GROUP
from armarium_exports.stale_exports import RestingExports
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
        actions=(
            actions.jsonl,
            actions.parquet,
            actions.training,
            actions.eleventy,
            actions.receiver,
            actions.download,
            actions.publish,
            actions.keep,
            actions.unkeep,
            actions.write_kept,
        ),
        routers=(router,),
        jobs=(WRITE_KEPT,),
        recipe_jobs=(EXPORT, PUBLISH),
        queries=(list_kept, list_sites, list_receivers, report),
        on_step=(note_changes,),
        hookspecs=hookspecs,
        hooks=__name__,
    )


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (RestingExports(),)
