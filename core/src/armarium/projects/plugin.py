"""Projects as a plugin like any other: their tables, actions, jobs and routes."""

from __future__ import annotations

from armarium.actions import actions_in
from armarium.plugin import Plugin, hookimpl
from armarium.projects import actions, snapshot_actions
from armarium.projects.actions import library_metadata
from armarium.projects.registry import registered_metadata
from armarium.projects.routes import library_router, registry_router
from armarium.projects.snapshot_actions import SNAPSHOT_JOBS


@hookimpl
def armarium_plugin() -> Plugin:
    """The registry of projects, as a plugin like any other."""
    return Plugin(
        name="library",
        summary="Projects: create, open, release, settings, snapshots",
        prefixes=("library", "snapshot"),
        metadata=library_metadata,
        engine_metadata=registered_metadata,
        actions=actions_in(actions, snapshot_actions),
        jobs=SNAPSHOT_JOBS,
        routers=(registry_router, library_router),
    )
