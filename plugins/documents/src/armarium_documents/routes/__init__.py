"""The HTTP of documents, one file a subject: a request in, an action or a query out."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_documents.routes import (
    annotating,
    artifacts,
    dataset,
    documents,
    files,
    transfer,
)

routers: tuple[APIRouter, ...] = (
    transfer.router,
    dataset.router,
    documents.router,
    files.router,
    artifacts.router,
    annotating.router,
)
