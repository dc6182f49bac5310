"""What sync contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_documents.api import Carrier
from armarium_sync import queries
from armarium_sync.actions import folders, removing, returning
from armarium_sync.carrying import carrier
from armarium_sync.jobs import JOBS
from armarium_sync.noticing import look_when_opened, step_ends
from armarium_sync.records import metadata


@hookimpl
def armarium_plugin() -> Plugin:
    """Synced folders: files that follow the project, and back."""
    return Plugin(
        name="sync",
        summary="Synced folders: files that follow the project, and back",
        prefixes=("sync", "write-to-folder", "arrange-folder"),
        metadata=metadata,
        actions=actions_in(folders, removing, returning),
        jobs=JOBS,
        queries=queries_in(queries),
        on_open=(look_when_opened,),
        on_step=(step_ends,),
        hooks=__name__,
    )


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (carrier,)
