"""What georeference adds to the engine; the only file with hooks."""

from __future__ import annotations

from collections.abc import Mapping

from armarium.api import Plugin, hookimpl
from armarium_georeference import actions, hookspecs, imported
from armarium_georeference.models import metadata, points
from armarium_georeference.queries import (
    list_control_points,
    list_maps,
    read_geojson,
    read_linked_places,
    read_on_picture,
    read_place,
    read_transform,
    read_world_shape,
)
from armarium_georeference.recipe_jobs import PLACE_IN_A_GAZETTEER
from armarium_georeference.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Control points, transformations, world shapes and places."""
    return Plugin(
        name="georeference",
        summary="Control points, transformations, world shapes and places",
        prefixes=("georeference", PLACE_IN_A_GAZETTEER.id),
        metadata=metadata,
        actions=(
            actions.point_create,
            actions.point_update,
            actions.point_delete,
            actions.set_type,
            actions.take_annotation,
            actions.place_names,
        ),
        queries=(
            list_maps,
            list_control_points,
            read_transform,
            read_on_picture,
            read_world_shape,
            read_geojson,
            read_place,
            read_linked_places,
        ),
        recipe_jobs=(PLACE_IN_A_GAZETTEER,),
        routers=(router,),
        hookspecs=hookspecs,
        hooks=__name__,
    )


armarium_formats_take_page = hookimpl(optionalhook=True)(imported.take_points)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {"control_point": points}
