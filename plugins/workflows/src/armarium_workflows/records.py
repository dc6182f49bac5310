"""The workflows and chains that people compose."""

from __future__ import annotations

from sqlalchemy import Column, Text

from armarium.api import Record, record, tracked
from armarium_workflows.errors import unknown_chain, unknown_workflow
from armarium_workflows.models import metadata
from armarium_workflows.schemas.requests import ChainFields, WorkflowFields

_TIMES = ("created_at", "updated_at")


@record(
    metadata,
    "workflow",
    tracked(label="workflow", monotonic=("updated_at",), large=("nodes", "edges", "config")),
    last=[Column(name, Text, nullable=False) for name in _TIMES],
    refusal=unknown_workflow,
)
class SavedWorkflow(WorkflowFields, Record):
    """A graph that a person or agent saved; those that ship are derived from the recipe jobs and have no row."""


@record(
    metadata,
    "workflow_chain",
    tracked(label="chain", monotonic=("updated_at",), large=("steps",)),
    last=[Column(name, Text, nullable=False) for name in _TIMES],
    refusal=unknown_chain,
)
class SavedChain(ChainFields, Record):
    """A chain of workflows that a person or agent saved."""


workflows, chains = SavedWorkflow.table, SavedChain.table
