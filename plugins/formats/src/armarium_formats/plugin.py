"""The plugin of the formats family: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_formats import actions, hookspecs, queries
from armarium_formats.catalogue import GROUP, check_driver
from armarium_formats.jobs.conversion import convert_older_results
from armarium_formats.jobs.items import ingest_items
from armarium_formats.jobs.layouts import ingest_layouts
from armarium_formats.models import metadata
from armarium_formats.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Interchange formats: layout files in as passes, pages out as files, originals kept."""
    return Plugin(
        name="formats",
        summary="Interchange formats: PAGE XML in and out, plain text out; other formats as drivers.",
        prefixes=("format", "formats", "ingest", "conversion", "convert-older-results"),
        metadata=metadata,
        actions=actions_in(actions),
        jobs=(ingest_layouts, ingest_items, convert_older_results),
        queries=queries_in(queries),
        routers=(router,),
        driver_groups=(GROUP,),
        check_driver=check_driver,
        hookspecs=hookspecs,
    )
