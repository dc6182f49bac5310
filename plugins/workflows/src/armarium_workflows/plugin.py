"""What workflows add to the engine; the only file with hooks."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_workflows.actions import ACTIONS
from armarium_workflows.comparing import compare_runs
from armarium_workflows.jobs import KINDS
from armarium_workflows.models import chains, metadata, workflows
from armarium_workflows.queries import QUERIES
from armarium_workflows.routes import router
from armarium_workflows.running import reconcile
from armarium_workflows.withheld import WithheldRuns


@hookimpl
def armarium_plugin() -> Plugin:
    """Workflows, chains and their runs."""
    return Plugin(
        name="workflows",
        summary="Workflows: graphs of work on pages, their runs, chains of them, and comparisons of two runs",
        prefixes=("workflow", "chain", "run"),
        metadata=metadata,
        actions=ACTIONS,
        jobs=KINDS,
        queries=(*QUERIES, compare_runs),
        routers=(router,),
        extras={
            "export_records": {"workflow": workflows, "chain": chains},
            "withheld_rows": (WithheldRuns(),),
        },
        on_open=(reconcile,),
    )
