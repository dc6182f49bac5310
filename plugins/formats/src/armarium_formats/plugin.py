"""Formats as a plugin: what it brings to the engine."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_formats.actions import batches, conversion, importing, mets, orders
from armarium_formats.catalogue import GROUP, check_driver
from armarium_formats.iiif import actions as iiif
from armarium_formats.iiif.import_routes import router as iiif_import_router
from armarium_formats.iiif.jobs import images_job, manifest_job
from armarium_formats.iiif.routes import router as iiif_router
from armarium_formats.jobs.conversion import convert_older_results
from armarium_formats.jobs.layouts import ingest_layouts
from armarium_formats.models import metadata
from armarium_formats.routes import routers


@hookimpl
def armarium_plugin() -> Plugin:
    """Interchange formats: layout files in as passes, pages out as files, originals kept."""
    return Plugin(
        name="formats",
        summary="Interchange formats: PAGE XML in and out, plain text out; other formats as drivers.",
        prefixes=("format", "formats", "ingest", "conversion", "convert-older-results", "iiif"),
        metadata=metadata,
        actions=(
            importing.import_file,
            importing.import_several,
            orders.take_order,
            batches.ingest_batch,
            batches.ingest_files,
            mets.use_mets,
            conversion.start,
            conversion.seen,
            iiif.import_manifest,
            iiif.fetch_manifest,
            iiif.fetch_images,
            iiif.attach_image,
        ),
        jobs=(ingest_layouts, convert_older_results, manifest_job, images_job),
        routers=(*routers, iiif_router, iiif_import_router),
        driver_groups=(GROUP,),
        check_driver=check_driver,
    )
