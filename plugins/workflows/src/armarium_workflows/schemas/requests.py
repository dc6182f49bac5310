"""Requests of workflows, chains and runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from armarium.api import Params, ProperName, Sent, ShownPath, Spelling

Id = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Spelling(r"^[0-9A-Za-z_:-]+$", "an id: letters, digits, _ : and -"),
]
NodeId = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Spelling(
        r"^[0-9A-Za-z_][0-9A-Za-z_-]*$",
        "the id of a node: letters, digits, _ and -, of which - is not the first",
    ),
]
Name = ProperName
Words = Annotated[str, Field(max_length=10_000)]
Folder = Annotated[
    ShownPath, Field(max_length=200), Spelling(r"^/[^\x00]*$", "a folder path that begins with /")
]
PathText = Annotated[ShownPath, Field(min_length=1, max_length=1000)]
Choice = Annotated[str, Field(min_length=1, max_length=300)]
JsonObject = dict[str, Any]
MOST_NODES = 200
"""The most nodes of a workflow. Each is a step of every run."""


class Mapping(Sent):
    """A value for an input of a node, from elsewhere in the run."""

    port_id: NodeId
    source_path: PathText
    transform: PathText | None = None


class NodeIn(Params):
    """A node in a request."""

    id: NodeId
    tool: Annotated[str, Field(min_length=1, max_length=80)]
    label: Name | None = None
    description: Words | None = None
    enabled: bool = True
    inputs: JsonObject = {}
    input_mappings: Annotated[list[Mapping], Field(max_length=100)] = []
    config: JsonObject = {}
    output_schema: JsonObject | None = None
    provider_name: Choice | None = None
    model_name: Choice | None = None
    position_x: float = 0.0
    position_y: float = 0.0


class Edge(Params):
    """A connection from an output of one node to an input of another; *when* names the branch value it is
    for.
    """

    id: NodeId
    source: NodeId
    source_port: NodeId
    target: NodeId
    target_port: NodeId
    when: Annotated[str, Field(max_length=1000)] | None = None


class WorkflowFields(Params):
    """The fields of a workflow."""

    name: Name
    description: Words = ""
    folder_path: Folder = "/"
    sort_order: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] = 0
    is_template: bool = False
    tags: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=100)] = []
    nodes: Annotated[list[NodeIn], Field(max_length=20_000)]
    edges: Annotated[list[Edge], Field(max_length=50_000)] = []
    config: JsonObject = {}
    provider: Choice | None = None
    model: Choice | None = None


class SaveWorkflowParams(WorkflowFields):
    """A workflow by its id, and all its new fields."""

    workflow_id: Id


class WorkflowNamed(Params):
    """A workflow by its id."""

    workflow_id: Id


class ChainMapping(Params):
    """An input of a step, from the outputs of an earlier step (`$.nodes.<step>.<key>`) or from the inputs."""

    source_path: PathText
    target_key: NodeId
    transform: PathText | None = None


class Condition(Params):
    """Evaluated when its step is done: which step comes next. Default: the following one, or the end."""

    expression: PathText
    true_step: NodeId | None = None
    false_step: NodeId | None = None


class ChainStep(Params):
    """One step of a chain: a workflow, and what it is run with."""

    id: NodeId
    workflow_id: Id
    name: Name
    input_mappings: Annotated[list[ChainMapping], Field(max_length=100)] = []
    static_inputs: JsonObject = {}
    condition: Condition | None = None
    continue_on_error: bool = False
    timeout_seconds: Annotated[float, Field(gt=0, le=31_536_000)] = 300
    provider_override: Choice | None = None
    model_override: Choice | None = None


class ChainFields(Params):
    """The fields of a chain."""

    name: Name
    description: Words = ""
    steps: Annotated[list[ChainStep], Field(max_length=100)] = []
    entry_step: NodeId | None = None
    initial_inputs: JsonObject = {}
    folder_path: Folder = "/"
    sort_order: Annotated[int, Field(ge=-1_000_000, le=1_000_000)] = 0


class SaveChainParams(ChainFields):
    """A chain by its id, and all its new fields."""

    chain_id: Id


class ChainNamed(Params):
    """A chain by its id."""

    chain_id: Id


class ExecuteParams(WorkflowNamed):
    """What a run works on."""

    scope_ids: Annotated[
        list[Id], Field(max_length=10_000, description="Pages, or folders whose pages are meant, in order.")
    ] = []
    inputs: JsonObject = {}
    provider_override: Choice | None = None
    model_override: Choice | None = None
    pages_may_leave: bool = False


class ExecuteInJobParams(WorkflowNamed):
    """What a run that is part of a larger piece of work works on."""

    job_id: Id
    page_ids: Annotated[list[Id], Field(min_length=1, max_length=100_000)]
    title: Name | None = None
    inputs: JsonObject = {}
    provider_override: Choice | None = None
    model_override: Choice | None = None
    pages_may_leave: bool = False


class ExecuteChainParams(ChainNamed):
    """The inputs that all steps share; `scope_ids` among them names the pages, and `pages_may_leave` true
    allows them to be sent to a provider on another machine.
    """

    inputs: JsonObject = {}

    @model_validator(mode="after")
    def _said_or_not(self) -> ExecuteChainParams:
        if not isinstance(self.inputs.get("pages_may_leave", False), bool):
            raise ValueError("pages_may_leave among the inputs must be true or false")
        return self


class RunNamed(Params):
    """A run by its thread id."""

    thread_id: Id


RunStatus = Literal[
    "waiting", "running", "paused", "done", "failed", "cancelled", "accepted", "queued", "completed"
]
SAME_STATUS = {"accepted": "waiting", "queued": "waiting", "completed": "done"}
"""Other words for a status that a filter may use."""


class DeleteRunsParams(Params):
    """Which runs: by id, by status, or those of the ids that have one of the statuses."""

    thread_ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)] | None = None
    statuses: Annotated[list[RunStatus], Field(min_length=1, max_length=10)] | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> DeleteRunsParams:
        if self.thread_ids is None and self.statuses is None:
            raise ValueError("name thread_ids, statuses or both")
        return self
