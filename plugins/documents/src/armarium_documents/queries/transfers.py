"""The journal of transfers: those in progress, what they hold, and the other project of each."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from armarium.api import Engine, Library, Principal

Side = Literal["source", "target"]
State = Literal["planned", "copying", "checking", "moving", "done", "taken-back"]

PENDING = ("planned", "copying", "checking", "moving")
"""The states of a transfer that is not at its end."""

_COLUMNS = "transfer_id, side, other_path, other_uuid, mode, state, audit_id, reason, items, actor, marks"


@dataclass(frozen=True)
class Record:
    """One side of one transfer."""

    transfer_id: str
    side: Side
    other_path: str
    other_uuid: str
    mode: str
    state: State
    audit_id: str | None
    reason: str | None
    items: list[dict[str, str]]
    actor: dict[str, Any]
    marks: dict[str, int]

    @property
    def pending(self) -> bool:
        """Return whether it has not ended."""
        return self.state in PENDING

    @property
    def principal(self) -> Principal:
        """Return who requested it."""
        return Principal(self.actor["kind"], self.actor["name"], self.actor["role"])


def _record(row: tuple[Any, ...]) -> Record:
    return Record(*row[:8], *map(orjson.loads, row[8:]))


def record(raw: sqlite3.Connection, transfer_id: str, side: Side) -> Record | None:
    """Return one side's record of a transfer."""
    row = raw.execute(
        f"SELECT {_COLUMNS} FROM document_transfer WHERE transfer_id = ? AND side = ?", (transfer_id, side)
    ).fetchone()
    return None if row is None else _record(row)


def record_of_step(raw: sqlite3.Connection, audit_id: str) -> Record | None:
    """Return the record of the transfer that an audit row belongs to."""
    row = raw.execute(f"SELECT {_COLUMNS} FROM document_transfer WHERE audit_id = ?", (audit_id,)).fetchone()
    return None if row is None else _record(row)


def records(raw: sqlite3.Connection) -> list[Record]:
    """Return the records that may need the other side: unfinished ones, and moves (both sides must agree)."""
    rows = raw.execute(
        f"SELECT {_COLUMNS} FROM document_transfer WHERE mode = 'move' OR state NOT IN ('done', 'taken-back')"
        " ORDER BY id"
    )
    return [_record(row) for row in rows]


def held_moves(raw: sqlite3.Connection) -> list[str]:
    """Return the items held by unfinished moves in the project they leave."""
    rows = raw.execute(
        "SELECT json_extract(i.value, '$.source_id') FROM document_transfer t, json_each(t.items) i"
        " WHERE t.side = 'source' AND t.mode = 'move' AND t.state NOT IN ('done', 'taken-back')"
    )
    return [row[0] for row in rows]


def arriving(raw: sqlite3.Connection) -> list[str]:
    """Return the copies being written: they lie hidden in the Trash until they are complete and verified."""
    rows = raw.execute(
        "SELECT json_extract(i.value, '$.id') FROM document_transfer t, json_each(t.items) i"
        " WHERE t.side = 'target' AND t.state IN ('planned', 'copying', 'checking')"
    )
    return [row[0] for row in rows]


def all_live(raw: sqlite3.Connection, transfer: Record) -> bool:
    """Return whether all copies of a transfer are live, in the project they were copied to."""
    (live,) = raw.execute(
        "SELECT count(*) FROM json_each(?) i JOIN document d ON d.id = json_extract(i.value, '$.id')"
        " WHERE d.deleted_at IS NULL",
        (orjson.dumps(transfer.items).decode(),),
    ).fetchone()
    return bool(live == len(transfer.items))


def other_side(engine: Engine, transfer: Record) -> Library | None:
    """Return the other project of a transfer if it is open: at its path, else wherever the package is now."""
    libraries = engine.libraries.open_now()
    by_path = [x for x in libraries if str(x.path) == transfer.other_path and x.uuid == transfer.other_uuid]
    return next(iter(by_path or [x for x in libraries if x.uuid == transfer.other_uuid]), None)
