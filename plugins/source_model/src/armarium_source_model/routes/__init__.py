"""The HTTP of the source model, one file a subject: request in, action or query out."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_source_model.routes import readings, segments


def routers() -> tuple[APIRouter, ...]:
    """Every router of the family."""
    return (segments.router, readings.router)
