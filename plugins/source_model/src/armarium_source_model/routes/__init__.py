"""The HTTP of the source model, one file a subject: request in, action or query out."""

from __future__ import annotations

from fastapi import APIRouter

from armarium_source_model.routes import drawing, joins, links, orders, readings, segments, settings


def routers() -> tuple[APIRouter, ...]:
    """Every router of the family."""
    # What stands fixed (/document/…, /merge) is matched before /{segment_id}.
    return (
        joins.router,
        joins.locations,
        drawing.router,
        segments.router,
        readings.router,
        readings.pages,
        orders.router,
        links.router,
        settings.router,
    )
