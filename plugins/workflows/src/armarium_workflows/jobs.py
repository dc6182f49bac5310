"""The jobs of workflows: a run, a step of it, a chain."""

from __future__ import annotations

from armarium.api import JobKind
from armarium_workflows import chaining, running
from armarium_workflows.chaining import run_chain
from armarium_workflows.running import run_workflow
from armarium_workflows.steps import run_step

WORKFLOW = JobKind(
    name="workflow",
    lane="recipes",
    summary="Run a workflow over pages.",
    run=run_workflow,
    is_run=True,
    on_pause=running.on_pause,
    on_cancel=running.on_cancel,
)
STEP = JobKind(
    name="workflow-step", lane="recipes", summary="One step of a run.", run=run_step, handed_in_by_run=True
)
CHAIN = JobKind(
    name="chain",
    lane="recipes",
    summary="Run the steps of a chain.",
    run=run_chain,
    is_run=True,
    on_cancel=chaining.on_cancel,
)
KINDS = (WORKFLOW, STEP, CHAIN)
