"""The plugin of the IIIF family: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_iiif.actions import importing, updates
from armarium_iiif.checking_jobs import checks_job
from armarium_iiif.jobs import images_job, manifest_job
from armarium_iiif.models import metadata
from armarium_iiif.queries import remotes
from armarium_iiif.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Pages and pictures for IIIF viewers; manifests of others by reference."""
    return Plugin(
        name="iiif",
        summary="IIIF: pages as Presentation 3, pictures by the Image API 3, manifests of others by reference.",
        metadata=metadata,
        actions=actions_in(importing, updates),
        jobs=(manifest_job, images_job, checks_job),
        queries=queries_in(remotes),
        routers=(router,),
    )
