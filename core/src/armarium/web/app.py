"""Assembly of the HTTP application; nothing is decided here, only put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI

from armarium import __version__
from armarium.engine import Engine
from armarium.plugin import OF_THE_ENGINE, Plugin
from armarium.settings import Settings
from armarium.web.action_routes import routers_of
from armarium.web.checked_routes import check_named_paths
from armarium.web.counted_routes import count_withheld
from armarium.web.http import install
from armarium.web.openapi import operation_id
from armarium.web.panels import panel_files
from armarium.web.site import site_router

DESCRIPTION = (
    "The library engine for archival documents: import page images, find lines, read them, correct, "
    "export. Every write is an action: audited, and undone by its `audit_id`."
)


def create_app(
    settings: Settings | None = None,
    *,
    plugins: Sequence[Plugin] | None = None,
    engine: Engine | None = None,
    jobs: bool = True,
    routes_of: Collection[str] | None = None,
) -> FastAPI:
    """Return the engine as an ASGI application; `app.state.engine` is the engine, started and stopped by the lifespan.

    *plugins* replaces the installed ones (tests); *jobs* False leaves background work to the caller. *routes_of* names
    the plugins whose routes are wanted besides the core's (None: all), for trying one of many.
    """
    served = engine or Engine(settings, plugins=plugins)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with served.running(jobs=jobs):
            yield

    app = FastAPI(
        title="Armarium",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        # Lists of hundreds of typed routes are read once; separate schemas for input and output would double them.
        separate_input_output_schemas=False,
        generate_unique_id_function=operation_id,
    )
    app.state.engine = served
    install(app, served)
    app.include_router(site_router(served.plugins.site))
    app.include_router(panel_files(served))
    for plugin in served.plugins.loaded:
        if routes_of is not None and plugin.name not in routes_of and plugin.name not in OF_THE_ENGINE:
            continue
        try:
            for router in routers_of(plugin):
                app.include_router(router)
        except Exception as error:
            served.plugins.note_fault(
                plugin.name, f"Its routes could not be added: {served.plugins.words_for(error)}"
            )
    check_named_paths(app.routes)
    count_withheld(app.routes)
    return app
