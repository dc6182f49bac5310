"""The HTTP of documents, one file a subject: a request in, an action or a query out."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_documents.routes import (
    annotating,
    artifacts,
    bookmarks,
    classifications,
    dataset,
    documents,
    files,
    imports,
    runs,
    transfer,
    trash,
)

# Fixed paths (trash, import) are matched before those with an id in their place.
routers: tuple[APIRouter, ...] = (
    trash.router,
    transfer.router,
    imports.router,
    runs.router,
    dataset.router,
    documents.router,
    files.router,
    artifacts.router,
    annotating.router,
    classifications.router,
    bookmarks.router,
)
