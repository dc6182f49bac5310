"""Writes the journal of transfers, in the transaction of the step it describes or in one of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from armarium.api import Library, Principal, json_text, new_id, now, raw_of
from armarium_documents.queries.transfers import Side, State


def begin(
    raw: sqlite3.Connection,
    transfer_id: str,
    side: Side,
    other: Library,
    mode: str,
    state: State,
    items: Sequence[Mapping[str, str]],
    principal: Principal,
    marks: Mapping[str, int],
) -> None:
    """Insert one side's record of a transfer that begins."""
    at = now()
    actor = {"kind": principal.kind, "name": principal.name, "role": principal.role}
    raw.execute(
        "INSERT INTO document_transfer (id, transfer_id, side, other_path, other_uuid, mode, state, items, actor, marks,"
        " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (new_id(), transfer_id, side, str(other.path), other.uuid, mode, state, *map(json_text, (items, actor, marks)), at, at),
    )  # fmt: skip


def set_state(
    raw: sqlite3.Connection,
    transfer_id: str,
    side: Side,
    state: State,
    *,
    audit_id: str | None = None,
    reason: str | None = None,
) -> None:
    """Set the state of one side's record; the audit row it names is kept unless another is given."""
    raw.execute(
        "UPDATE document_transfer SET state = ?, audit_id = COALESCE(?, audit_id), reason = ?, updated_at = ?"
        " WHERE transfer_id = ? AND side = ?",
        (state, audit_id, reason, now(), transfer_id, side),
    )


def note(library: Library, transfer_id: str, side: Side, state: State, reason: str | None = None) -> None:
    """Like `set_state`, in a transaction of its own."""
    with library.db.write() as conn:
        set_state(raw_of(conn), transfer_id, side, state, reason=reason)
