"""The HTTP of formats, one file a subject: a request in, an action or a query out."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_formats.routes import batches, exchange

routers: tuple[APIRouter, ...] = (batches.router, exchange.router)
