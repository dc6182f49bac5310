"""The plugin of the formats family: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_formats import hookspecs
from armarium_formats.actions import batches, conversion, importing, mets, orders, text_layers, tropy
from armarium_formats.catalogue import GROUP, check_driver
from armarium_formats.jobs.conversion import convert_older_results
from armarium_formats.jobs.layouts import ingest_layouts
from armarium_formats.models import metadata
from armarium_formats.queries.conversion import newest
from armarium_formats.queries.mets import mets_of
from armarium_formats.routes import routers


@hookimpl
def armarium_plugin() -> Plugin:
    """Interchange formats: layout files in as passes, pages out as files, originals kept."""
    return Plugin(
        name="formats",
        summary="Interchange formats: PAGE XML in and out, plain text out; other formats as drivers.",
        prefixes=("format", "formats", "ingest", "conversion", "convert-older-results"),
        metadata=metadata,
        actions=(
            importing.import_file,
            importing.import_several,
            orders.take_order,
            batches.ingest_batch,
            batches.ingest_files,
            mets.use_mets,
            tropy.import_tropy,
            text_layers.read_text_layer,
            conversion.start,
            conversion.mark_seen,
        ),
        jobs=(ingest_layouts, convert_older_results),
        queries=(newest, mets_of),
        routers=routers,
        driver_groups=(GROUP,),
        check_driver=check_driver,
        hookspecs=hookspecs,
    )
