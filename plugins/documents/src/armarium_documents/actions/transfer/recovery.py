"""Finishing what a crash left: transfers under way, and moves whose two sides disagree, once both projects are open."""

from __future__ import annotations

import logging
import sqlite3

from armarium.api import Conductor, Engine, Library, ServiceError, raw_of
from armarium_documents.actions.transfer.abandoning import abandon
from armarium_documents.actions.transfer.copying import take_back
from armarium_documents.actions.transfer.journal import note, set_state
from armarium_documents.queries.transfers import Record, other_side, record, records

log = logging.getLogger("armarium.documents")

CUT_SHORT = "The engine stopped while the copy was being made."


def opened(engine: Engine, library: Library) -> None:
    """When a project is opened: finish what concerns it and projects that are open already."""
    try:
        with engine.across(wait=5.0):
            carry_on(engine, library)
    except ServiceError as error:
        log.warning("transfers of %s are looked at later: %s", library.path.name, error.detail)


def carry_on(engine: Engine, library: Library) -> int:
    """Finish every transfer of *library* whose other project is open; how many there were. Called inside `across`."""
    with library.db.read_raw() as raw:
        found = records(raw)
    finished = 0
    for own in found:
        other = other_side(engine, own)
        if other is None or other is library:
            continue
        source, target = (library, other) if own.side == "source" else (other, library)
        try:
            finished += _finish(engine, source, target, own)
        except (ServiceError, OSError, sqlite3.Error) as error:
            log.warning("the transfer %s could not be finished yet: %s", own.transfer_id, error)
    return finished


def _finish(engine: Engine, source: Library, target: Library, own: Record) -> bool:
    identity = own.transfer_id
    with source.db.read_raw() as raw:
        ours = record(raw, identity, "source")
    with target.db.read_raw() as raw:
        theirs = record(raw, identity, "target")
    parts = Conductor(
        engine.bus, target, engine.actions.get("document.transfer"), own.principal, set_id=identity
    )
    if theirs is None:
        if ours is None or not ours.pending:
            return False
        note(source, identity, "source", "taken-back", CUT_SHORT)
    elif theirs.state in ("planned", "copying", "checking"):
        abandon(parts, identity, [], CUT_SHORT)
        if ours is not None and ours.pending:
            note(source, identity, "source", "taken-back", CUT_SHORT)
    elif ours is None:
        return False
    elif theirs.state == "moving" and ours.state == "planned":
        _send_out(parts, source, target, own, theirs)
    elif theirs.state == "moving" and ours.state == "done":
        note(target, identity, "target", "done")
    elif theirs.state == "moving":
        _agree(engine, source, target, ours, theirs)
    elif ours.pending:
        note(source, identity, "source", theirs.state, theirs.reason)
    elif ours.state != theirs.state and own.mode == "move":
        _agree(engine, source, target, ours, theirs)
    else:
        return False
    return True


def _send_out(parts: Conductor, source: Library, target: Library, own: Record, theirs: Record) -> None:
    """The second half of a move whose copy stands live and checked; where it cannot be, the copy is taken back."""
    try:
        parts.engine.run(source, "document.transfer_out", {"transfer_id": own.transfer_id}, own.principal)
    except ServiceError as error:
        assert theirs.audit_id is not None
        take_back(parts, target, source, own.transfer_id, theirs.audit_id, error.detail)
        return
    note(target, own.transfer_id, "target", "done")


def _agree(engine: Engine, source: Library, target: Library, ours: Record, theirs: Record) -> None:
    """One side was taken back and the crash came before the other: take that back too."""
    for library, side in ((source, ours), (target, theirs)):
        if side.state == "taken-back" or side.audit_id is None:
            continue
        try:
            engine.undo(library, [_newest(library, side.audit_id)], side.principal)
        except ServiceError as error:
            with library.db.write() as conn:
                set_state(raw_of(conn), side.transfer_id, side.side, "taken-back", reason=error.detail)


def _newest(library: Library, audit_id: str) -> str:
    """The step that is in effect of a chain of undos and redos that began with *audit_id*."""
    with library.db.read_raw() as raw:
        row = raw.execute(
            "WITH RECURSIVE chain(id) AS (VALUES (?)"
            " UNION SELECT a.id FROM chain JOIN audit a ON a.inverse_of = chain.id)"
            " SELECT a.id FROM chain JOIN audit a ON a.id = chain.id WHERE a.undone = 0"
            " ORDER BY a.id = ? DESC, a.seq DESC LIMIT 1",
            (audit_id, audit_id),
        ).fetchone()
    return str(row[0])
