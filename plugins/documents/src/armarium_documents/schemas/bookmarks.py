"""The request that makes a bookmark, and the list of bookmarks."""

from __future__ import annotations

from armarium.api import Message, Params
from armarium_documents.schemas.documents import Document
from armarium_documents.schemas.fields import Id, Name


class BookmarkCreate(Params):
    """A bookmark of a document, under its own name or another."""

    target_id: Id
    parent_id: Id | None = None
    name: Name | None = None


class BookmarkList(Message):
    """A list of documents."""

    items: list[Document]
    count: int
