"""Steps of the audit log: who did what to whom, whether it is still in effect, where a chain of undos begins and ends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from armarium.history.audit import audit as steps
from armarium.history.audit import audit_target
from armarium.runs.questions import Asked, Names, conditions, connection_of, decode_json, select_columns
from armarium.store.tables import json_text

Stored = Literal["params", "changed"]
_STORED = ("params", "changed")


class StepRow(NamedTuple):
    """A step as the audit log has it. `params` and `changed` (ids by what they are of) are empty unless asked for."""

    seq: int
    id: str
    action_name: str
    actor_kind: str
    actor_name: str
    run_id: str | None
    set_id: str | None
    inverse_of: str | None
    undone: bool
    row_hash: str
    created_at: str
    params: dict[str, Any]
    changed: dict[str, Any]


def find_step(conn: Asked, audit_id: str, *stored: Stored) -> StepRow | None:
    """Return the step with that id, and the *stored* ones of its large columns; None for an unknown id."""
    return next(iter(list_steps(conn, *stored, ids=audit_id)), None)


def list_steps(
    conn: Asked,
    *stored: Stored,
    ids: Names = None,
    numbers: int | Iterable[int] | None = None,
    sets: Names = None,
    actions: Names = None,
    after: int = 0,
    newest: bool = False,
    limit: int = -1,
) -> list[StepRow]:
    """Return the steps that match everything given and have a number higher than *after*, oldest first or *newest* first."""
    condition, values = conditions({"id": ids, "seq": numbers, "set_id": sets, "action_name": actions})
    rows = connection_of(conn).execute(
        f"SELECT {select_columns(StepRow, stored, _STORED)} FROM {steps} WHERE seq > ?{condition}"
        f" ORDER BY seq {'DESC' if newest else 'ASC'} LIMIT ?",
        (after, *values, limit),
    )
    return [decode_json(StepRow._make(row), _STORED) for row in rows]


def last_step(conn: Asked) -> int:
    """Return the number of the last step; 0 before the first."""
    (number,) = connection_of(conn).execute(f"SELECT COALESCE(max(seq), 0) FROM {steps}").fetchone()
    return int(number)


def targets_of_set(conn: Asked, set_id: str) -> list[str]:
    """Return the ids that the steps of a set touched."""
    rows = connection_of(conn).execute(
        f"SELECT DISTINCT t.target_id FROM {audit_target} t JOIN {steps} s ON s.seq = t.seq WHERE s.set_id = ?",
        (set_id,),
    )
    return [row[0] for row in rows]


def count_in_effect(conn: Asked, set_ids: Iterable[str], *, after: str | None = None) -> dict[str, int]:
    """Return how many steps of each set, undos left out, are in effect; with *after*, of those later than that step.

    A set without such steps is not among them.
    """
    since = "" if after is None else f" AND seq > (SELECT seq FROM {steps} WHERE id = ?)"
    rows = connection_of(conn).execute(
        f"SELECT set_id, count(*) FILTER (WHERE undone = 0) FROM {steps} WHERE inverse_of IS NULL"
        f" AND set_id IN (SELECT value FROM json_each(?)){since} GROUP BY set_id",
        (json_text(list(set_ids)), *(() if after is None else (after,))),
    )
    return dict(rows.fetchall())


def first_of_chain(conn: Asked, audit_id: str) -> str:
    """Return the step at the beginning of the chain of undos and redos to which *audit_id* belongs."""
    while (step := find_step(conn, audit_id)) is not None and step.inverse_of is not None:
        audit_id = step.inverse_of
    return audit_id


def in_effect_of_chain(conn: Asked, audit_id: str) -> str:
    """Return the step now in effect in the chain of undos and redos that began with *audit_id*."""
    row = (
        connection_of(conn)
        .execute(
            f"WITH RECURSIVE chain(id) AS (VALUES (?1) UNION SELECT a.id FROM chain JOIN {steps} a ON a.inverse_of = chain.id)"
            f" SELECT a.id FROM chain JOIN {steps} a ON a.id = chain.id WHERE a.undone = 0"
            " ORDER BY a.id = ?1 DESC, a.seq DESC LIMIT 1",
            (audit_id,),
        )
        .fetchone()
    )
    return str(row[0])
