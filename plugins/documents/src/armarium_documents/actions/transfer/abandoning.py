"""Abandons a copy that was never live: its rows, history and files are removed as if never written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import ActionContext, Conductor, json_text, list_steps, quote_name, raw_of
from armarium_documents.actions.purge import Purge, remove_files
from armarium_documents.actions.transfer.journal import set_state
from armarium_documents.actions.transfer.planning import load_of
from armarium_documents.hookspecs import Vocabulary
from armarium_documents.models import documents
from armarium_documents.queries.transfers import record
from armarium_documents.queries.tree import id_list


def abandon(parts: Conductor, transfer_id: str, files: Sequence[str], why: str) -> None:
    """Remove the copies of a transfer from the target, where they lie hidden in the Trash."""
    assert parts.library is not None
    with parts.library.db.read() as conn:
        raw = raw_of(conn)
        transfer = record(raw, transfer_id, "target")
    if transfer is None:
        return

    def remove(ctx: ActionContext) -> None:
        raw = raw_of(ctx.conn)
        roots = id_list(item["id"] for item in transfer.items)
        ids = [
            row[0]
            for row in raw.execute(
                "SELECT id FROM document WHERE deleted_at IS NOT NULL"
                " AND trash_root_id IN (SELECT value FROM json_each(?))",
                (roots,),
            )
        ]
        purge = Purge(ctx)
        load = load_of(ctx.engine)
        keys_by_table = {name: _copied_keys(raw, name, transfer_id) for name in [*load.companions]}
        for name, keys in keys_by_table.items():
            if keys:
                purge.choose(ctx.engine.library_schema.by_name[name], keys)
        if ids:
            purge.choose(documents, ids)
        digests = set(purge.remove()) | set(files)
        for vocabulary in load.vocabularies:
            _remove_words(ctx, vocabulary, _copied_keys(raw, vocabulary.table, transfer_id))
        set_state(raw, transfer_id, "target", "taken-back", reason=why)
        library = ctx.project
        orphans = sorted(digest for digest in digests if not purge.is_referenced(digest))
        ctx.on_commit(lambda: remove_files(library, purge, orphans))

    parts.part("given_up", remove, {"transfer_id": transfer_id})


def _copied_keys(raw: Any, table: str, transfer_id: str) -> list[str]:
    """Return the keys of the rows of *table* that the parts of this transfer made."""
    key = raw.execute(f"SELECT name FROM pragma_table_info({quote_name(table)}) WHERE pk = 1").fetchone()[0]
    return [
        row[0]
        for row in raw.execute(
            f"SELECT DISTINCT {quote_name(key)} FROM {quote_name(f'{table}__history')} WHERE op = 'I'"
            " AND audit_seq IN (SELECT value FROM json_each(?))",
            (json_text([step.seq for step in list_steps(raw, sets=transfer_id)]),),
        )
    ]


def _remove_words(ctx: ActionContext, vocabulary: Vocabulary, keys: Sequence[str]) -> None:
    """Remove the vocabulary entries that were made for the copies and that nothing else has used since."""
    raw = raw_of(ctx.conn)
    users = list(vocabulary.used_by)
    if vocabulary.parent is not None:
        users.append((vocabulary.table, vocabulary.parent))
    waiting = list(keys)
    while waiting:
        free = [
            key
            for key in waiting
            if not any(
                raw.execute(
                    f"SELECT 1 FROM {quote_name(table)} WHERE {quote_name(column)} = ? LIMIT 1", (key,)
                ).fetchone()
                for table, column in users
            )
        ]
        if not free:
            return
        purge = Purge(ctx)
        purge.choose(ctx.engine.library_schema.by_name[vocabulary.table], free)
        purge.remove()
        waiting = [key for key in waiting if key not in free]
