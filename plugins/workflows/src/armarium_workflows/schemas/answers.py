"""Answers of workflows, chains and runs."""

from __future__ import annotations

from typing import Any, Literal

from armarium.api import Message, listed, paged
from armarium_workflows.schemas.requests import ChainFields, Edge, JsonObject, NodeIn


class Port(Message):
    """An input or output of a node."""

    id: str
    type: str
    material: str | None
    required: bool


class Node(NodeIn):
    """A node with its inputs and outputs."""

    input_ports: list[Port]
    output_ports: list[Port]
    uses_llm: bool


class Workflow(Message):
    """A workflow."""

    id: str
    name: str
    description: str
    folder_path: str
    sort_order: int
    is_template: bool
    is_system: bool
    tags: list[str]
    nodes: list[Node]
    edges: list[Edge]
    config: JsonObject
    provider: str | None
    model: str | None
    created_at: str | None
    updated_at: str | None


Workflows = listed(Workflow, "Workflows", "The workflows that ship, then those of the project.")


class WorkflowFolder(Message):
    """A folder of the palette."""

    path: str
    display_name: str
    sort_order: int
    icon: str


WorkflowFolders = listed(
    WorkflowFolder, "WorkflowFolders", "The folders of the palette, in the order of the work."
)


class Deleted(Message):
    """Something that was removed."""

    status: Literal["deleted"]
    id: str


class Chain(ChainFields):
    """A chain."""

    id: str
    created_at: str
    updated_at: str


Chains = listed(Chain, "Chains", "The chains of the project.")


class StartedRun(Message):
    """A run that was enqueued."""

    thread_id: str
    stream_url: str


class AcceptedStep(Message):
    """A step of an execution, with the run that was created for it."""

    step_id: str
    workflow_id: str
    name: str
    thread_id: str
    stream_url: str


class AcceptedChain(Message):
    """An execution that was enqueued."""

    execution_id: str
    chain_id: str
    status: str
    steps: list[AcceptedStep]


class StepResult(Message):
    """The state of a step of a chain, or how it ended. While its run is paused it is running, or waiting if
    it had not begun.
    """

    step_id: str
    workflow_id: str
    thread_id: str
    status: Literal["waiting", "running", "done", "failed", "skipped", "cancelled"]
    error: str | None = None
    duration_ms: int | None = None


class ExecutionEvent(Message):
    """An event of an execution."""

    event_type: str
    step_id: str | None
    message: str | None
    progress: float | None
    timestamp: str


class Execution(Message):
    """An execution of a chain."""

    execution_id: str
    chain_id: str
    status: str
    step_results: list[StepResult]
    final_outputs: JsonObject
    final_files: list[str]
    total_duration_ms: int | None
    events: list[ExecutionEvent]


class Run(Message):
    """A run as a list shows it."""

    thread_id: str
    workflow_id: str
    workflow_name: str
    status: str
    reason: str | None
    scope_ids: list[str]
    pages: int
    pages_done: int
    pages_failed: int
    pages_skipped: int
    provider: str | None
    model: str | None
    execution_id: str | None
    read_again_of: str | None
    started_by: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    cost_usd: float | None


Runs = paged(Run, "Runs", "One page of the list of runs.")


class RunNode(Message):
    """A step of a run."""

    node_id: str
    step_id: str
    tool: str
    label: str
    status: str
    reason: str | None
    done: int
    total: int


class RunPage(Message):
    """A page of a run."""

    document_id: str
    status: str
    reason: str | None


class StepPage(Message):
    """What a step of a run gave for a page, by the ports of its outputs; document_id: null in a run without pages. too_large:
    there is an output, and no room for it in this answer.
    """

    document_id: str | None
    status: str
    reason: str | None
    output: JsonObject | None
    too_large: bool


StepPages = paged(StepPage, "StepPages", "What a step of a run gave for some of its pages.")


class RunView(Run):
    """A run with its steps, and some of its pages."""

    nodes: list[RunNode]
    page_items: list[RunPage]
    outputs: JsonObject
    limit: int
    offset: int


class RunState(Message):
    """A run and its present status."""

    thread_id: str
    status: str


class ReadAgain(Message):
    """The new run over the pages that another did not do."""

    thread_id: str
    read_again_of: str
    pages: int
    stream_url: str


class KeptRun(Message):
    """A run that was not removed, and why."""

    thread_id: str
    why: str


class DeletedRuns(Message):
    """How many runs were removed, and which were kept."""

    deleted: int
    kept: list[KeptRun]


class LineDifference(Message):
    """A block of lines in which two transcriptions agree or differ; lines are counted from 0."""

    op: Literal["equal", "replace", "insert", "delete"]
    left_line: int | None = None
    right_line: int | None = None
    left_text: str | None = None
    right_text: str | None = None


class ComparedPair(Message):
    """What two runs made of one document, of one kind."""

    document_id: str
    artifact_type: str
    left_artifact_id: str | None
    right_artifact_id: str | None
    lines: list[LineDifference]
    rate: float | None
    only_left: list[Any]
    only_right: list[Any]
    both: int


class Unpaired(Message):
    """What only one of the two runs made."""

    document_id: str
    artifact_type: str
    side: Literal["left", "right"]
    artifact_id: str | None
    """Null for results that are not artifacts."""


class Comparison(Message):
    """The comparison of two runs."""

    left: Run
    right: Run
    pairs: list[ComparedPair]
    unpaired: list[Unpaired]


class RunEpisodes(Message):
    """The model calls of a run, in the order of the ledger."""

    thread_id: str
    count: int
    episodes: list[dict[str, Any]]
