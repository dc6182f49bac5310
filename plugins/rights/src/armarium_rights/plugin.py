"""What rights add to the engine; the only file with hooks."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_rights import actions
from armarium_rights.models import metadata
from armarium_rights.queries import effective, list_records
from armarium_rights.withholding import RightsOfProject


@hookimpl
def armarium_plugin() -> Plugin:
    """Rights records, what applies to a target, and who may see what."""
    return Plugin(
        name="rights",
        summary="Who may see a project, a document or a part of a page, and whether models may receive it",
        metadata=metadata,
        actions=(actions.set_rights, actions.withdraw),
        queries=(effective, list_records),
        rights=RightsOfProject(),
    )
