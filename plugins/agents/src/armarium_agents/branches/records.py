"""Branches of a project: what is sent, stored and answered; what was merged of each, and what was turned down."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr
from sqlalchemy import Column, Index, Integer, Text

from armarium.api import (
    HIDDEN,
    Computed,
    MaterialPath,
    Message,
    OnConflict,
    Params,
    Record,
    SourceText,
    listed,
    proper_name,
    provenance_columns,
    record,
    tracked,
)
from armarium.api import branches as branches_of
from armarium_agents.branches.errors import unknown_branch
from armarium_agents.records import metadata

Id = Annotated[str, Field(min_length=1, max_length=128)]
GroupIds = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100_000)]
Kind = Literal[
    "readings", "shapes", "orders", "names", "statements", "metadata", "tree", "files", "settings", "other"
]
Status = Literal["clean", "same", "conflict"]


class BranchCreate(Params):
    """A branch to make: a copy of the project as it is now, to be worked on freely."""

    name: Annotated[SourceText, Field(min_length=1, max_length=200), AfterValidator(proper_name)]
    made_for: (
        Annotated[SourceText, Field(max_length=200, description="The person or token it is for")] | None
    ) = None
    for_token: (
        Annotated[
            str, Field(max_length=128, description="The token it is for: it holds only what that may see")
        ]
        | None
    ) = None
    scope: (
        Annotated[
            list[Id],
            Field(min_length=1, max_length=1000, description="Folders: only what lies beneath them is in it"),
        ]
        | None
    ) = None
    _copied: tuple[str, Path] | None = PrivateAttr(default=None)


class BranchId(Params):
    branch_id: Id


class Propose(Params):
    """What a finished branch brings, for whoever reviews it."""

    branch_id: Id | None = None
    summary: Annotated[SourceText, Field(min_length=1, max_length=20_000)]


class BringIn(Params):
    """Which changes to take; null takes all. Of what both sides changed, *on_conflict* decides."""

    groups: Annotated[GroupIds, Field(min_length=1)] | None = None
    on_conflict: OnConflict = "refuse"


class Merge(BringIn, BranchId):
    """Which changes of a branch to take into the project."""


class Update(BringIn):
    """Which of the project's later changes to bring into the branch."""

    branch_id: Id | None = None
    """In a project, the branch whose work is taken; left out in a branch."""


class Reject(BranchId):
    """Changes that are turned down; they are not offered again until the branch changes them again."""

    groups: Annotated[GroupIds, Field(min_length=1)]
    reason: Annotated[SourceText, Field(max_length=20_000)]


@record(
    metadata,
    "branch",
    tracked(label="branch", stays_here=True),
    # Where its package lies, from the folder of the project.
    Column("place", Text, nullable=False, info=HIDDEN),
    last=(
        Column("base_seq", Integer, nullable=False),
        Column("base_digest", Text, nullable=False),
        *provenance_columns(),
        Column("proposed_at", Text),
    ),
    refusal=unknown_branch,
)
class Branch(BranchCreate, Record):
    """A copy of the project in which somebody proposes changes. An agent is told of one that is not for
    its token that it is there, and not what it is called, for whom it is and what it brings. `library_path` is its package, to be named like that of any
    project; null where it is gone. `reviewed` tells
    whether anything of it was merged or turned down.
    """

    summary: str | None = None
    library_path: Computed[str | None] = None
    reviewed: Computed[bool] = False


branches = Branch.table
Branches = listed(Branch, "Branches", "The branches of a project, the newest last.")


@record(
    metadata,
    "branch_settled",
    tracked(label="merged part of a branch", stays_here=True),
    Index("ix_branch_settled_branch", "branch_id"),
)
class SettledPart(Record):
    """A part of a branch that was merged: as of which step of either side, and into which."""

    branch_id: str
    group_id: str
    """A group, or one row that may come into another group."""
    document_id: str | None
    merged_into: Literal["project", "branch"]
    project_seq: int
    branch_seq: int
    other_digest: str
    """The hash of the other side's log at its step: a log that was put back to an earlier state has another there."""
    created_at: str


@record(
    metadata,
    "branch_rejected",
    tracked(label="turned down change", stays_here=True, large=("reason",)),
    Index("ix_branch_rejected_branch", "branch_id"),
    last=provenance_columns(),
)
class RejectedPart(Record):
    """A part of a branch that was turned down, with the reason; what the branch changes there later is offered again."""

    branch_id: str
    group_id: str
    """A group, or one row that may come into another group."""
    document_id: str | None
    """The page; whoever may not see it is not told of the row."""
    branch_seq: int
    reason: str


class BranchDetails(Branch):
    """A branch, what of it was turned down and why."""

    rejected: list[RejectedPart]


class Maker(Message):
    """Who made a change, and by which step."""

    kind: Literal["person", "machine"]
    name: str
    audit_id: str
    action_name: str
    created_at: str


class ChangedValue(Message):
    """A value that differs: as it was when both sides agreed, in the source and in the target."""

    column: str
    base: Any = None
    theirs: Any = None
    ours: Any = None
    conflict: bool = False


class Words(Message):
    """Words of a reading that stayed, went or came."""

    change: Literal["same", "removed", "added"]
    text: str


class ChangedRow(Message):
    """A row that the source made, changed or removed."""

    table: str
    label: str
    id: str
    change: Literal["insert", "update", "delete"]
    status: Status
    why: str | None
    segment_id: str | None
    values: list[ChangedValue]
    words: list[Words] | None
    theirs_by: list[Maker]
    ours_by: list[Maker]


class ChangeGroup(Message):
    """What was changed on one page in one respect: it is merged or turned down as a whole."""

    id: str
    kind: Kind
    document_id: str | None
    document_name: str | None
    status: Status
    row_count: int
    rows: list[ChangedRow]


class BranchChanges(Message):
    """The changes since both sides last agreed, page by page; with how many pages and lines there are in all."""

    items: list[ChangeGroup]
    count: int
    total: int
    limit: int
    offset: int
    pages: int
    lines: int
    kinds: dict[Kind, int]
    """How many groups there are of each kind."""
    clean: int
    same: int
    conflict: int


class Merged(Message):
    """What a merge wrote; one of many rows is a job, which does so when it runs."""

    branch_id: str
    groups: int
    inserted: int
    updated: int
    deleted: int
    left_out: int
    files: int
    job_id: str | None = None


class RejectedGroups(Message):
    branch_id: str
    groups: int


class Pack(Params):
    """A branch to write as one file. In a branch itself, `branch_id` is left out."""

    branch_id: Id | None = None
    path: Annotated[MaterialPath, Field(description="A file ending in .zip that does not exist yet")]
    pictures: Annotated[
        Literal["no", "reduced", "all"],
        Field(
            description="Whether the project's own files go along, or pictures of 1,600 pixels to look at in place of"
            " them; those added always do"
        ),
    ] = "no"


class Packed(Message):
    path: str
    bytes: int


class Take(Params):
    """A file that holds a branch of this project."""

    path: MaterialPath
    _taken: tuple[Path, branches_of.BranchCard] | None = PrivateAttr(default=None)


class BranchDeleted(Message):
    status: Literal["deleted"]
    id: str
