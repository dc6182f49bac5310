"""Requests and answers about links."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from armarium.api import Message, Params
from armarium_source_model.schemas.fields import Fraction, Word

EndKind = Literal["segment", "note", "document", "claim", "canvas_item", "entity", "uri"]
EndId = Annotated[str, Field(min_length=1, max_length=2000)]
Note = Annotated[str, StringConstraints(max_length=2000)]


class LinkCreate(Params):
    """Two ends and a type of the vocabulary."""

    from_id: EndId
    to_id: EndId
    link_type: Word
    from_kind: EndKind = "segment"
    to_kind: EndKind = "segment"
    certainty: Fraction | None = None
    note: Note | None = None


class LinkResult(Message):
    link_id: str
    link_type: str
    directed: bool


class LinkOut(Message):
    ok: bool
    result: LinkResult


class DeletedLink(LinkOut):
    """A link that was withdrawn; it is kept and can be restored."""

    status: Literal["deleted"] = "deleted"
    id: str


class LinkFromEnd(Message):
    id: str
    link_type: str
    label: str
    directed: bool
    inbound: bool
    other_kind: str
    other_id: str
    certainty: float | None
    note: str | None
    deleted_at: str | None
    absorbed_id: str | None
    """The withdrawn segment that the link was made with, where the one asked for has absorbed it."""


class LinksOf(Message):
    end_id: str
    links: list[LinkFromEnd]


class LinkTypeOut(Message):
    key: str
    label: str
    inverse_label: str
    builtin: bool


class LinkTypes(Message):
    types: list[LinkTypeOut]
    aliases: dict[str, str]


class NamedSegment(Message):
    segment_id: str
    document_id: str
    entity_id: str | None
    certainty: float | None
    link_id: str


class Naming(Message):
    uri: str | None
    authority: str | None
    authority_id: str | None
    entity_ids: list[str]
    segments: list[NamedSegment]
