"""What of a project a caller may see: asked only here, and answered by the plugin that keeps the rights records.

Three mechanisms enforce it, so that no route, query or action has to:

- a request, or the parameters of an action, that name a row which is withheld from their caller are refused;
- whoever reads a project for such a caller reads it through views in which those rows are not (`visible_rows`);
- a step that touched such rows is refused when it ends.

The owner sees everything. Where a project holds no record, none of this costs a query.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import orjson
from sqlalchemy import Connection, Table

from armarium.errors import Forbidden
from armarium.history.audit import audit_withheld
from armarium.history.capture import history_name, quote_name
from armarium.history.changes import images
from armarium.history.spans import spans
from armarium.history.visible_rows import NODES, PAGES, PARTS, VisibleRows, has_temporary, identity
from armarium.principals import Principal
from armarium.store.database import Database, raw_of
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from armarium.history.schema import Schema
    from armarium.projects.libraries import Library

Use = Literal["show", "local-model", "cloud-model", "export"]
"""What is to be done with a page: shown to the caller, sent to a model on this machine or to one elsewhere, exported.
"""

LONGEST_ID = 200
"""Characters of the longest text that can be an id."""

NOBODY = Principal(kind="machine", name="nobody", role="viewer")
"""A caller whom no record names among its readers."""


@dataclass(frozen=True)
class WithheldRows:
    """What the records of a project withhold from one caller."""

    everything: bool = False
    nodes: frozenset[str] = frozenset()
    """Documents; everything beneath them is withheld with them."""
    parts: frozenset[str] = frozenset()
    """Parts of pages, including those within them."""


class Rights(Protocol):
    """The rights records of one kind of project; a plugin provides one as its `rights`."""

    @property
    def parts(self) -> Table | None:
        """Return the table whose rows are parts of a page; its `document` column names the page."""

    def has_any(self, raw: sqlite3.Connection) -> bool:
        """Return whether any record is in force."""

    def find_withheld(self, conn: Connection, principal: Principal) -> WithheldRows:
        """Return what *principal*, who is not an owner, may not see."""

    def refuse_moves(self, conn: Connection, moves: Iterable[tuple[str | None, str | None]]) -> None:
        """Refuse a machine that moved documents from one parent to another and thereby relaxed what may be done with
        them.
        """

    def reasons(self, conn: Connection, ids: Iterable[str], use: Use) -> Mapping[str, str]:
        """Return, of the documents and parts *ids*, those that nobody may put to *use*, each with a sentence giving the
        reason.
        """


class WithheldAlong:
    """Rows without a document of their own that are withheld with the documents they rest on (an entity that only such
    pages name): a plugin states them in `Plugin.withheld_along`. The engine leaves these rows, and all that refers to them,
    out of what such a caller reads, as it does with pages.
    """

    tables: tuple[Table, ...] = ()
    """The tables of these rows."""

    def find_withheld(self, conn: Connection, documents: str, parts: str) -> Iterable[str]:
        """Return the ids of those withheld from the caller for whom *conn* was lent. *documents* and *parts* name tables
        whose `id` is that of a withheld document or part: few, while the project's own tables (`main.…`) may be large.
        """
        return ()

    def find_partial(self, conn: Connection, documents: str, parts: str) -> Iterable[str]:
        """Return the ids of documents that are about something withheld without being withheld themselves: the caller does
        not see what shows such a one as a whole (`tracked(whole=…)`).
        """
        return ()


def rights_restricted(ids: Iterable[str]) -> Forbidden:
    """403: what the caller names, or would change, is withheld from it."""
    named = sorted(ids)
    return Forbidden(
        "It is restricted: its rights records let only the readers they name see it. Ask the owner to be named there.",
        code="rights_restricted",
        restricted_ids=named,
    )


@dataclass
class Visibility:
    """Which caller may see what of one open project."""

    db: Database
    schema: Schema
    rights: Rights | None
    """None where the plugin that keeps the records does not work in this project: then only owners see anything."""
    along: Sequence[WithheldAlong] = ()
    """What families say is withheld with the documents it rests on."""
    kept_by: str | None = None
    """The plugin that keeps the rights records."""
    _without: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        self._readers = self.db.readers(lambda raw: self.rows.lay(raw))

    @cached_property
    def rows(self) -> VisibleRows:
        """The views, worked out for the first caller who may not see everything: no owner pays for them."""
        parts = None if self.rights is None else self.rights.parts
        return VisibleRows(self.schema, parts, [table for rule in self.along for table in rule.tables])

    def close(self) -> None:
        """Close its reading connections."""
        self._readers.close()

    def surely_all(self, principal: Principal) -> bool:
        """Return whether *principal* sees everything, as far as is known without a query."""
        return principal.may("owner") or self._without == self.db.commits

    def limits(self, principal: Principal) -> bool:
        """Return whether there may be anything that *principal* does not see."""
        if self.surely_all(principal):
            return False
        commits = self.db.commits
        if self.rights is not None:
            with self.db.read_all() as conn:
                if not self.rights.has_any(raw_of(conn)) and not _find_removed(raw_of(conn), " LIMIT 1"):
                    self._without = commits
                    return False
        return True

    @contextmanager
    def read(self, principal: Principal) -> Iterator[Connection]:
        """Lend a connection as `Database.read` does, without the rows that *principal* may not see."""
        with self._readers.lend() as (conn, raw):
            who = self.reader(principal)
            self.rows.begin(raw)
            if not self.rows.holds(raw, who):
                self._fill(conn, raw, principal, who)
                # Kept for the next time; what is read now is the next snapshot, which may be a later one.
                self.rows.end(raw)
                self.rows.begin(raw)
                if not self.rows.holds(raw, who):
                    self._fill(conn, raw, principal, who)
            yield conn

    def reader(self, principal: Principal) -> str:
        """Return by which names the records know *principal*: what is filled for one caller holds for those of the same."""
        return " ".join(sorted(principal.reader_ids)) or "nobody"

    def _fill(self, conn: Connection, raw: sqlite3.Connection, principal: Principal, who: str) -> None:
        self.rows.empty(raw)
        withheld_rows = self.find_withheld(conn, principal)
        self.rows.fill(raw, who, withheld_rows.everything, withheld_rows.nodes, withheld_rows.parts)
        for rule in self.along:
            arguments = (conn, f"temp.{NODES}", f"temp.{PARTS}")
            self.rows.add(raw, rule.find_withheld(*arguments), rule.find_partial(*arguments))

    def find_withheld(self, conn: Connection, principal: Principal) -> WithheldRows:
        """Return what the records withhold from *principal*."""
        if self.rights is None:
            return WithheldRows(everything=True)
        withheld = self.rights.find_withheld(conn, principal)
        return replace(withheld, nodes=withheld.nodes | _find_removed(raw_of(conn)))

    def keep_withheld(self, raw: sqlite3.Connection, ids: Iterable[str]) -> None:
        """Let whatever names those of the rows *ids* that are withheld from somebody stay so after they were removed for good:
        the records that withhold them go with them, the log does not.
        """
        withheld = ((row_id,) for row_id in sorted(self.find_hidden(NOBODY, ids)))
        raw.executemany(f"INSERT OR IGNORE INTO {audit_withheld.name} VALUES (?)", withheld)

    def find_hidden(self, principal: Principal, ids: Iterable[str]) -> set[str]:
        """Return those of *ids* that are ids of rows which *principal* may not see."""
        valid_ids = _select_ids(ids)
        if not valid_ids or not self.limits(principal):
            return set()
        with self.read(principal) as conn:
            return self.rows.find_hidden(raw_of(conn), valid_ids)

    def refuse(self, principal: Principal, ids: Iterable[str]) -> None:
        """Raise 403 rights_restricted where one of *ids* is the id of a row that *principal* may not see."""
        hidden = self.find_hidden(principal, ids)
        if hidden:
            raise rights_restricted(hidden)

    def are_places(self, ids: Iterable[str]) -> bool:
        """Return whether every one of *ids* is that of a document or of a part of a page."""
        with self.db.read_all() as conn:
            return self.rows.are_places(raw_of(conn), set(ids))

    def names_elsewhere(self, ids: Iterable[object]) -> bool:
        """Return whether one of *ids* is that of a row that lies on no document."""
        valid_ids = _select_ids(ids)
        if not valid_ids:
            return False
        with self.db.read_all() as conn:
            return self.rows.names_elsewhere(raw_of(conn), valid_ids)

    def shows_part(self, principal: Principal, ids: Iterable[str]) -> bool:
        """Return whether one of *ids* names a page, or a part of one, of which *principal* sees only a part."""
        valid_ids = _select_ids(ids)
        if not valid_ids or not self.limits(principal):
            return False
        with self.read(principal) as conn:
            return self.rows.is_partial(raw_of(conn), valid_ids)

    def shows_part_itself(self, principal: Principal, ids: Iterable[str]) -> bool:
        """As `shows_part`, of pages that are themselves laid out in parts: not of the folders above one."""
        valid_ids = _select_ids(ids)
        parts = self.rows.parts
        if not valid_ids or parts is None or not self.limits(principal):
            return False
        with self.read(principal) as conn:
            raw = raw_of(conn)
            return any(
                holds_parts(raw, parts, page_id) and self.rows.is_partial(raw, [page_id])
                for page_id in valid_ids
            )

    def refuse_step(self, raw: sqlite3.Connection, audit_seq: int, principal: Principal) -> None:
        """Refuse the step *audit_seq*, open or past, where it touched what *principal* may not see."""
        if self.limits(principal) and self.find_hidden(principal, self._ids_touched(raw, audit_seq)):
            raise rights_restricted(())

    def refuse_loosening(
        self, conn: Connection, raw: sqlite3.Connection, audit_seq: int, principal: Principal
    ) -> None:
        """Refuse the open step of a machine that moved documents away from what restricts them."""
        tree = self.rows.tree
        if principal.kind != "machine" or tree is None or self.rights is None or not self.rights.has_any(raw):
            return
        rules = rules_of(tree).tree
        assert rules is not None
        self.rights.refuse_moves(
            conn,
            [
                (before[rules.parent], after[rules.parent])
                for _, where in spans(raw, [tree], audit_seq).items()
                for before, after in images(raw, tree, where)
                if before and after and before[rules.parent] != after[rules.parent]
            ],
        )

    def refuse_showing_step(self, raw: sqlite3.Connection, audit_seq: int, principal: Principal) -> None:
        """As `refuse_step`, and where it touched a page of which something is withheld: rows of it may be gone since."""
        self.refuse_step(raw, audit_seq, principal)
        if self.shows_part(principal, self._nodes(raw, audit_seq)):
            raise rights_restricted(())

    def _nodes(self, raw: sqlite3.Connection, audit_seq: int) -> set[str]:
        return set() if self.schema.locks is None else self.schema.locks.nodes_touched(raw, audit_seq)

    def _ids_touched(self, raw: sqlite3.Connection, audit_seq: int) -> set[str]:
        """Return the ids of the rows that the step touched, and of the nodes they belong to."""
        ids = self._nodes(raw, audit_seq)
        for table, where in spans(raw, self.rows.tracked, audit_seq).items():
            key = quote_name(identity(table) or "")
            statement = (
                f"SELECT DISTINCT {key} FROM {quote_name(history_name(table))} WHERE seq BETWEEN ? AND ?"
            )
            ids |= {row[0] for row in raw.execute(statement, where)}
        return ids

    def reasons(self, principal: Principal, ids: Iterable[str], use: Use) -> dict[str, str]:
        """Return the reasons of this project, see `Rights.reasons`."""
        if self.rights is None:
            why = "Its rights cannot be read: the plugin that keeps them does not work in this project."
            return {} if principal.may("owner") and use == "show" else dict.fromkeys(ids, why)
        ids = list(ids)
        reasons_by_id = (
            dict.fromkeys(self.find_hidden(principal, ids), rights_restricted(()).detail)
            if use != "export"
            else {}
        )
        if use != "show":
            with self.db.read_all() as conn:
                if self.rights.has_any(raw_of(conn)):
                    reasons_by_id |= self.rights.reasons(
                        conn, [row_id for row_id in ids if row_id not in reasons_by_id], use
                    )
        return reasons_by_id


def holds_parts(raw: sqlite3.Connection, parts: Table, node: str) -> bool:
    """Return whether there are rows of *parts* on the page *node*, whoever may see them."""
    page, name = quote_name(rules_of(parts).document or ""), quote_name(parts.name)
    row = raw.execute(f"SELECT 1 FROM main.{name} WHERE {page} = ? LIMIT 1", (node,)).fetchone()
    return row is not None


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text within *value* that may be an id, at any depth; of one with colons, the parts between them too."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if item and len(item) <= LONGEST_ID:
                yield item
                if ":" in item:
                    yield from filter(None, item.split(":"))
        elif isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += item


def find_withheld(library: Library, principal: Principal, ids: Iterable[str], use: Use) -> dict[str, str]:
    """Return those of the documents and segments *ids* that *principal* may not put to *use*, each with the reason as a
    sentence.

    The one answer to "may this be shown, sent to a local model, sent to a cloud model, exported, for this caller". The
    engine checks what an HTTP route shows; background work asks for each page when its turn comes.
    """
    visibility = library.db.visibility
    return {} if visibility is None else visibility.reasons(principal, ids, use)


def refuse_withheld(library: Library, principal: Principal, ids: Iterable[str], use: Use) -> None:
    """Raise 403 rights_restricted, with the reason, for what `find_withheld` returns."""
    reasons = find_withheld(library, principal, ids, use)
    if reasons:
        raise Forbidden(
            next(iter(reasons.values())), code="rights_restricted", restricted_ids=sorted(reasons)
        )


def withheld_nodes(conn: Connection) -> frozenset[str]:
    """Return the documents that *conn*, lent for a caller, leaves out: for code that keeps columns of all documents
    elsewhere.
    """
    return _ids_in(raw_of(conn), NODES) or frozenset()


def withheld_pages(conn: Connection) -> frozenset[str] | None:
    """Return the documents of which *conn*, lent for a caller, shows only a part; None where it was lent for somebody
    who sees all.

    For code that keeps texts of whole pages: the visible part of such a page must be read again.
    """
    return _ids_in(raw_of(conn), PAGES)


def _ids_in(raw: sqlite3.Connection, name: str) -> frozenset[str] | None:
    """Return the ids in the temporary table *name*; None where the connection was lent for somebody who sees all."""
    if not has_temporary(raw, name):
        return None
    return frozenset(row[0] for row in raw.execute(f"SELECT id FROM temp.{name}"))


def _select_ids(values: Iterable[object]) -> list[str]:
    """Return those of *values* that can be ids, each once."""
    texts = [value for value in values if isinstance(value, str)]
    return [text for text in dict.fromkeys(texts) if text and len(text) <= LONGEST_ID and "\0" not in text]


def ids_in_event(body: bytes) -> set[str]:
    """Return the ids that an event of the change stream names."""
    return set(texts_in(orjson.loads(body)))


def _find_removed(raw: sqlite3.Connection, limit: str = "") -> frozenset[str]:
    """Return the ids of rows that were withheld when they were removed for good."""
    return frozenset(row[0] for row in raw.execute(f"SELECT id FROM main.{audit_withheld.name}{limit}"))
