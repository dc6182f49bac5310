"""What finding contributes to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_finding import hookspecs
from armarium_finding.actions import adjustments, deciding, runs, scores
from armarium_finding.jobs import FIND_DOCUMENTS
from armarium_finding.models import metadata
from armarium_finding.queries import list_proposals, list_scores, read_proposal, read_run
from armarium_finding.routes import router


@hookimpl
def armarium_plugin() -> Plugin:
    """Which pages make a document: proposed by rules, judged by people."""
    return Plugin(
        name="finding",
        summary="Which pages make a document: proposed by rules, judged by people",
        prefixes=("finding", "finddocs", "find-documents"),
        metadata=metadata,
        actions=(runs.run, runs.propose, deciding.accept, deciding.reject, adjustments.adjust, scores.score),
        recipe_jobs=(FIND_DOCUMENTS,),
        queries=(read_run, list_proposals, read_proposal, list_scores),
        routers=(router,),
        hookspecs=hookspecs,
    )
