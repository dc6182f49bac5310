"""Finishes what a crash left, once both projects are open: unfinished transfers, moves whose sides disagree."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import orjson

from armarium.api import Conductor, Engine, Library, ServiceError, in_effect_of_chain, raw_of, record_activity
from armarium_documents.actions.transfer.abandoning import abandon
from armarium_documents.actions.transfer.copying import take_back
from armarium_documents.actions.transfer.journal import note, set_state
from armarium_documents.queries.transfers import Record, State, other_side, record, records

log = logging.getLogger("armarium.documents")

CUT_SHORT = "The engine stopped while the copy was being made."

SET_BACK = (
    "The other project was reset to a snapshot from before this move, so both projects hold what was moved."
)

SET_BACK_HERE = "This project was reset to a snapshot from before the end of this move, so both projects hold what was moved."

TAKEN_FROM = (
    "The other project was reset to a snapshot from before this move, so what was moved is here again."
)


def settle_transfers(engine: Engine, library: Library) -> None:
    """When a project is opened, finish its transfers with other projects that are already open."""
    try:
        with engine.lock_across(wait=5.0):
            carry_on(engine, library)
    except ServiceError as error:
        log.warning("transfers of %s are deferred: %s", library.path.name, error.detail)


def carry_on(engine: Engine, library: Library) -> int:
    """Finish every transfer of *library* that can be finished now; returns how many there were. Called inside
    `across`.

    A transfer may be recorded in the journal of only one of the projects, so those of all open projects are
    examined too.
    """
    with library.db.read() as conn:
        raw = raw_of(conn)
        transfers = [(library, own) for own in records(raw)]
    transfer_ids = {own.transfer_id for _, own in transfers}
    for other in engine.libraries.open_now():
        if other is not library:
            with other.db.read() as conn:
                raw = raw_of(conn)
                transfers += [
                    (other, transfer)
                    for transfer in records(raw)
                    if transfer.other_uuid == library.uuid and transfer.transfer_id not in transfer_ids
                ]
    finished = 0
    for place, own in transfers:
        other_library = other_side(engine, own)
        try:
            if other_library is None:
                finished += own.pending and is_gone(engine, own) and _finish_alone(engine, place, own)
            elif other_library is not place:
                source, target = (place, other_library) if own.side == "source" else (other_library, place)
                finished += _finish(engine, source, target, own)
        except (ServiceError, OSError, sqlite3.Error) as error:
            log.warning("the transfer %s could not be finished yet: %s", own.transfer_id, error)
    return finished


def is_gone(engine: Engine, own: Record) -> bool:
    """Return whether the other project is neither where it was nor at any other path the registry knows."""
    places = {own.other_path} | {
        entry["path"]
        for entry in engine.libraries.list_registered()
        if entry["library_uuid"] == own.other_uuid
    }
    return not any(_holds(Path(place), own.other_uuid) for place in places)


def _holds(package: Path, uuid: str) -> bool:
    """Return whether a folder is the project *uuid*; an unreadable one counts as it, because it may be."""
    try:
        card = orjson.loads((package / "library.json").read_bytes())
    except FileNotFoundError:
        return False
    except (OSError, orjson.JSONDecodeError):
        return True
    return not isinstance(card, dict) or str(card.get("library_uuid")).replace("-", "") == uuid.replace(
        "-", ""
    )


def _finish_alone(engine: Engine, library: Library, own: Record) -> bool:
    """Settle the one side of a transfer whose other project is gone, so that nothing stays held forever.

    If that project returns, its side is made to agree with what is recorded here. A copy that is complete
    holds nothing and waits: the project it came from may only have been renamed, and then sends out what was
    moved.
    """
    why = f"The project {own.other_path} no longer exists."
    if own.side == "target" and own.state == "moving":
        return False
    if own.side == "target" and own.state in ("planned", "copying", "checking"):
        parts = Conductor(
            engine.bus,
            library,
            engine.actions.get("document.transfer"),
            own.principal,
            set_id=own.transfer_id,
        )
        abandon(parts, own.transfer_id, [], why)
        _tell(library, why)
    else:
        _explain(library, own, "taken-back", why)
    return True


def _explain(library: Library, side: Record, state: State, why: str) -> None:
    """Settle one side on the engine's own initiative, and record the reason where people look."""
    with library.db.write() as conn:
        set_state(raw_of(conn), side.transfer_id, side.side, state, reason=why)
    _tell(library, why)


def _tell(library: Library, why: str) -> None:
    with library.db.write() as conn:
        record_activity(conn, "system_info", f"An interrupted transfer was settled. {why}")


def _finish(engine: Engine, source: Library, target: Library, own: Record) -> bool:
    identity = own.transfer_id
    with source.db.read() as conn:
        raw = raw_of(conn)
        ours = record(raw, identity, "source")
    with target.db.read() as conn:
        raw = raw_of(conn)
        theirs = record(raw, identity, "target")
    parts = Conductor(
        engine.bus, target, engine.actions.get("document.transfer"), own.principal, set_id=identity
    )
    if theirs is None:
        if ours is None:
            return False
        if ours.pending:
            note(source, identity, "source", "taken-back", CUT_SHORT)
        elif ours.state == "done" and ours.mode == "move" and _is_the_one(target, ours):
            # The other project was restored from a snapshot from before the move: what was moved exists only
            # in the Trash here.
            _take_back_side(engine, source, ours)
            _tell(source, TAKEN_FROM)
        else:
            return False
    elif theirs.state in ("planned", "copying", "checking"):
        abandon(parts, identity, [], CUT_SHORT)
        if ours is not None and ours.pending:
            note(source, identity, "source", "taken-back", CUT_SHORT)
        elif ours is not None and ours.state == "done" and ours.mode == "move":
            _take_back_side(engine, source, ours)
            _tell(source, TAKEN_FROM)
    elif ours is None:
        if theirs.state == "taken-back" or theirs.mode == "copy" or theirs.reason is not None:
            return False
        # The other project was restored from a snapshot from before the move: the copy here is complete and
        # stays.
        _explain(target, theirs, "done", SET_BACK)
    elif theirs.state == "moving" and ours.state == "planned":
        _send_out(parts, source, target, own, theirs)
    elif theirs.state == "moving" and ours.state == "done":
        note(target, identity, "target", "done")
    elif theirs.state == "moving":
        _undo_other_side(engine, source, target, ours, theirs)
    elif ours.pending and theirs.state == "done" and ours.mode == "move":
        # It was sent out once, and this project was then restored from an earlier snapshot: whoever did so
        # wants it here.
        _explain(source, ours, "done", SET_BACK_HERE)
    elif ours.pending:
        note(source, identity, "source", theirs.state, theirs.reason)
    elif ours.state != theirs.state and own.mode == "move":
        _undo_other_side(engine, source, target, ours, theirs)
    else:
        return False
    return True


def _is_the_one(target: Library, ours: Record) -> bool:
    """Return whether *target* is the project that a move went to, and not an old copy of it."""
    return ours.other_path == str(target.path) or not _holds(Path(ours.other_path), ours.other_uuid)


def _send_out(parts: Conductor, source: Library, target: Library, own: Record, theirs: Record) -> None:
    """Carry out the second half of a move whose copy is live and verified; else undo the copy."""
    try:
        parts.engine.run(source, "document.transfer_out", {"transfer_id": own.transfer_id}, own.principal)
    except ServiceError as error:
        assert theirs.audit_id is not None
        take_back(parts, target, source, own.transfer_id, theirs.audit_id, error.detail)
        return
    note(target, own.transfer_id, "target", "done")


def _undo_other_side(engine: Engine, source: Library, target: Library, ours: Record, theirs: Record) -> None:
    """Undo the side that a crash left committed after the other side was undone."""
    for library, side in ((source, ours), (target, theirs)):
        if side.state != "taken-back":
            _take_back_side(engine, library, side)


def _take_back_side(engine: Engine, library: Library, side: Record) -> None:
    """Undo one half of a move; if that is refused, the journal says why and the rows stay."""
    if side.audit_id is None:
        return
    try:
        with library.db.read() as conn:
            newest = in_effect_of_chain(conn, side.audit_id)
        engine.undo(library, [newest], side.principal)
    except ServiceError as error:
        _explain(library, side, "taken-back", error.detail)
