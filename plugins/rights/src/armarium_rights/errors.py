"""The refusals of rights, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_record = missing("rights record", "The rights that apply to its target list it.", key="record_id")
"""404: no rights record has this id."""


def unknown_target(kind: str, target_id: str) -> NotFound:
    """404: the document or segment that the record would be about does not exist."""
    return NotFound(
        f"There is no {kind} {target_id} in this project. Name an existing one, live or in the Trash.",
        code="not_found",
        target_id=target_id,
    )


def no_such_project(target_id: str) -> Invalid:
    """422: the only id of the project is the word library."""
    return Invalid(
        f'A record about the project has the target_id "library", not {target_id!r}.',
        code="bad_target",
    )


def already_withdrawn(record_id: str) -> Conflict:
    """409: a withdrawn record cannot be withdrawn again."""
    return Conflict(
        f"The rights record {record_id} was already withdrawn. Undo that step to put it in force again.",
        code="already_withdrawn",
        record_id=record_id,
    )


def loosened_by_machine() -> Forbidden:
    """403: a machine would move a document out of the reach of a record that limits it."""
    return Forbidden(
        "A rights record limits what would be moved, and would not apply in the new place. Only a person may "
        "make this move.",
        code="person_only",
    )
