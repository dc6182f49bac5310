"""Carries out a transfer: copies files, then rows in hidden parts, verifies them, and makes them live in one
step.

The copies lie in the target's Trash, hidden by the journal, until all of them are complete and verified. The
writers of both projects are held only for one part at a time, a kill leaves nothing half-made in sight, and
undoing the step leaves the copies in the Trash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import orjson

from armarium.api import (
    ActionContext,
    Conductor,
    Conflict,
    Engine,
    Forbidden,
    Library,
    Outcome,
    Principal,
    ServiceError,
    new_id,
    now,
    raw_of,
)
from armarium_documents.actions.transfer.abandoning import abandon
from armarium_documents.actions.transfer.journal import begin, note, set_state
from armarium_documents.actions.transfer.planning import (
    Journey,
    agree,
    describe_plan,
    load_of,
    select,
    split_words,
)
from armarium_documents.errors import transfer_failed
from armarium_documents.hookspecs import Vocabulary
from armarium_documents.queries.carrying import CarriedTable, Selection
from armarium_documents.queries.tree import folder_path
from armarium_documents.schemas.transfer import Arrival, TransferParams

PART_ROWS = 10_000
"""Rows written while the target's writer is held once."""

PART_BYTES = 16 * 1024 * 1024
"""Characters of long texts held in memory at once."""

_HELD = {
    "parent_id": "CASE WHEN s.id = s.root THEN :parent ELSE renewed(t.parent_id) END",
    "system_key": "NULL",
    "deleted_at": ":at",
    "deleted_by": ":by",
    "trash_root_id": "renewed(s.root)",
    "trash_info": "CASE WHEN s.id = s.root THEN :info END",
}
"""How the copy of a document differs from it until it is live: it lies in the Trash as if it had been deleted."""

SPECIAL = {"document": _HELD}


def conduct(conductor: Conductor, p: TransferParams) -> Outcome:
    """Carry out the transfer. A failure leaves both projects as they were."""
    from armarium_documents.actions.transfer.recovery import carry_on

    assert conductor.library is not None
    with conductor.engine.lock_across():
        try:
            journey = agree(conductor.engine, conductor.library, conductor.principal, p)
        except Conflict as refusal:
            source = conductor.engine.libraries.open_at(p.source_library)
            # A move that held the items may be settled by now: its other project is gone, or is open again.
            if refusal.code != "held_by_move" or source is None or not carry_on(conductor.engine, source):
                raise
            journey = agree(conductor.engine, conductor.library, conductor.principal, p)
        if carry_on(conductor.engine, journey.source) + carry_on(conductor.engine, journey.target):
            journey = agree(conductor.engine, conductor.library, conductor.principal, p)
        with make_selection(conductor.engine, journey) as selection:
            return _Transfer(conductor, p, journey, selection).carry_out()


def make_selection(engine: Engine, journey: Journey) -> Selection:
    """Return the selection. Raises Broken if there is no disk space to make it."""
    try:
        return select(engine, load_of(engine), journey)
    except (OSError, sqlite3.Error) as error:
        raise transfer_failed(_words(error), "Nothing was changed in either project.") from error


def plan(engine: Engine, target: Library, principal: Principal, p: TransferParams) -> dict[str, Any]:
    """Return what the transfer would do; writes nothing in either project."""
    journey = agree(engine, target, principal, p)
    with make_selection(engine, journey) as selection:
        return describe_plan(engine, load_of(engine), journey, selection, dry_run=True)


class _Transfer:
    """One transfer in progress."""

    def __init__(
        self, conductor: Conductor, p: TransferParams, journey: Journey, selection: Selection
    ) -> None:
        self.engine = conductor.engine
        self.load = load_of(self.engine)
        self.id = new_id()
        # The parts share a set id, by which they are found if the copy is abandoned.
        self.parts = Conductor(
            conductor.bus, conductor.library, conductor.found, conductor.principal, set_id=self.id
        )
        self.conductor = conductor
        self.principal = conductor.principal
        self.p = p
        self.journey = journey
        self.selection = selection
        self.items = [{"source_id": top, "id": selection.new_id_of(top)} for top in journey.tops]
        self.files: list[str] = []
        self.result = describe_plan(self.engine, self.load, journey, selection, dry_run=False)

    def carry_out(self) -> Outcome:
        """Copy, verify, make live; for a move, send the originals to the source's Trash."""
        with self.journey.source.db.write() as conn:
            marks = self.selection.marks(self.engine.library_schema.tables)
            begin(
                raw_of(conn),
                self.id,
                "source",
                self.journey.target,
                self.journey.mode,
                "planned",
                self.items,
                self.principal,
                marks,
            )
        try:
            self._copy()
            self._check()
            outcome = self._make_live()
        except (ServiceError, OSError, sqlite3.Error) as error:
            sentence = self._give_up(error)
            if isinstance(error, Conflict | Forbidden) and sentence is None:
                raise
            raise transfer_failed(
                _words(error), sentence or "Nothing was changed in either project."
            ) from error
        if self.journey.mode == "move":
            self._send_out(outcome.audit_id)
        else:
            note(self.journey.source, self.id, "source", "done")
        self.result |= {"audit_id": outcome.audit_id}
        return Outcome(self.result, outcome.audit_id, outcome.set_id)

    def _copy(self) -> None:
        self.parts.part("begun", self._begin, {"transfer_id": self.id})
        self._copy_files()
        for number, part in enumerate(self._in_parts()):
            rows = sum(len(chunk) for _, chunk in part)

            def write(ctx: ActionContext, part: list[Any] = part) -> None:
                for table, chunk in part:
                    ctx.bulk_insert(table.table, table.columns, chunk)

            self.parts.part("rows", write, {"transfer_id": self.id, "part": number + 1, "rows": rows})

    def _begin(self, ctx: ActionContext) -> None:
        """Write the journal record, and the vocabulary entries that the copies need and the target lacks."""
        begin(
            raw_of(ctx.conn),
            self.id,
            "target",
            self.journey.source,
            self.journey.mode,
            "copying",
            self.items,
            self.principal,
            {},
        )
        for vocabulary in self.load.vocabularies:
            self._make_words(ctx, vocabulary)

    def _make_words(self, ctx: ActionContext, vocabulary: Vocabulary) -> None:
        table = self.engine.library_schema.by_name[vocabulary.table]
        columns = [column.name for column in table.columns]
        _, lacking = split_words(self.selection, vocabulary, self.journey.target)
        if lacking:
            ctx.bulk_insert(table, columns, self.selection.word_rows(vocabulary, columns, lacking))

    def _copy_files(self) -> None:
        """Copy files before rows, so that no row ever names a missing file."""
        source, target = self.journey.source.objects, self.journey.target.objects
        for digest in self.selection.digests():
            if not source.has(digest) or target.holds(digest):
                continue
            if not source.holds(digest):
                target.link_file(source.path(digest).resolve())
            elif target.put_file(source.path(digest)) != digest:
                raise OSError(f"The file {digest[:12]}… no longer has the content it was stored with.")
            self.files.append(digest)

    def _in_parts(self) -> Iterator[list[tuple[CarriedTable, list[tuple[Any, ...]]]]]:
        """Write the rows in parts, each as large as one write may be."""
        part: list[tuple[CarriedTable, list[tuple[Any, ...]]]] = []
        rows = size = 0
        whole = self._pointing_in_circles()
        for table in self.selection.tables:
            special = SPECIAL.get(table.name, {})
            for chunk, long in self.selection.copies(
                table, special, self._collect_params() if special else {}
            ):
                part.append((table, chunk))
                rows += len(chunk)
                size += long
                if not whole and (rows >= PART_ROWS or size >= PART_BYTES):
                    yield part
                    part, rows, size = [], 0, 0
        if part:
            yield part

    def _pointing_in_circles(self) -> bool:
        """Return whether some table refers to one written after it: then all must be written at once."""
        later = {table.name for table in self.selection.tables}
        for table in self.selection.tables:
            later.discard(table.name)
            if any(parent in later for _, parent in (*table.required, *table.optional)):
                return True
        return False

    def _collect_params(self) -> dict[str, Any]:
        with self.journey.target.db.read() as conn:
            path = folder_path(conn, self.journey.parent_id)
        info = {
            "reason": "deleted",
            "from_folder_id": self.journey.parent_id,
            "from_folder_path": path,
            "transfer_id": self.id,
            "copied_from": self.journey.source.name,
        }
        by = self.principal.name
        return {"parent": self.journey.parent_id, "at": now(), "by": by, "info": orjson.dumps(info).decode()}

    def _check(self) -> None:
        """Read the copies back: every row must equal the source's, and every file must exist."""
        note(self.journey.target, self.id, "target", "checking")
        expected = self.selection.counts()
        counts = self.selection.read_back(self.journey.target, SPECIAL)
        for name, count in expected.items():
            if counts.get(name, 0) != count:
                raise sqlite3.DatabaseError(
                    f"only {counts.get(name, 0)} of {count} rows of {name} could be read back unchanged."
                )
        objects = self.journey.target.objects
        missing = [digest for digest in self.files if not objects.has(digest)]
        if missing:
            raise OSError(f"{len(missing)} files are missing after they were copied.")
        files = {"files": self.result["planned"]["files"]}
        self.result["written"] = self.load.counts_by_kind(counts) | files

    def _make_live(self) -> Outcome:
        with self.journey.source.db.read_all() as conn:
            cut_limits = self.load.find_limits(conn, self.journey.tops, self.selection.documents())
        limits = [
            (carried, self.selection.new_id_of(identity), held) for carried, identity, held in cut_limits
        ]
        outcome = Arrival(
            transfer_id=self.id,
            parent_id=self.journey.parent_id,
            roots=[item["id"] for item in self.items],
            source_name=self.journey.source.name,
            companions={name: self.selection.new_ids(name) for name in self.load.companions},
            limits=limits,
            result=self.result,
        )
        self.result |= {"transfer_id": self.id, "new_items": self.items}
        params = self.p.model_copy()
        params._arrival = outcome
        return self.conductor.step(params)

    def _give_up(self, error: Exception) -> str | None:
        """Remove what was written. Returns None, or a sentence on what remains to be removed."""
        why = _words(error)
        try:
            abandon(self.parts, self.id, self.files, why)
            note(self.journey.source, self.id, "source", "taken-back", why)
        except (ServiceError, OSError, sqlite3.Error):
            return "What was copied is hidden and will be removed when both projects are next opened."
        return None

    def _send_out(self, audit_id: str) -> None:
        """Carry out the source's half of a move; after two failures the copy is undone."""
        source = self.journey.source
        failure: Exception | None = None
        for _ in range(2):
            try:
                outcome = self.engine.run(
                    source, "document.transfer_out", {"transfer_id": self.id}, self.principal
                )
            except (Conflict, Forbidden) as error:
                # The source was changed, trashed or locked in the meantime: another attempt would fail in the
                # same way.
                failure = error
                break
            except (ServiceError, OSError, sqlite3.Error) as error:
                failure = error
                continue
            assert outcome.result is not None
            self.result |= {"source_audit_id": outcome.audit_id, "cuts": outcome.result["cuts"]}
            note(self.journey.target, self.id, "target", "done")
            return
        assert failure is not None
        after = take_back(self.parts, self.journey.target, source, self.id, audit_id, _words(failure))
        if isinstance(failure, Conflict | Forbidden):
            raise type(failure)(f"{failure.detail} {after}", code=failure.code, **failure.fields) from failure
        raise transfer_failed(_words(failure), after) from failure


def take_back(
    parts: Conductor, target: Library, source: Library, transfer_id: str, audit_id: str, why: str
) -> str:
    """Undo a copy whose other half failed. Returns a sentence on what became of it."""
    try:
        parts.engine.undo(target, [audit_id], parts.principal)
        abandon(parts, transfer_id, [], why)
        note(source, transfer_id, "source", "taken-back", why)
    except Conflict:
        # Somebody has gone on working with the copy: it stays, and the journal records a copy instead of a
        # move.
        for library, side in ((target, "target"), (source, "source")):
            with library.db.write() as conn:
                set_state(raw_of(conn), transfer_id, side, "taken-back", reason=why)  # type: ignore[arg-type]
        return "The copy has already been changed, so it stays; what was to be moved is where it was."
    except (ServiceError, OSError, sqlite3.Error):
        return "The copy will be undone when both projects are next opened."
    return "The copy was undone; nothing was changed in either project."


def _words(error: Exception) -> str:
    if isinstance(error, ServiceError):
        return error.detail
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    # SQLite and the operating system report fragments; they are put into a sentence.
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."
