"""What sync contributes to the engine: the only file with a hook."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, hookimpl
from armarium_documents.api import Carrier
from armarium_sync.actions import ACTIONS
from armarium_sync.carrying import carrier
from armarium_sync.jobs import JOBS
from armarium_sync.models import metadata
from armarium_sync.noticing import look_when_opened, step_ends
from armarium_sync.queries import list_duplicates, list_folders, preview_arrangement, preview_intake


@hookimpl
def armarium_plugin() -> Plugin:
    """Synced folders: files that follow the project, and back."""
    return Plugin(
        name="sync",
        summary="Synced folders: files that follow the project, and back",
        prefixes=("sync", "write-to-folder", "arrange-folder"),
        metadata=metadata,
        actions=ACTIONS,
        jobs=JOBS,
        # The route of the duplicates comes before that of folders by id, which would take "duplicates" for
        # one.
        queries=(list_duplicates, list_folders, preview_intake, preview_arrangement),
        on_open=(look_when_opened,),
        on_step=(step_ends,),
        hooks=__name__,
    )


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (carrier,)
