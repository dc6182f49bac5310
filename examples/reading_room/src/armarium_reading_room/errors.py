"""The refusals of the reading room."""

from __future__ import annotations

from armarium.api import NotFound


def no_such_visit(visit_id: str) -> NotFound:
    """The refusal of an id that names no visit."""
    return NotFound(f"There is no visit {visit_id}; the list of visits of a document names them.")
