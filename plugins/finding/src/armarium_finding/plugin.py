"""What finding contributes to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_finding import hookspecs, queries
from armarium_finding.actions import adjustments, deciding, runs, scores
from armarium_finding.jobs import FIND_DOCUMENTS
from armarium_finding.models import metadata
from armarium_finding.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Which pages make a document: proposed by rules, judged by people."""
    return Plugin(
        name="finding",
        summary="Which pages make a document: proposed by rules, judged by people",
        prefixes=("finding", "finddocs", "find-documents"),
        metadata=metadata,
        actions=actions_in(runs, deciding, adjustments, scores),
        recipe_jobs=(FIND_DOCUMENTS,),
        queries=queries_in(queries),
        routers=(router,),
        hookspecs=hookspecs,
    )
