"""Workspaces: what a workspace has beyond its node, and its members; requests and answers about them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from sqlalchemy import Column, Index, MetaData, Text

from armarium.api import (
    Json,
    Message,
    Params,
    ProperName,
    Record,
    Sent,
    SourceText,
    Whole,
    paged,
    parse_timestamp,
    proper_name,
    record,
    reference,
    timestamp,
    tracked,
)
from armarium_agents.errors import unknown_member
from armarium_documents.api import documents

metadata = MetaData()

MAX_MEMBERS = 10_000
MAX_MESSAGES = 5_000

Id = Annotated[str, Field(min_length=1, max_length=128)]
Title = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(proper_name)]
Name = ProperName
Ids = Annotated[list[Id], Field(max_length=MAX_MEMBERS)]
MemberKind = Literal["source", "entity", "claim", "note"]
Words = Annotated[SourceText, Field(max_length=200_000)]


def _moment(value: str) -> str:
    try:
        return timestamp(parse_timestamp(value))
    except (ValueError, OverflowError) as fault:
        raise ValueError("write the time as RFC 3339 does: 2026-01-31T12:00:00.000Z") from fault


class Said(Sent):
    """One message of the conversation; `at` is the time it was sent, now unless stated."""

    role: Literal["user", "assistant", "system", "tool"]
    content: Words
    at: Annotated[str, Field(max_length=40), AfterValidator(_moment)] | None = None


class WorkspaceFields(Params):
    """What a workspace has besides its title."""

    provider: Name | None = None
    model: Name | None = None
    message_history_ref: Annotated[str, Field(max_length=500)] | None = None
    messages: Annotated[list[Said], Field(max_length=MAX_MESSAGES)] | None = None
    scoped_document_ids: Ids | None = None


class WorkspaceCreate(WorkspaceFields):
    """A workspace, at the top of the project unless a folder is named."""

    title: Title
    parent_id: Id | None = None


class WorkspaceUpdate(WorkspaceFields):
    """What to change: a field left out does not change, null clears it; the title cannot be cleared."""

    workspace_id: Id
    title: Title = ""


class WorkspaceId(Params):
    workspace_id: Id


class NewMember(Sent):
    """What a workspace is to refer to."""

    kind: MemberKind
    target_id: Id
    label: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)] | None = None
    note: Annotated[SourceText, Field(max_length=10_000)] | None = None


class MembersPatch(Params):
    """Members to add and to remove; existing members are not added twice."""

    workspace_id: Id
    add: Annotated[list[NewMember], Field(max_length=1000)] = Field(default_factory=list)
    remove_ids: Annotated[Ids, Field(description="Ids of members, not of what they refer to")] = Field(
        default_factory=list
    )

    @model_validator(mode="after")
    def _something(self) -> MembersPatch:
        if not self.add and not self.remove_ids:
            raise ValueError("name members to add, or ids of members to remove")
        return self


@record(
    metadata,
    "agents_member",
    tracked(label="workspace member", document="workspace_id", large=("note",)),
    reference("workspace_id", documents.c.id, index=False),
    # A document, note, entity or claim; no foreign key, since it may be any of them.
    Column("target_id", Text, nullable=False, index=True),
    Index("ix_agents_member_workspace", "workspace_id", "kind", "target_id"),
    last=(Column("added_at", Text, nullable=False), Column("added_by", Text)),
    refusal=unknown_member,
)
class Member(NewMember, Record):
    """A reference of a workspace."""


members = Member.table


@record(
    metadata,
    "agents_workspace",
    tracked(
        label="workspace",
        monotonic=("updated_at",),
        large=("messages",),
        document="id",
        whole=Whole(columns=("provider", "model", "message_history_ref", "messages")),
    ),
    # Its node in the tree, whose name is its title; the Trash, locks and transfers treat it as any node.
    reference("id", documents.c.id, index=False, primary_key=True),
    Column("messages", Json, nullable=False),
    Column("scoped_document_ids", Json, nullable=False),
    last=(Column("updated_at", Text, nullable=False),),
)
class StoredWorkspace(WorkspaceFields, Record):
    """What people and agents work on together: the conversation, and the documents it is about."""


workspaces = StoredWorkspace.table


class Workspace(Message):
    """A workspace with what it refers to; members in the Trash are left out until they are restored."""

    id: str
    title: str
    parent_id: str | None
    provider: str | None
    model: str | None
    message_history_ref: str | None
    messages: list[dict[str, Any]]
    members: list[Member]
    scoped_document_ids: list[str]
    created_at: str
    updated_at: str


Workspaces = paged(Workspace, "Workspaces", "The workspaces of a project, the most recently changed first.")


class WorkspaceDeleted(Message):
    """A workspace that was sent to the Trash."""

    status: Literal["deleted"]
    id: str
