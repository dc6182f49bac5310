"""The refusals of rights, each a sentence a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_record = missing("rights record", "What applies to a target names its records.", key="record_id")
"""404: no rights record has this id."""


def unknown_target(kind: str, target_id: str) -> NotFound:
    """404: the document or segment that a record is to be about is not there."""
    return NotFound(
        f"There is no {kind} {target_id} in this project. Name one that is there, live or in the Trash.",
        code="not_found",
        target_id=target_id,
    )


def no_such_project(target_id: str) -> Invalid:
    """422: the project is named by the word alone."""
    return Invalid(
        f'A record about the project has the target_id "library", not {target_id!r}.',
        code="bad_target",
    )


def already_withdrawn(record_id: str) -> Conflict:
    """409: a withdrawn record stays as it is."""
    return Conflict(
        f"The rights record {record_id} was withdrawn already. Undo that step to have it back.",
        code="already_withdrawn",
        record_id=record_id,
    )


def loosened_by_machine() -> Forbidden:
    """403: a machine moves a document from beneath a record that limits it."""
    return Forbidden(
        "A rights record limits what lies there, and would no longer after this move. Only a person may do that.",
        code="person_only",
    )
