"""What georeference adds to the engine; the only file with hooks."""

from __future__ import annotations

from collections.abc import Mapping

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_georeference import actions, hookspecs, imported, queries
from armarium_georeference.recipe_jobs import PLACE_IN_A_GAZETTEER
from armarium_georeference.records import metadata, points
from armarium_georeference.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Control points, transformations, world shapes and places."""
    return Plugin(
        name="georeference",
        summary="Control points, transformations, world shapes and places",
        prefixes=("georeference", PLACE_IN_A_GAZETTEER.id),
        metadata=metadata,
        actions=actions_in(actions),
        queries=queries_in(queries),
        recipe_jobs=(PLACE_IN_A_GAZETTEER,),
        routers=(router,),
        hookspecs=hookspecs,
        hooks=__name__,
    )


armarium_formats_take_page = hookimpl(optionalhook=True)(imported.take_points)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {"control_point": points}
