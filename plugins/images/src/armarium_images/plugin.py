"""The plugin of the images family: the only file with a hook."""

from __future__ import annotations

from collections.abc import Mapping

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_images import queries
from armarium_images.actions import batches, cuts, treatments
from armarium_images.jobs import image_batch, image_treat
from armarium_images.models import cuts as cut_rows
from armarium_images.models import metadata


@hookimpl
def armarium_plugin() -> Plugin:
    """Crops and splits as derived children, one by one or over a folder."""
    return Plugin(
        name="images",
        summary="Crops and splits of pictures as derived children; enhanced, background-removed and binarised renditions",
        prefixes=("image",),
        metadata=metadata,
        actions=actions_in(cuts, batches, treatments),
        jobs=(image_batch, image_treat),
        queries=queries_in(queries),
        hooks=__name__,
    )


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {"cut": cut_rows}
