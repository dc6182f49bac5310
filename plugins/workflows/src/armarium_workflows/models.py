"""The tables of runs: the runs and executions that were started, and the output of each node for each page."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, PrimaryKeyConstraint, Table, Text

from armarium.api import HIDDEN, Json, operational, tracked

metadata = MetaData()

runs = Table(
    "workflow_run",
    metadata,
    Column("thread_id", Text, primary_key=True),
    # No foreign key: a run outlives its workflow, and workflows that ship have no row.
    Column("workflow_id", Text, nullable=False, index=True),
    Column("workflow_name", Text, nullable=False),
    Column("graph", Json, nullable=False, info=HIDDEN),
    Column("scope_ids", Json, nullable=False),
    Column("inputs", Json, nullable=False, info=HIDDEN),
    Column("provider", Text),
    Column("model", Text),
    Column("pages_may_leave", Boolean, nullable=False, info=HIDDEN),
    Column("timeout_seconds", Float, info=HIDDEN),
    Column("execution_id", Text, index=True),
    Column("read_again_of", Text),
    Column("started_by", Text),
    Column("created_at", Text, nullable=False, index=True),
    info=tracked(label="workflow run", large=("graph", "inputs")),
)
"""A run that was started, with the graph at that time."""

run_states = Table(
    "workflow_run_state",
    metadata,
    Column("thread_id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("pages", Integer, nullable=False),
    Column("pages_done", Integer, nullable=False),
    Column("pages_failed", Integer, nullable=False),
    Column("pages_skipped", Integer, nullable=False, server_default="0"),
    # For a step of a chain: what it works on, which is known only when the chain reaches it.
    Column("scope_ids", Json),
    Column("inputs", Json),
    Column("outputs", Json, nullable=False),
    Column("cost_usd", Float),
    Column("started_at", Text),
    Column("finished_at", Text),
    Column("forgotten", Boolean, nullable=False),
    # Of an execution: how each step ended.
    Column("results", Json),
    info=operational(),
)
"""The state of a run, or of an execution of a chain (its outputs are those of its last step), or how it ended.
`forgotten`: its checkpoint was removed. The row outlives the job, which the queue deletes after 30 days and a branch
begins without; a step that its chain has not come to has no job.
"""

node_pages = Table(
    "workflow_page",
    metadata,
    Column("thread_id", Text, nullable=False),
    # Empty: the row is about the page in the run as a whole.
    Column("node_id", Text, nullable=False),
    # Empty: the run has no pages.
    Column("page_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("output", Json),
    Column("job_id", Text),
    PrimaryKeyConstraint("thread_id", "node_id", "page_id"),
    Index("ix_workflow_page_order", "thread_id", "node_id", "position"),
    Index("ix_workflow_page_of", "page_id", "thread_id"),
    info=operational(),
)
"""The checkpoint of a run: the output of each node for each page."""

executions = Table(
    "workflow_execution",
    metadata,
    Column("id", Text, primary_key=True),
    Column("chain_id", Text, nullable=False, index=True),
    Column("chain_name", Text, nullable=False),
    Column("steps", Json, nullable=False),
    Column("entry_step", Text),
    Column("inputs", Json, nullable=False),
    Column("threads", Json, nullable=False),
    Column("started_by", Text),
    Column("created_at", Text, nullable=False),
    info=tracked(label="execution of a chain", large=("steps", "inputs")),
)
"""One execution of a chain, with its steps at that time and the run that was created for each."""
