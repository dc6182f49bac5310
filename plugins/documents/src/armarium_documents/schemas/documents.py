"""A document, and the requests that create, change, move, delete and bookmark one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from armarium.api import Message, Params, SourceText, answer_of, listed
from armarium_documents.flags import FLAGS
from armarium_documents.models import documents
from armarium_documents.schemas.fields import (
    Attributes,
    Id,
    Ids,
    IsoDate,
    JsonList,
    JsonObject,
    Key,
    Language,
    Name,
    ScriptCode,
    ShortText,
    with_flags,
)

DocType = Literal["folder", "group", "file", "page", "chunk"]
FileType = Literal[
    "image", "pdf", "audio", "video", "text", "word", "docx", "epub", "spreadsheet", "presentation", "other"
]
SourceAuthority = Literal["primary", "secondary", "tertiary", "unknown"]
Status = Literal["pending", "processing", "active", "completed", "failed"]
Direction = Literal["ltr", "rtl", "ttb", "btt", "alternating", "follows-baseline"]

CONTAINERS = ("folder", "group")
"""Kinds of node that hold others without being a source themselves."""


class Open(Message):
    """An answer that later versions may extend."""

    model_config = ConfigDict(extra="allow")


@answer_of(documents)
class Document(Open):
    """One node of the project's tree."""

    doc_type: DocType
    child_count: int
    has_thumbnail: bool
    source_authority: SourceAuthority
    provenance_chain: list[dict[str, Any]]
    status: Status


class Attachments(Message):
    """What is attached to the anchor of a view."""

    renditions: list[dict[str, Any]]
    artifacts: list[dict[str, Any]]
    annotation_count: int
    entity_count: int


class DocumentView(Message):
    """A document with its ancestors (root first), children and attachments; a part not asked for is null."""

    ancestors: list[Document]
    document: Document
    children: list[Document] | None
    children_total: int | None
    attachments: Attachments | None


class NeighbouringDocuments(Message):
    """null at the ends of the folder."""

    document_id: str
    before_id: str | None
    after_id: str | None


class DocumentsLocated(Params):
    """The documents asked about."""

    document_ids: Ids


class DocumentFolders(Message):
    """A document by name, and the names of what it lies in, from the top of the project down."""

    document_id: str
    name: str
    folders: list[str]


class DocumentsFolders(Message):
    """In the order asked; documents that are unknown, or not shown to the caller, are left out."""

    items: list[DocumentFolders]


@with_flags(False)
class DescriptionFields(Params):
    """The descriptive fields that a person fills in."""

    prototype_key: Key | None = None
    attributes: Attributes = Field(default_factory=dict)
    source_metadata: JsonObject = Field(default_factory=dict)
    source_authority: SourceAuthority = "unknown"
    page_label: ShortText | None = None
    language: Language | None = None
    script: ScriptCode | None = None
    direction: Direction | None = None
    date_original: ShortText | None = None
    date_iso: IsoDate | None = None
    case_id: ShortText | None = None
    provenance_chain: JsonList = Field(default_factory=list)
    image_provenance: JsonObject | None = None


class CreateParams(DescriptionFields):
    """A new node: a folder unless stated otherwise; a note carries its text in `page_content`."""

    name: Name
    parent_id: Id | None = None
    node_kind: Literal["document", "note", "workspace"] = "document"
    doc_type: DocType | None = None
    page_content: SourceText | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> CreateParams:
        if self.doc_type is None:
            self.doc_type = "folder" if self.node_kind == "document" else "file"
        if self.node_kind == "note" and self.doc_type != "file":
            raise ValueError("a note must have doc_type file")
        if self.page_content is not None and self.doc_type in CONTAINERS:
            raise ValueError(f"a {self.doc_type} has no page_content: put the text in a note inside it")
        return self


Timestamp = Annotated[str, Field(max_length=40)]


@with_flags(None)
class UpdateParams(Params):
    """Changes to a node: a field left out stays, null clears it, attributes are replaced as a whole.

    With `expected_updated_at`, the node's `updated_at` as it was read, nothing is changed (409 stale_version)
    if somebody else changed it since.
    """

    document_id: Id
    expected_updated_at: Timestamp | None = None
    name: Name | None = None
    prototype_key: Key | None = None
    attributes: Attributes | None = None
    source_metadata: JsonObject | None = None
    source_authority: SourceAuthority | None = None
    page_label: ShortText | None = None
    language: Language | None = None
    script: ScriptCode | None = None
    direction: Direction | None = None
    date_original: ShortText | None = None
    date_iso: IsoDate | None = None
    case_id: ShortText | None = None
    provenance_chain: JsonList | None = None
    image_provenance: JsonObject | None = None
    page_content: SourceText | None = None


CLEARED: dict[str, Any] = {
    "attributes": {},
    "source_metadata": {},
    "source_authority": "unknown",
    "provenance_chain": [],
    **dict.fromkeys(FLAGS, False),
}
"""What null means for a field that always has a value; a name cannot be cleared."""


class MoveParams(Params):
    """Where to put nodes: under a parent (null: the top), after a sibling (null: first; left out: last)."""

    ids: Ids
    parent_id: Id | None = None
    after_id: Id | None = None


class MoveResult(Message):
    ids: list[str]
    parent_id: str | None


class DeleteParams(Params):
    """Nodes to send to the Trash, with everything below them."""

    ids: Ids


class DeleteResult(Message):
    status: Literal["deleted"] = "deleted"
    id: str | None = None
    ids: list[str]
    item_count: Annotated[int, Field(description="Nodes sent to the Trash, including everything below them")]


class LockParams(Params):
    document_id: Id
    locked: bool


class BookmarkCreate(Params):
    """A bookmark of a document, under its own name or another."""

    target_id: Id
    parent_id: Id | None = None
    name: Name | None = None


BookmarkList = listed(Document, "BookmarkList", "A list of documents.")
