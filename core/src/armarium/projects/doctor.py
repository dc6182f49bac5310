"""The doctor: examines a whole package and reports its faults in sentences; changes nothing but what can be
regenerated.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy.exc import DBAPIError

from armarium.errors import ServiceError, left_out, place_of
from armarium.history import derived_indexes
from armarium.history.capture import history_name, quote_name
from armarium.history.merging import digest_at
from armarium.projects import branch_files, branches, snapshots
from armarium.store.database import raw_of
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.projects.libraries import Library

NAMED = 20
"""How many missing files are named one by one; the rest is counted."""


@dataclass(frozen=True)
class Finding:
    """One finding: `error` means something is lost or broken, `note` that something is untidy."""

    level: str
    what: str


def examine(engine: Engine, path: str | Path, *, files: bool = True, rebuild: bool = False) -> dict[str, Any]:
    """Open the package at *path* and check all of it; return `{path, healthy, findings[], counts{}}`.

    Checks: the database's own integrity and foreign keys, the triggers and history, each step's images against its
    audit row, the audit chain, the derived indexes against the rows they follow, every file's bytes against its name
    (unless *files* is False), files that rows name and that are missing, leftovers of an interrupted write, and what
    the plugins add (`Plugin.examine`). *rebuild*: the derived indexes are rebuilt first, and before them what plugins keep
    for them (`Plugin.rebuild`). What prevents opening without being damage is raised as for any request.
    """
    try:
        library = engine.libraries.get(path)
    except ServiceError as error:
        if error.code != "library_damaged":
            # Held by another engine, written by a newer one, outside the folders in use: that says nothing about its
            # health.
            raise
        stored = snapshots.list_snapshots(Path(path)) if Path(path).is_dir() else []
        advice = f" The newest snapshot is {stored[0]['path']}." if stored else ""
        return {
            "path": str(path),
            "healthy": False,
            "findings": [asdict(Finding("error", error.detail + advice))],
            "counts": {"snapshots": len(stored)},
        }
    if rebuild:
        for plugin in engine.plugins.loaded:
            if plugin.rebuild is not None and plugin.name not in library.db.left_out:
                plugin.rebuild(library)
        with library.db.write() as conn:
            for table in library.schema.indexes:
                derived_indexes.rebuild(conn, table)
    findings = list(_findings(engine, library, files=files))
    return {
        "path": str(library.path),
        "healthy": not any(finding.level == "error" for finding in findings),
        "findings": [asdict(finding) for finding in findings],
        "counts": _counts(library),
    }


def _findings(engine: Engine, library: Library, *, files: bool) -> Iterator[Finding]:
    try:
        yield from _looked_over(engine, library, files=files)
    except ServiceError as refusal:
        yield Finding("error", refusal.detail)
    except (sqlite3.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        yield Finding("error", f"The database cannot be read through: {cause}. Restore a snapshot.")


def _looked_over(engine: Engine, library: Library, *, files: bool) -> Iterator[Finding]:
    if library.db.refusal is not None:
        yield Finding("error", library.db.refusal)
    for name, why in library.db.left_out.items():
        yield Finding("note", left_out(name, why).detail)
    with library.db.read() as conn:
        raw = raw_of(conn)
        yield from _database(raw)
    for table in library.schema.indexes:
        follows = rules_of(table).follows
        # A full-text index can only be checked by the writer; the check changes nothing.
        of_words = follows is not None and follows.of_words
        with library.db.write() if of_words else library.db.read() as conn:
            wrong = derived_indexes.disagreements(raw_of(conn), table)
        if wrong:
            yield Finding(
                "error",
                f"The index {table.name} does not agree with the rows it follows in {wrong} of them. Nothing is lost: "
                "`armarium doctor --rebuild` rebuilds it.",
            )
    broken = engine.verify_audit(library)
    if broken is not None:
        yield Finding("error", broken)
    if library.is_branch:
        yield from _base(library)
    yield from _find_missing_files(library)
    if files:
        yield from _files(library)
    leftovers = library.objects.root / "tmp"
    if leftovers.is_dir() and any(leftovers.iterdir()):
        yield Finding(
            "note",
            "Files of an interrupted write are left; they are removed when the project is opened next.",
        )
    for plugin in engine.plugins.loaded:
        if plugin.examine is None or plugin.name in library.db.left_out:
            continue
        try:
            for sentence in plugin.examine(library):
                yield Finding("error", f"{plugin.name}: {sentence}")
        except (ServiceError, sqlite3.Error, DBAPIError):
            raise
        except Exception as error:
            yield Finding("note", f"The checks of the plugin {plugin.name} were left out: {place_of(error)}")


def _base(library: Library) -> Iterator[Finding]:
    """Report a branch whose log no longer begins with the step of its project that its card names."""
    card = branches.card_of(library)
    if card is None or card.partial or not card.base_seq:
        return
    with library.db.read_all() as conn:
        digest = digest_at(raw_of(conn), card.base_seq)
    if digest != card.base_digest:
        yield Finding(
            "error",
            f"It is a branch, and its log does not begin with step {card.base_seq} of its project: it cannot be merged. "
            "Make a new branch.",
        )


def _database(raw: sqlite3.Connection) -> Iterator[Finding]:
    for (words,) in raw.execute("PRAGMA integrity_check(20)").fetchall():
        if words != "ok":
            yield Finding("error", f"The database is damaged: {words}. Restore a snapshot.")
    for table, _, parent, _ in raw.execute("PRAGMA foreign_key_check").fetchmany(20):
        yield Finding("error", f"A row of {table} points at a row of {parent} that is not there.")
    (step,) = raw.execute("SELECT audit_seq FROM audit_current").fetchone() or (None,)
    if step is not None:
        yield Finding(
            "error", "A step was left open: the history would name the wrong step. Restore a snapshot."
        )
    (steps,) = raw.execute("SELECT COALESCE(max(seq), 0) FROM audit").fetchone()
    histories = [
        name
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%\\_\\_history' ESCAPE '\\'"
        ).fetchall()
    ]
    for name in histories:
        yield from _find_stray_images(raw, name, steps)
    yield from _find_miscounts(raw, histories)


def _find_stray_images(raw: sqlite3.Connection, name: str, steps: int) -> Iterator[Finding]:
    """Report images of a step that is not in the log, or that came after those of a later one."""
    stray = raw.execute(f"SELECT 1 FROM {quote_name(name)} WHERE audit_seq > ? LIMIT 1", (steps,)).fetchone()
    if stray is not None:
        yield Finding("error", f"{name} holds images of a step that the audit log does not know.")
    astray = raw.execute(
        f"SELECT audit_seq, before FROM (SELECT audit_seq, lag(audit_seq) OVER (ORDER BY seq) AS before"
        f" FROM {quote_name(name)}) WHERE audit_seq IS NULL OR audit_seq < before LIMIT 1"
    ).fetchone()
    if astray is not None:
        of_step = "of no step" if astray[0] is None else f"in the name of step {astray[0]}"
        yield Finding(
            "error",
            f"{name} holds images {of_step} that came after those of step {astray[1]}: "
            "something was changed outside an action. Restore a snapshot.",
        )


def _find_miscounts(raw: sqlite3.Connection, histories: list[str]) -> Iterator[Finding]:
    """Report the first step that left more or fewer images than its audit row says; one pass over the log and all
    histories.

    Empty Trash removes images of the steps that it marks `gone`. Where a step names a table that no longer exists, a
    migration renamed it, and images under a new name are not a fault.
    """
    counted = (
        raw.execute(
            f"SELECT audit_seq, ?, count(*) FROM {quote_name(name)} WHERE typeof(audit_seq) = 'integer' GROUP BY audit_seq"
            " ORDER BY audit_seq",
            (name.removesuffix("__history"),),
        )
        for name in histories
    )
    steps = groupby(merge(*counted), key=lambda row: row[0])
    step = next(steps, None)
    for seq, gone, images_text in raw.execute("SELECT seq, gone, images FROM audit ORDER BY seq"):
        while step is not None and step[0] < seq:
            step = next(steps, None)
        counts = (
            {table: images for _, table, images in step[1]} if step is not None and step[0] == seq else {}
        )
        try:
            recorded = dict(orjson.loads(images_text))
        except (ValueError, TypeError):
            continue  # the hash chain reports that
        if counts == recorded or any(f"{table}__history" not in histories for table in recorded):
            continue
        for table in sorted(counts.keys() | recorded.keys()):
            count, expected = counts.get(table, 0), recorded.get(table, 0)
            if count > expected or (count < expected and not gone):
                yield Finding(
                    "error",
                    f"{table}__history holds {count} images of step {seq}, which left {expected}: "
                    "something was changed outside an action. Restore a snapshot.",
                )
                return


def _find_missing_files(library: Library) -> Iterator[Finding]:
    """Yield files that rows or images name (in columns with `info={"object": True}`) and that the project does not
    have. Of those that a branch may lack, only how many.
    """
    needed, absent = _needed_files(library), set[str]()
    for table in library.schema.tables:
        for column in (column for column in table.columns if column.info.get("object")):
            lost = _find_lost(library, table.name, column.name)
            absent |= lost
            yield from _lost_files(
                lost if needed is None else lost & needed,
                f"that a row of {table.name} names",
                f"of {table.name}",
            )
            if table in library.schema.tracked:
                earlier = _find_lost(library, history_name(table), column.name) - lost
                absent |= earlier
                yield from _lost_files(
                    earlier if needed is None else earlier & needed,
                    f"that an undo or a redo of {table.name} would need",
                    f"that undo or redo of {table.name} would need",
                )
    if needed is not None and absent - needed:
        yield Finding("note", f"Files that only its project has: {len(absent - needed):,}.")


def _needed_files(library: Library) -> set[str] | None:
    """Return the files that a branch must have which was sent away: those of its own, for it may have been packed without those
    of its project. None where all are needed.
    """
    card = branches.card_of(library) if library.is_branch else None
    beside = branches.project_beside(library.path)
    if card is None or (beside != library.path and beside.is_dir()):
        return None
    return branch_files.files_of_its_own(library, card)


def _find_lost(library: Library, table: str, column: str) -> set[str]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        named = raw.execute(
            f"SELECT DISTINCT {quote_name(column)} FROM {quote_name(table)} WHERE {quote_name(column)} IS NOT NULL"
        ).fetchall()
    return {digest for (digest,) in named if not library.objects.has(digest)}


def _lost_files(lost: set[str], which: str, more: str) -> Iterator[Finding]:
    for digest in sorted(lost)[:NAMED]:
        yield Finding(
            "error", f"The file {digest[:12]}… {which} is not there. Put it back from a copy of the project."
        )
    if len(lost) > NAMED:
        yield Finding("error", f"{len(lost) - NAMED} more files {more} are not there.")


def _files(library: Library) -> Iterator[Finding]:
    for digest in library.objects.digests():
        if library.objects.has(digest) and not library.objects.intact(digest):
            yield Finding("error", f"The file {digest[:12]}… no longer has the bytes it was kept with.")


def _counts(library: Library) -> dict[str, int]:
    counts = {
        "files": sum(1 for _ in library.objects.digests()),
        "snapshots": len(snapshots.list_snapshots(library.path)),
    }
    # Where the audit log cannot be read, the findings say so.
    with suppress(sqlite3.Error), library.db.read() as conn:
        raw = raw_of(conn)
        counts["steps"] = raw.execute("SELECT count(*) FROM audit").fetchone()[0]
    return counts
