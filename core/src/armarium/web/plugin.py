"""The engine itself over HTTP: health, the change stream, the log of actions and undo."""

from __future__ import annotations

from armarium.actions.routes import router as action_router
from armarium.plugin import Plugin, hookimpl
from armarium.web.engine_routes import router as engine_router
from armarium.web.health_routes import router as health_router
from armarium.web.metrics_routes import router as metrics_router
from armarium.web.panel_routes import router as panel_router
from armarium.web.stream_routes import router as stream_router


@hookimpl
def armarium_plugin() -> Plugin:
    """Routes only; they use the core itself."""
    return Plugin(
        name="engine",
        summary="The engine itself: health, changes, the log of actions, undo",
        routers=(health_router, engine_router, metrics_router, action_router, panel_router, stream_router),
    )
