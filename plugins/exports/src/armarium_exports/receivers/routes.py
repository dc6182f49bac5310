"""Reads of receivers: which ones exist, and what would be lost before anything is written."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, query
from armarium_exports.queries import EXPORTER
from armarium_exports.receivers.profiles import PROFILES
from armarium_exports.receivers.writing import report_for
from armarium_exports.records import ReceiverAsked, ReceiverReport, Receivers


@query(
    "/api/export/receivers",
    summary="The programs for which pages are written, and their rules",
    answer=Receivers,
    refusals=(),
)
def list_receivers(_conn: Connection) -> dict[str, Any]:
    """Return each with the address of its documentation."""
    items = [one.answer for one in PROFILES.values()]
    return {"items": items, "count": len(items)}


@query(
    "/api/export/receivers/report",
    summary="What would be written for a receiver, and what would be lost",
    answer=ReceiverReport,
    method="POST",
)
def report(_conn: Connection, engine: Engine, library: Library, body: ReceiverAsked) -> dict[str, Any]:
    """Report without writing anything."""
    return report_for(engine, library, EXPORTER, body.receiver, body.scope_ids)
