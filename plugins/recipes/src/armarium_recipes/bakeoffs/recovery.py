"""Repairs when a project is opened: the file of a bake-off that was started just before the engine was killed."""

from __future__ import annotations

from sqlalchemy import select

from armarium.api import Engine, Library
from armarium_recipes.bakeoffs.files import file_of, write_file
from armarium_recipes.bakeoffs.table import bakeoff_answer
from armarium_recipes.models_bakeoffs import bakeoffs


def write_missing_files(engine: Engine, library: Library) -> None:
    """Write the files that are missing, each from the present state of its bake-off."""
    with library.db.read_all() as conn:
        missing = [
            bakeoff_id
            for bakeoff_id in conn.execute(select(bakeoffs.c.id)).scalars()
            if not file_of(library, bakeoff_id).is_file()
        ]
        for bakeoff_id in missing:
            row = conn.execute(select(bakeoffs).where(bakeoffs.c.id == bakeoff_id)).one()
            write_file(library, bakeoff_answer(conn, engine, library, dict(row._mapping)))
