"""The tables of workspaces: what a workspace has beyond its node, and its members."""

from __future__ import annotations

from sqlalchemy import Column, Index, MetaData, Table, Text

from armarium.api import Json, Whole, reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

workspaces = Table(
    "agents_workspace",
    metadata,
    # Its node in the tree, whose name is its title; the Trash, locks and transfers treat it as any node.
    reference("id", documents.c.id, index=False, primary_key=True),
    Column("provider", Text),
    Column("model", Text),
    Column("message_history_ref", Text),
    Column("messages", Json, nullable=False),
    Column("scoped_document_ids", Json, nullable=False),
    Column("updated_at", Text, nullable=False),
    info=tracked(
        label="workspace",
        monotonic=("updated_at",),
        large=("messages",),
        document="id",
        whole=Whole(columns=("provider", "model", "message_history_ref", "messages")),
    ),
)
"""What people and agents work on together: the conversation, and the documents it is about."""

members = Table(
    "agents_member",
    metadata,
    Column("id", Text, primary_key=True),
    reference("workspace_id", documents.c.id, index=False),
    Column("kind", Text, nullable=False),
    # A document, note, entity or claim; no foreign key, since it may be any of them.
    Column("target_id", Text, nullable=False, index=True),
    Column("label", Text),
    Column("note", Text),
    Column("added_at", Text, nullable=False),
    Column("added_by", Text),
    Index("ix_agents_member_workspace", "workspace_id", "kind", "target_id"),
    info=tracked(label="workspace member", document="workspace_id", large=("note",)),
)
"""A reference of a workspace to a source, an entity, a claim or a note."""
