"""The refusals of rights, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_record = missing("rights record", "The rights that apply to its target list it.", key="record_id")
"""404: no rights record has this id."""


unknown_target = NotFound.saying(
    "not_found",
    "There is no {kind} {target_id} in this project. Name an existing one, live or in the Trash.",
    target_id="target_id",
)


no_such_project = Invalid.saying(
    "bad_target",
    'A record about the project has the target_id "library", not {target_id!r}.',
)


already_withdrawn = Conflict.saying(
    "already_withdrawn",
    "The rights record {record_id} was already withdrawn. Undo that step to put it in force again.",
    record_id="record_id",
)
withdrawn_in_project = Conflict.saying(
    "of_project",
    "The rights record {record_id} is one of the project of this branch, and holds here as long as it does there. Withdraw it in the project.",
    record_id="record_id",
)
loosened_by_machine = Forbidden.saying(
    "person_only",
    "A rights record limits what would be moved, and would not apply in the new place. Only a person may "
    "make this move.",
)
