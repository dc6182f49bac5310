"""The HTTP routes of formats that are neither one query nor one action, one file per subject."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_formats.routes import batches, exchange

routers: tuple[APIRouter, ...] = (batches.router, exchange.router)
