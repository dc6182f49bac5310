"""What workflows add to the engine; the only file with hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Integer

from armarium.api import Json, Migration, Plugin, actions_in, hookimpl, queries_in
from armarium_workflows import comparing, hookspecs, queries, step_outputs, workflow_answers
from armarium_workflows.actions import chains, runs, starts, workflows
from armarium_workflows.jobs import KINDS
from armarium_workflows.models import metadata
from armarium_workflows.records import SavedChain, SavedWorkflow
from armarium_workflows.routes import router
from armarium_workflows.running import reconcile
from armarium_workflows.withheld import WithheldRuns


def _count_skipped(op: Any) -> None:
    op.add_column("workflow_run_state", Column("pages_skipped", Integer, nullable=False, server_default="0"))
    op.drop_index("ix_workflow_page_of")
    op.create_index("ix_workflow_page_of", "workflow_page", ["page_id", "thread_id"])


def _join_states(op: Any) -> None:
    op.add_column("workflow_run_state", Column("results", Json))
    op.execute(
        "INSERT INTO workflow_run_state (thread_id, status, pages, pages_done, pages_failed, pages_skipped, outputs,"
        " started_at, finished_at, forgotten, results) SELECT id, status, 0, 0, 0, 0, final_outputs, started_at,"
        " finished_at, 0, results FROM workflow_execution_state"
    )
    op.drop_table("workflow_execution_state")


@hookimpl
def armarium_plugin() -> Plugin:
    """Workflows, chains and their runs."""
    return Plugin(
        name="workflows",
        summary="Workflows: graphs of work on pages, their runs, chains of them, and comparisons of two runs",
        prefixes=("workflow", "chain", "run"),
        metadata=metadata,
        version=3,
        migrations=(
            Migration(2, "Runs count the pages that they passed over.", _count_skipped),
            Migration(3, "An execution of a chain is a run as well.", _join_states),
        ),
        actions=actions_in(workflows, chains, starts, runs),
        jobs=KINDS,
        queries=queries_in(workflow_answers, queries, step_outputs, comparing),
        routers=(router,),
        withheld_along=(WithheldRuns(),),
        hookspecs=hookspecs,
        hooks=__name__,
        on_open=(reconcile,),
    )


armarium_documents_work = hookimpl(queries.work_on_documents)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {"workflow": SavedWorkflow.table, "chain": SavedChain.table}
