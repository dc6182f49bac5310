"""Projects as a plugin like any other: their tables, actions, jobs and routes."""

from __future__ import annotations

from armarium.plugin import Plugin, hookimpl
from armarium.projects.actions import (
    create_library,
    library_metadata,
    open_library,
    release_library,
    set_library,
    unregister_library,
)
from armarium.projects.registry import registered_metadata
from armarium.projects.routes import library_router, registry_router
from armarium.projects.snapshot_actions import SNAPSHOT_JOBS, take_snapshot


@hookimpl
def armarium_plugin() -> Plugin:
    """The registry of projects, as a plugin like any other."""
    return Plugin(
        name="library",
        summary="Projects: create, open, release, settings, snapshots",
        prefixes=("library", "snapshot"),
        metadata=library_metadata,
        engine_metadata=registered_metadata,
        actions=(
            create_library,
            open_library,
            release_library,
            unregister_library,
            set_library,
            take_snapshot,
        ),
        jobs=SNAPSHOT_JOBS,
        routers=(registry_router, library_router),
    )
