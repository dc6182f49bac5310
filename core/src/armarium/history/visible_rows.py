"""SQLite views, in a connection of their own, that leave out the rows withheld from a caller.

A temporary view takes precedence over a table of the same name, so every statement of every family reads through them,
third-party statements too. A row is withheld with the document or part it belongs to: by its `document` column, by a
foreign key, or by a column that holds an id according to its name (`…_id`); a row of a log also when its JSON names
one, and a job when it is about nothing else. What shows a page as a whole (`tracked(whole=…)`) is withheld where a part
of it is, and where a page beneath it is. What families withhold along with pages (`WithheldAlong`) is treated as a part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import Column, Table, Text

from armarium.history import audit
from armarium.history.capture import history_name, key_columns, quote_name
from armarium.history.row_images import same_key
from armarium.store.tables import Json, Whole, json_text, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from armarium.history.schema import Schema

NODES, PARTS, PAGES, FOR = "withheld_node", "withheld_part", "withheld_page", "withheld_for"
"""Temporary tables: the documents that are withheld; the parts, and what is withheld along with either; the documents
that show such a one as a whole; and from whom they are withheld in which state of the file.
"""
IDS = "withheld_id"
"""A temporary view: the ids of the other rows that are withheld, for JSON that may name a row of any table."""
EVERYTHING = (NODES, PARTS, IDS)

_LOGS = ("append-only", "operational")
_OF_MANY = ("job", "args")
"""What a job is about: one over many pages is shown for those that are visible, without what it says of a page."""


class VisibleRows:
    """The views over the tables of *schema*; *parts* is the table whose rows are parts of pages, if there is one, and rows
    of the tables *along* are withheld where their own ids are.
    """

    def __init__(self, schema: Schema, parts: Table | None, along: Collection[Table] = ()) -> None:
        self.schema = schema
        self.along = {table.name for table in along}
        self.parts = parts if parts is not None and parts.name in schema.by_name else None
        self.tree = None if schema.locks is None else schema.locks.tree
        self._shows_jobs = _OF_MANY[0] in schema.by_name
        self._covered: dict[str, Table] = {}
        self.conditions: dict[str, list[str]] = {}
        """By table, when a row of it, called `m`, is visible."""
        self._views = list(self._make())
        self._asked = [
            (
                f"SELECT m.{quote_name(key)} FROM json_each(?) j JOIN main.{quote_name(table.name)} m ON m.{quote_name(key)} = j.value"
                f" WHERE NOT EXISTS (SELECT 1 FROM temp.{quote_name(table.name)} v WHERE v.{quote_name(key)} = m.{quote_name(key)})"
            )
            for table in self._covered.values()
            if (key := identity(table)) is not None
        ]
        self.tracked = [
            table
            for table in self._covered.values()
            if rules_of(table).kind == "tracked" and identity(table) is not None
        ]
        """The tracked tables of which rows may be withheld, and whose rows have an id."""

    def lay(self, raw: sqlite3.Connection) -> None:
        """Create the views in a new connection."""
        raw.execute("PRAGMA query_only=OFF")
        for name in (NODES, PARTS, PAGES):
            raw.execute(f"CREATE TEMP TABLE {name} (id TEXT PRIMARY KEY) WITHOUT ROWID")
        raw.execute(f"CREATE TEMP TABLE {FOR} (who TEXT, version INTEGER)")
        for statement in self._views:
            raw.execute(statement)
        raw.execute("PRAGMA query_only=ON")

    def begin(self, raw: sqlite3.Connection) -> None:
        """Begin a transaction and fix its snapshot."""
        raw.execute("BEGIN")
        raw.execute("SELECT 1 FROM main.sqlite_schema LIMIT 1").fetchone()

    def end(self, raw: sqlite3.Connection) -> None:
        """End the transaction, and keep the filled tables."""
        raw.execute("PRAGMA query_only=OFF")
        raw.execute("COMMIT")
        raw.execute("PRAGMA query_only=ON")

    def holds(self, raw: sqlite3.Connection, who: str) -> bool:
        """Return whether the tables hold what is withheld from *who* in this snapshot."""
        return bool(raw.execute(f"SELECT who, version FROM temp.{FOR}").fetchone() == (who, _version(raw)))

    def empty(self, raw: sqlite3.Connection) -> None:
        """Withhold nothing."""
        raw.execute("PRAGMA query_only=OFF")
        for name in (NODES, PARTS, PAGES, FOR):
            raw.execute(f"DELETE FROM temp.{name}")
        raw.execute("PRAGMA query_only=ON")

    def fill(
        self, raw: sqlite3.Connection, who: str, everything: bool, nodes: Iterable[str], parts: Iterable[str]
    ) -> None:
        """Withhold the documents *nodes* (or all) with everything beneath them and their aliases, and *parts*."""
        raw.execute("PRAGMA query_only=OFF")
        if self.tree is not None:
            tree, (key,) = quote_name(self.tree.name), map(quote_name, key_columns(self.tree))
            rules = rules_of(self.tree).tree
            assert rules is not None
            parent = quote_name(rules.parent)
            stands_for = [f"t.{quote_name(column.name)}" for column in _list_weak_columns(self.tree)]
            if everything:
                raw.execute(f"INSERT INTO temp.{NODES} SELECT {key} FROM main.{tree}")
            else:
                joined = " OR ".join(f"{column} = down.id" for column in (f"t.{parent}", *stands_for))
                raw.execute(
                    "WITH RECURSIVE down(id) AS (SELECT value FROM json_each(?)"
                    f" UNION SELECT t.{key} FROM down JOIN main.{tree} t ON {joined})"
                    f" INSERT OR IGNORE INTO temp.{NODES} SELECT id FROM down",
                    (json_text(list(nodes)),),
                )
            raw.execute(
                f"INSERT OR IGNORE INTO temp.{PARTS} SELECT value FROM json_each(?)",
                (json_text(list(parts)),),
            )
            raw.execute(f"INSERT OR IGNORE INTO temp.{PAGES} {self._pages(tree, key, parent)}")
        raw.execute(f"INSERT INTO temp.{FOR} VALUES (?, ?)", (who, _version(raw)))
        raw.execute("PRAGMA query_only=ON")

    def add(self, raw: sqlite3.Connection, ids: Iterable[str], partial: Iterable[str]) -> None:
        """Withhold the rows *ids* of the tables *along* too, and what names them; and what shows the documents *partial* as
        a whole.
        """
        raw.execute("PRAGMA query_only=OFF")
        for name, listed in ((PARTS, ids), (PAGES, partial)):
            raw.execute(
                f"INSERT OR IGNORE INTO temp.{name} SELECT value FROM json_each(?)",
                (json_text(list(listed)),),
            )
        raw.execute("PRAGMA query_only=ON")

    def _pages(self, tree: str, key: str, parent: str) -> str:
        """Add what may show something withheld: the page of a part with all beneath it (its crops), and all above
        either.
        """
        nodes = f"SELECT t.{parent} FROM main.{tree} t JOIN temp.{NODES} n ON n.id = t.{key}"
        pages = "SELECT NULL WHERE 0"
        if self.parts is not None:
            page = quote_name(rules_of(self.parts).document or "")
            (own,) = map(quote_name, key_columns(self.parts))
            pages = f"SELECT s.{page} FROM main.{quote_name(self.parts.name)} s JOIN temp.{PARTS} p ON p.id = s.{own}"
        return (
            f"WITH RECURSIVE down(id) AS ({pages}"
            f" UNION SELECT t.{key} FROM down JOIN main.{tree} t ON t.{parent} = down.id),"
            f" up(id) AS (SELECT id FROM down UNION {nodes}"
            f" UNION SELECT t.{parent} FROM up JOIN main.{tree} t ON t.{key} = up.id)"
            f" SELECT id FROM up WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM temp.{NODES})"
        )

    def find_hidden(self, raw: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
        """Return those of *ids* that are ids of rows which the views leave out."""
        listed = json_text(list(ids))
        along = f"SELECT value FROM json_each(?) WHERE value IN (SELECT id FROM temp.{PARTS})"
        return {row[0] for statement in (along, *self._asked) for row in raw.execute(statement, (listed,))}

    def are_places(self, raw: sqlite3.Connection, ids: set[str]) -> bool:
        """Return whether every one of *ids* is that of a document or of a part of a page."""
        tables = [table for table in (self.tree, self.parts) if table is not None]
        known_ids = {row_id for table in tables for row_id in _find_known(raw, table, ids)}
        return known_ids == ids

    def names_elsewhere(self, raw: sqlite3.Connection, ids: Collection[str]) -> bool:
        """Return whether one of *ids* is that of a row that lies on no document."""
        elsewhere = (
            table
            for table in self.schema.tables
            if (rules := rules_of(table)).document is None and rules.follows is None
            if rules.kind != "foreign" and table not in (self.tree, self.parts) and identity(table)
        )
        return any(_find_known(raw, table, ids) for table in elsewhere)

    def is_partial(self, raw: sqlite3.Connection, ids: Iterable[str]) -> bool:
        """Return whether one of *ids* is a document, or a part or file of one, of which something is withheld."""
        listed = json_text(list(ids))
        of_parts = ""
        if self.parts is not None:
            page, own = map(quote_name, (rules_of(self.parts).document or "", *key_columns(self.parts)))
            of_parts = (
                f" OR id IN (SELECT s.{page} FROM json_each(?1) j"
                f" JOIN main.{quote_name(self.parts.name)} s ON s.{own} = j.value)"
            )
        statement = (
            f"SELECT 1 FROM temp.{PAGES} WHERE id IN (SELECT value FROM json_each(?1)){of_parts} LIMIT 1"
        )
        return raw.execute(statement, (listed,)).fetchone() is not None

    def _make(self) -> Iterator[str]:
        if self.tree is None:
            return
        for table in self.schema.tables:
            rules = rules_of(table)
            if rules.kind == "foreign" or rules.follows is not None:
                continue
            conditions = list(self._conditions(table))
            if not conditions and rules.whole is None:
                continue
            self._covered[table.name] = table
            self.conditions[table.name] = [*conditions, *_whole_rows(table, rules.whole)]
            yield _view(table, self.conditions[table.name], rules.whole)
            if rules.kind == "tracked":
                yield _history_view(table, rules.whole)
        yield f"CREATE TEMP VIEW {IDS} AS {' UNION ALL '.join(self._withheld_ids()) or 'SELECT NULL AS id WHERE 0'}"
        # The log names rows only by their ids: a step that names a withheld one is left out.
        for table in (audit.audit_target, audit.audit):
            self._covered[table.name] = table
            yield _view(table, _log_conditions(table, self._shows_jobs), None)

    def _withheld_ids(self) -> Iterator[str]:
        """Select the ids of withheld rows of each tracked table, by the index of their documents where there is one."""
        beyond: dict[str, list[str]] = {}
        for table in self._covered.values():
            rules, key = rules_of(table), identity(table)
            if rules.kind != "tracked" or key is None or table is self.tree or table.name in self.along:
                continue
            rows = f"SELECT m.{quote_name(key)} AS id FROM main.{quote_name(table.name)} m WHERE"
            if rules.document is None:
                beyond[table.name] = [f"{rows} NOT ({' AND '.join(self._conditions(table))})"]
                yield from beyond[table.name]
                continue
            places = [(rules.document, NODES)] + [
                (reference.parent.name, PARTS)
                for reference in table.foreign_keys
                if self.parts is not None and reference.column.table.name == self.parts.name
            ]
            among = (f"{quote_name(column)} IN (SELECT id FROM temp.{name})" for column, name in places)
            yield f"{rows} {' OR '.join(among)}"
            # A page that is shown may have rows of what is withheld elsewhere: a sign of which the picture is on another.
            beyond[table.name] = [
                f"{rows} m.{quote_name(reference.parent.name)} IN ({of_another})"
                for reference in table.foreign_keys
                for of_another in beyond.get(reference.column.table.name, ())
            ]
            yield from beyond[table.name]

    def _conditions(self, table: Table) -> Iterator[str]:
        """Return the SQL conditions under which a row of *table*, called `m`, is visible."""
        rules = rules_of(table)
        if table.name in (*self.along, _OF_MANY[0]):
            yield _not_in(table.c[identity(table) or ""], PARTS)
        if table is self.tree or table is self.parts:
            (key,) = key_columns(table)
            yield _not_in(table.c[key], NODES if table is self.tree else PARTS)
        if table is self.tree:
            return
        targets = {key.parent.name: key.column for key in table.foreign_keys}
        if rules.document is not None:
            yield _not_in(table.c[rules.document], NODES)
        for column in table.columns:
            if column.name == rules.document:
                continue
            target = targets.get(column.name)
            if target is not None:
                yield from self._pointing(table, column, target)
        for column in _list_weak_columns(table):
            if column.name != rules.document:
                yield _not_in(column, NODES)
                yield _not_in(column, PARTS)
        for name in rules.names:
            yield _names_none(table.c[name], EVERYTHING)
        if rules.kind in _LOGS and not rules.names_many:
            for column in table.columns:
                if isinstance(column.type, Json):
                    of_many = (table.name, column.name) == _OF_MANY
                    yield (
                        self._names_another(column)
                        if of_many
                        else _names_none(column, jobs=self._shows_jobs and table.name != _OF_MANY[0])
                    )

    def _names_another(self, column: Column[object]) -> str:
        """SQL: the JSON of *column* names nothing that is withheld, or also a document that is not: work on many pages."""
        assert self.tree is not None
        (key,) = key_columns(self.tree)
        name = f"m.{quote_name(column.name)}"
        return (
            f"({_names_none(column, EVERYTHING)} OR EXISTS (SELECT 1 FROM json_tree({name}) j"
            f" JOIN temp.{quote_name(self.tree.name)} v ON v.{quote_name(key)} = j.value WHERE j.type = 'text'))"
        )

    def _pointing(self, table: Table, column: Column[object], target: Column[object]) -> Iterator[str]:
        # By name: it may be a stand-in for another family's table.
        target_table = target.table.name
        if self.tree is not None and target_table == self.tree.name:
            yield _not_in(column, NODES)
        elif self.parts is not None and target_table == self.parts.name:
            yield _not_in(column, PARTS)
        covered = self._covered.get(target_table)
        # Tables come parents before children; references back are skipped, or the views would be circular.
        if covered is not None and covered is not self.tree and covered is not table:
            empty = f"m.{quote_name(column.name)} IS NULL OR " if column.nullable else ""
            yield (
                f"({empty}EXISTS (SELECT 1 FROM temp.{quote_name(covered.name)} v"
                f" WHERE v.{quote_name(target.name)} = m.{quote_name(column.name)}))"
            )


def has_temporary(raw: sqlite3.Connection, name: str) -> bool:
    """Return whether the connection has a temporary table or view *name*."""
    return raw.execute("SELECT 1 FROM sqlite_temp_schema WHERE name = ?", (name,)).fetchone() is not None


def identity(table: Table) -> str | None:
    """Return the column by which callers name a row of *table*; None where it has no id of its own."""
    if "id" in table.c:
        return "id"
    keys = list(table.primary_key.columns)
    own = len(keys) == 1 and isinstance(keys[0].type, Text) and not keys[0].foreign_keys
    return keys[0].name if own and keys[0].name != rules_of(table).document else None


def _find_known(raw: sqlite3.Connection, table: Table, ids: Iterable[str]) -> list[str]:
    """Return those of *ids* that are ids of rows of *table*, whoever may see them."""
    name, key = quote_name(table.name), quote_name(identity(table) or "")
    query = f"SELECT {key} FROM main.{name} WHERE {key} IN (SELECT value FROM json_each(?))"
    return [row[0] for row in raw.execute(query, (json_text(list(ids)),))]


def _list_weak_columns(table: Table) -> list[Column[object]]:
    """Return the columns that hold an id without a foreign key."""
    texts = (column for column in table.columns if isinstance(column.type, Text))
    return [column for column in texts if column.name.endswith("_id") and not column.foreign_keys]


def _not_in(column: Column[object], withheld: str) -> str:
    name = f"m.{quote_name(column.name)}"
    condition = f"{name} NOT IN (SELECT id FROM temp.{withheld})"
    return f"({name} IS NULL OR {condition})" if column.nullable else condition


def _names_none(column: Column[object], among: Iterable[str] = (NODES, PARTS), *, jobs: bool = False) -> str:
    """SQL: the JSON of *column* names nothing that is withheld; of *jobs*, none that is about such things alone."""
    is_among = " OR ".join(f"j.value IN (SELECT id FROM temp.{name})" for name in among)
    if jobs:
        job = quote_name(_OF_MANY[0])
        is_among += (
            f" OR (EXISTS (SELECT 1 FROM main.{job} w WHERE w.id = j.value)"
            f" AND NOT EXISTS (SELECT 1 FROM temp.{job} w WHERE w.id = j.value))"
        )
    return f"NOT EXISTS (SELECT 1 FROM json_tree(m.{quote_name(column.name)}) j WHERE j.type = 'text' AND ({is_among}))"


def _log_conditions(table: Table, jobs: bool) -> list[str]:
    if "target_id" in table.c:
        return [_not_in(table.c.target_id, name) for name in EVERYTHING]
    return [_names_none(table.c[name], EVERYTHING, jobs=jobs) for name in ("target_ids", "params", "changed")]


def _whole_rows(table: Table, whole: Whole | None) -> Iterator[str]:
    """SQL: the row does not show as a whole a page of which something is withheld."""
    if whole is None or whole.columns:
        return
    owner = rules_of(table).document
    assert owner is not None
    condition = f"m.{quote_name(owner)} NOT IN (SELECT id FROM temp.{PAGES})"
    yield condition if whole.unless is None else f"(m.{quote_name(whole.unless)} IS NOT NULL OR {condition})"


def _view_columns(table: Table, whole: Whole | None) -> str:
    """Return the columns of a view: a text that shows a page as a whole is null where a part of it is withheld."""
    hidden = whole.columns if whole is not None else ()
    key = rules_of(table).document
    rowid = [] if table.dialect_options["sqlite"]["with_rowid"] is False else ["m.rowid AS rowid"]
    columns = (
        f"CASE WHEN m.{quote_name(str(key))} IN (SELECT id FROM temp.{PAGES}) THEN NULL"
        f" ELSE m.{quote_name(column.name)} END AS {quote_name(column.name)}"
        if column.name in hidden
        else f"m.{quote_name(column.name)}"
        for column in table.columns
    )
    return ", ".join([*rowid, *columns])


def _view(table: Table, conditions: list[str], whole: Whole | None) -> str:
    condition = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"CREATE TEMP VIEW {quote_name(table.name)} AS SELECT {_view_columns(table, whole)} FROM main.{quote_name(table.name)} m{condition}"


def _history_view(table: Table, whole: Whole | None) -> str:
    """Return the view of the images of visible rows; of a deleted row, none."""
    name = quote_name(history_name(table))
    columns = ", ".join(f"m.{quote_name(name)}" for name in ("seq", "audit_seq", "op", "kept"))
    return (
        f"CREATE TEMP VIEW {name} AS SELECT {columns}, {_view_columns(table, whole).removeprefix('m.rowid AS rowid, ')}"
        f" FROM main.{name} m WHERE EXISTS (SELECT 1 FROM temp.{quote_name(table.name)} v WHERE {same_key(table, 'v', 'm')})"
    )


def _version(raw: sqlite3.Connection) -> int:
    """Return a number that changes with each commit of another connection."""
    return int(raw.execute("PRAGMA data_version").fetchone()[0])
