"""The request that makes a bookmark, and the list of bookmarks."""

from __future__ import annotations

from armarium.api import Params, listed
from armarium_documents.schemas.documents import Document
from armarium_documents.schemas.fields import Id, Name


class BookmarkCreate(Params):
    """A bookmark of a document, under its own name or another."""

    target_id: Id
    parent_id: Id | None = None
    name: Name | None = None


BookmarkList = listed(Document, "BookmarkList", "A list of documents.")
