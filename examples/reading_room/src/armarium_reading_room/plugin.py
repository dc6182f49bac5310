"""The plugin of the reading room: the only file with hooks."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Table

from armarium.api import Plugin, hookimpl
from armarium_reading_room.actions import note_visit, strike_visit
from armarium_reading_room.jobs import STRIKE, strike_visits
from armarium_reading_room.models import metadata, visits
from armarium_reading_room.queries import list_visits
from armarium_reading_room.recipe_jobs import VISIT_PAGES


@hookimpl
def armarium_plugin() -> Plugin:
    """Who looked at which original, and when."""
    return Plugin(
        name="reading_room",
        summary="Who looked at which original, and when",
        metadata=metadata,
        actions=(note_visit, strike_visit, strike_visits),
        jobs=(STRIKE,),
        recipe_jobs=(VISIT_PAGES,),
        queries=(list_visits,),
    )


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, Table]:
    """Exports contain the visits."""
    return {"visit": visits}
