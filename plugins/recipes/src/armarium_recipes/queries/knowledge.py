"""The ways to work through a number of pages: what recipes know of a project's readers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Library, query
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.knowledge.estimates import routes_for
from armarium_recipes.schemas.knowledge import Routes

Named = Annotated[str | None, Query(max_length=1000)]
Pages = Annotated[int, Query(ge=0, le=10**9)]


@query(
    "/api/recipes/routes",
    summary="Ways to work through a number of pages, with cost and time",
    answer=Routes,
    refusals=(),
)
def list_routes(
    conn: Connection,
    engine: Engine,
    library: Library,
    teacher: Named = None,
    local_reader: Named = None,
    pages: Pages = 0,
    sample_pages: Annotated[int, Query(ge=0, le=10**9)] = 300,
) -> dict[str, Any]:
    """With a provider's model, with a reader on this machine, and with a reader taught on a sample of
    *sample_pages*.

    *teacher* and *local_reader* are named by card, reader, provider or model. Each figure is marked measured,
    estimate or unknown, with its source; for a model that is not here or set up, all figures are unknown.
    """
    routes = routes_for(
        conn,
        cards_here(engine, library),
        teacher=teacher,
        local_reader=local_reader,
        pages=pages,
        sample_pages=sample_pages,
    )
    return {"pages": pages, "routes": routes}
