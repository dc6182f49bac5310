"""The audit log: one row per step, chained by hashes; written by the bus, read by the routes and by undo."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Boolean, Column, Connection, Index, Integer, MetaData, Table, Text

from armarium.store.database import raw_of
from armarium.store.database_errors import damaged_database
from armarium.store.tables import Json, operational

metadata = MetaData()

audit = Table(
    "audit",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("action_name", Text, nullable=False),
    Column("actor_kind", Text, nullable=False),
    Column("actor_name", Text, nullable=False),
    Column("client", Text),
    Column("origin_window", Text),
    Column("role", Text, nullable=False),
    Column("target_ids", Json, nullable=False),
    Column("params", Json, nullable=False),
    Column("changed", Json, nullable=False),
    Column("run_id", Text),
    Column("set_id", Text),
    Column("inverse_of", Text),
    Column("undoable", Boolean, nullable=False),
    Column("prev_hash", Text, nullable=False),
    Column("row_hash", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("undone", Boolean, nullable=False, default=False),
    Column("gone", Boolean, nullable=False, default=False),
    # How many row images the step left, by table.
    Column("images", Json, nullable=False),
    # Protected by triggers of its own (capture.audit_triggers): only the marks of undo and purge may change.
    info=operational(),
)
Index("ix_audit_action", audit.c.action_name)
Index("ix_audit_set", audit.c.set_id, sqlite_where=audit.c.set_id.isnot(None))
Index("ix_audit_run", audit.c.run_id, sqlite_where=audit.c.run_id.isnot(None))
Index("ix_audit_inverse", audit.c.inverse_of, sqlite_where=audit.c.inverse_of.isnot(None))
Index("ix_audit_created", audit.c.created_at)

audit_target = Table(
    "audit_target",
    metadata,
    Column("target_id", Text, primary_key=True),
    Column("seq", Integer, primary_key=True),
    info=operational(),
    sqlite_with_rowid=False,
)

audit_part = Table(
    "audit_part",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("action_name", Text, primary_key=True),
    info=operational(),
    sqlite_with_rowid=False,
)
"""The actions that ran inside a step named after another one: undoing the step needs the rights of each."""

audit_withheld = Table(
    "audit_withheld",
    metadata,
    Column("id", Text, primary_key=True),
    info=operational(),
    sqlite_with_rowid=False,
)
"""The ids of rows that were withheld from somebody when they were removed for good: only owners see what names them."""

GENESIS = "0" * 64
"""The previous hash of the first row."""

MAX_TARGETS = 1000
"""How many target ids one row names; a step on more states so in its parameters and its history."""

_HASHED = (
    "seq",
    "id",
    "action_name",
    "actor_kind",
    "actor_name",
    "client",
    "origin_window",
    "role",
    "target_ids",
    "params",
    "changed",
    "run_id",
    "set_id",
    "inverse_of",
    "undoable",
    "created_at",
)
_UNDOABLE = _HASHED.index("undoable")
_INSERT = (
    f"INSERT INTO audit ({', '.join(_HASHED)}, images, prev_hash, row_hash, undone, gone) "
    f"VALUES ({', '.join('?' * len(_HASHED))}, ?, ?, ?, 0, 0)"
)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log: the last row's number and hash."""

    seq: int
    row_hash: str


def head(raw: sqlite3.Connection) -> Head:
    """Return the end of the log."""
    row = raw.execute("SELECT seq, row_hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    if row is None:
        return Head(0, GENESIS)
    if not isinstance(row[1], str):
        raise damaged_database("the last row of its audit log has no hash")
    return Head(*row)


def append(raw: sqlite3.Connection, before: Head, row: dict[str, Any]) -> Head:
    """Append *row* (every hashed column and `images`; lists and objects already as JSON text) after *before*."""
    values = tuple(row[name] for name in (*_HASHED, "images"))
    row_hash = _hash(before.row_hash, values)
    raw.execute(_INSERT, (*values, before.row_hash, row_hash))
    return Head(row["seq"], row_hash)


def append_targets(raw: sqlite3.Connection, seq: int, target_ids: list[str]) -> None:
    """Index the row *seq* by the ids it touched."""
    if target_ids:
        raw.executemany(
            "INSERT OR IGNORE INTO audit_target (target_id, seq) VALUES (?, ?)",
            [(target, seq) for target in target_ids[:MAX_TARGETS]],
        )


def append_parts(raw: sqlite3.Connection, seq: int, names: list[str]) -> None:
    """Record the actions that ran inside the row *seq*, besides the one it is named after."""
    if names:
        raw.executemany(
            "INSERT INTO audit_part (seq, action_name) VALUES (?, ?)", [(seq, name) for name in names]
        )


def parts_of(raw: sqlite3.Connection, seq: int) -> list[str]:
    """Return the actions that ran inside the row *seq*, besides the one it is named after."""
    return [row[0] for row in raw.execute("SELECT action_name FROM audit_part WHERE seq = ?", (seq,))]


def _hash(previous: str, values: tuple[Any, ...]) -> str:
    """Return the hash of a row over its hashed columns and `images`."""
    plain = [*values]
    plain[_UNDOABLE] = bool(plain[_UNDOABLE])
    return hashlib.sha256(previous.encode() + orjson.dumps(plain)).hexdigest()


def verify_chain(conn: Connection) -> str | None:
    """Return None when every row's hash follows from the row before it, else a sentence naming the first that does not.

    The mark `undone` changes after a row is written, so no hash covers it; it is compared with the rows that undid
    others.
    """
    previous = GENESIS
    expected = 1
    raw = raw_of(conn)
    for *values, prev_hash, row_hash in raw.execute(
        f"SELECT {', '.join(_HASHED)}, images, prev_hash, row_hash FROM audit ORDER BY seq"
    ):
        if values[0] != expected:
            return f"The audit log lacks row {expected}: it continues at {values[0]}."
        if prev_hash != previous or row_hash != _hash(previous, tuple(values)):
            return f"Row {values[0]} of the audit log ({values[1]}) was changed after it was written."
        previous, expected = row_hash, expected + 1
    undone = _taken_back(raw)
    for seq, identity, marked in raw.execute("SELECT seq, id, undone FROM audit ORDER BY seq"):
        if bool(marked) is not undone.get(identity, False):
            why = "undone, but no step undid it" if marked else "in effect, although a later step undid it"
            return f"Row {seq} of the audit log ({identity}) is marked {why}."
    return None


def _taken_back(raw: sqlite3.Connection) -> dict[str, bool]:
    """Return, for each row that another one undid, whether it is now undone according to the whole log.

    A step may have been undone, redone and undone again: each of these steps inverts its whole chain.
    """
    took_back: dict[str, str] = {}
    undone: dict[str, bool] = {}
    for identity, inverse_of in raw.execute(
        "SELECT id, inverse_of FROM audit WHERE inverse_of IS NOT NULL ORDER BY seq"
    ):
        took_back[identity] = inverse_of
        state, current = True, inverse_of
        while current is not None:
            undone[current] = state
            state, current = not state, took_back.get(current)
    return undone


_VIEW = (
    "id, seq, action_name, actor_kind, actor_name, client, origin_window, role, target_ids, params, changed, "
    "run_id, set_id, inverse_of, undone, undoable, gone, prev_hash, row_hash, created_at"
)


def as_answer(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a row selected by `select_rows` in the form of an answer."""
    names = [name.strip() for name in _VIEW.split(",")]
    answer = dict(zip(names, row, strict=True))
    answer["actor"] = {"kind": answer.pop("actor_kind"), "name": answer.pop("actor_name")}
    for name in ("target_ids", "params", "changed"):
        answer[name] = orjson.loads(answer[name])
    for name in ("undone", "undoable", "gone"):
        answer[name] = bool(answer[name])
    return answer


def select_row(conn: Connection, audit_id: str) -> dict[str, Any] | None:
    """Return one row of the log by its id."""
    row = raw_of(conn).execute(f"SELECT {_VIEW} FROM audit WHERE id = ?", (audit_id,)).fetchone()
    return as_answer(row) if row else None


def select_rows(
    conn: Connection,
    *,
    action: str | None = None,
    actor: str | None = None,
    target_id: str | None = None,
    run_id: str | None = None,
    set_id: str | None = None,
    since: str | None = None,
    until: str | None = None,
    undone: bool | None = None,
    seq: int | None = None,
    limit: int = 100,
    offset: int = 0,
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows that match every filter given, newest first, and the total."""
    wheres: list[str] = []
    values: list[Any] = []
    for clause, value in (
        ("action_name = ?", action),
        ("actor_name = ?", actor),
        ("run_id = ?", run_id),
        ("set_id = ?", set_id),
        ("created_at >= ?", since),
        ("created_at <= ?", until),
        ("undone = ?", None if undone is None else int(undone)),
        ("seq = ?", seq),
        ("seq IN (SELECT seq FROM audit_target WHERE target_id = ?)", target_id),
    ):
        if value is not None:
            wheres.append(clause)
            values.append(value)
    where = f" WHERE {' AND '.join(wheres)}" if wheres else ""
    raw = raw_of(conn)
    total = raw.execute(f"SELECT count(*) FROM audit{where}", values).fetchone()[0]
    rows = raw.execute(
        f"SELECT {_VIEW} FROM audit{where} ORDER BY seq DESC LIMIT ? OFFSET ?", (*values, limit, offset)
    ).fetchall()
    return [as_answer(row) for row in rows], total
