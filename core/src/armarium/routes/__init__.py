"""The core's own HTTP, one file a subject; families bring their routes by their plugins."""

from __future__ import annotations

from fastapi import APIRouter


def core_routers() -> list[APIRouter]:
    """The routers of plugin core, in the order in which a request is matched."""
    from armarium.routes import (
        actions,
        activity,
        compute,
        engine,
        health,
        library,
        pairing,
        registry,
        sandbox,
        stream,
    )

    return [
        health.router,
        engine.router,
        registry.router,
        library.router,
        sandbox.router,
        actions.router,
        stream.router,
        pairing.router,
        compute.router,
        activity.router,
    ]
