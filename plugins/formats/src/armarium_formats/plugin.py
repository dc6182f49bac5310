"""Formats as a plugin: what it brings to the engine."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_formats.actions import import_file
from armarium_formats.catalogue import GROUP
from armarium_formats.models import metadata
from armarium_formats.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Interchange formats: layout files in as passes, pages out as files, originals kept."""
    return Plugin(
        name="formats",
        summary="Interchange formats: PAGE XML in and out, plain text out; other formats as drivers.",
        prefixes=("format", "formats", "ingest", "conversion"),
        metadata=metadata,
        actions=(import_file,),
        routers=(router,),
        driver_groups=(GROUP,),
    )
