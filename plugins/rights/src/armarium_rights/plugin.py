"""What rights add to the engine; the only file with hooks."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_documents.api import Carrier
from armarium_rights import actions, queries
from armarium_rights.carrying import carrier
from armarium_rights.records import metadata
from armarium_rights.withholding import RightsOfProject


@hookimpl
def armarium_plugin() -> Plugin:
    """Rights records, what applies to a target, and who may see what."""
    return Plugin(
        name="rights",
        summary="Who may see a project, a document or a part of a page, and whether models may receive it",
        metadata=metadata,
        actions=actions_in(actions),
        queries=queries_in(queries),
        rights=RightsOfProject(),
        hooks=__name__,
    )


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (carrier,)
