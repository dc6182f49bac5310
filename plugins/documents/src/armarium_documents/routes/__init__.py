"""The HTTP routes of documents that are neither one query nor one action, one file per subject."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_documents.routes import (
    annotating,
    artifacts,
    dataset,
    documents,
    files,
    metadata,
    transfer,
)

routers: tuple[APIRouter, ...] = (
    transfer.router,
    metadata.router,
    dataset.router,
    documents.router,
    files.router,
    artifacts.router,
    annotating.router,
)
