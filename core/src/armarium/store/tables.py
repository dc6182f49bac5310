"""What kind of table a table is: tracked, append-only, operational or derived, said in its `info`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from sqlalchemy import Column, Dialect, Float, ForeignKey, Integer, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator

TableKind = Literal["tracked", "append-only", "operational", "derived", "foreign"]


@dataclass(frozen=True)
class Follows:
    """What a derived index holds of the table it follows; `armarium.history.derived_indexes` makes it and keeps it in step."""

    table: Table
    module: str
    """The virtual table's module ("rtree")."""
    values: Mapping[str, str]
    """Column of the index to the SQL that gives it, in which `{row}` stands for the followed row."""
    where: str
    """SQL, with `{row}` likewise: the rows that are in the index."""
    columns: tuple[str, ...]
    """The followed table's columns that `values` and `where` read: a change of any of them is a change here."""
    options: tuple[str, ...] = ()
    """What the module is told beside the columns ("tokenize='ascii'")."""

    @property
    def of_words(self) -> bool:
        """Whether it is an index of words (FTS5), which keeps no values of its own but reads those of the table."""
        return self.module == "fts5"


@dataclass(frozen=True)
class Tree:
    """The columns by which the rows of a table lie beneath one another and are locked.

    What belongs to a locked row, or to a row beneath it, is changed by owners only; the core sees to that in every
    step, its undo and its redo. A project has one such table.
    """

    parent: str
    locked: str
    name: str
    order: str | None = None
    """Where a row stands among its siblings: to change that alone is to change the parent."""


@dataclass(frozen=True)
class Whole:
    """What of a table shows a page as a whole: a picture of it, its text in one piece.

    Where a part of the page is withheld from a caller, so is this; the page itself is not.
    """

    unless: str | None = None
    """A column that names a part of the page: only rows in which it is null show the page as a whole."""
    columns: tuple[str, ...] = ()
    """The columns that do; none: the row."""


@dataclass(frozen=True)
class TableRules:
    """How the engine treats the rows of one table."""

    kind: TableKind
    label: str | None = None
    """What a row is called in a sentence ("document", "segment")."""
    monotonic: frozenset[str] = frozenset()
    """Columns that only grow: left out of undo's comparison, and raised (never lowered) by an undo."""
    large: frozenset[str] = frozenset()
    """Columns with long values: whether they changed is asked last."""
    document: str | None = None
    """Name of the column that says which document a row belongs to; trash, transfer, purge and locks follow it."""
    tree: Tree | None = None
    """Set on the table whose rows are the nodes that can be locked."""
    heeds_locks: bool = True
    """False where a row only tells of a document and may be written though the document is locked."""
    used_by: tuple[tuple[str, str], ...] = ()
    """(table, column) of rows that name one of this table without a foreign key: undo does not take it from them."""
    follows: Follows | None = None
    """Set on a derived index: the table it follows."""
    whole: Whole | None = None
    """Set where rows show a page as a whole, which needs `document`."""
    names_many: bool = False
    """Whether the JSON of a row may name documents that are withheld from a caller who sees the row all the same."""


def tracked(
    *,
    label: str,
    monotonic: Iterable[str] = (),
    large: Iterable[str] = (),
    document: str | None = None,
    tree: Tree | None = None,
    heeds_locks: bool = True,
    used_by: Iterable[tuple[str, str]] = (),
    whole: Whole | None = None,
) -> dict[str, Any]:
    """`info` of a table that only actions write and that undo can put back.

    A row belongs to the document that its *document* column names, and to those that its foreign keys lead to; an
    editor changes it only where none of these is locked.
    """
    rules = TableRules(
        "tracked",
        label,
        frozenset(monotonic),
        frozenset(large),
        document,
        tree,
        heeds_locks,
        tuple(used_by),
        whole=whole,
    )
    return {"rules": rules}


def append_only(document: str | None = None, *, whole: Whole | None = None) -> dict[str, Any]:
    """`info` of a table whose rows are never changed; only a purge removes any."""
    return {"rules": TableRules("append-only", document=document, whole=whole)}


def operational(*, names_many: bool = False) -> dict[str, Any]:
    """`info` of a table of the engine's own workings (jobs, leases, presence): no history, no undo.

    A row whose JSON names a document that is withheld from a caller is withheld too, but with *names_many*: then the family
    shows it without what is withheld (`withheld_nodes`).
    """
    return {"rules": TableRules("operational", names_many=names_many)}


def derived(document: str | None = None, *, whole: Whole | None = None) -> dict[str, Any]:
    """`info` of a table that can be rebuilt from the others."""
    return {"rules": TableRules("derived", document=document, whole=whole)}


def derived_index(
    name: str,
    metadata: MetaData,
    follows: Table,
    *,
    module: str,
    values: Mapping[str, str],
    columns: Iterable[str],
    where: str = "1",
    options: Iterable[str] = (),
) -> Table:
    """A virtual table of SQLite (an R*Tree, say) with a row for each row of *follows* that is *where*.

    The database keeps it in step itself, by triggers, whoever writes: an action, its undo, a bulk statement, a
    purge. It is made where it is missing and made anew where it is not what is said here. Its first column,
    `number`, is the followed row's `rowid`; *values* are the others, in order: column name to SQL in which `{row}`
    stands for the followed row. *columns* names all columns of *follows* that *values* and *where* read. *options*
    are what the module is told beside its columns.

    With the module `fts5` it is an index of words over columns of *follows*, whose texts stay where they are: each of
    *values* is a column of *follows* under its own name, and the number is the index's `rowid`.
    """
    follow = Follows(follows, module, dict(values), where, tuple(columns), tuple(options))
    rules = TableRules("derived", follows=follow)
    # An index of words is read by its `rowid`, which every table has.
    number = [] if follow.of_words else [Column("number", Integer, primary_key=True)]
    return Table(
        name,
        metadata,
        *number,
        *(Column(column, Text if follow.of_words else Float) for column in values),
        info={"rules": rules},
    )


def provenance_columns() -> tuple[Column[str], Column[str], Column[str], Column[str]]:
    """Who made a row and when, as `ActionContext.provenance` says it; never taken from a body."""
    return (
        Column("provenance_kind", Text, nullable=False),
        Column("created_by", Text),
        Column("run_id", Text),
        Column("created_at", Text, nullable=False),
    )


def reference(
    name: str, to: Column[Any] | str, *, required: bool = True, index: bool = True, **how: Any
) -> Column[str]:
    """A column that holds the id of a row of another table: indexed, checked at the commit, never cascading."""
    key = ForeignKey(to, deferrable=True, initially="DEFERRED")
    return Column(name, Text, key, nullable=not required, index=index, **how)


def foreign_table(metadata: MetaData, name: str) -> Table:
    """A stand-in for a table that another family may bring, so that a foreign key can point at it.

    The stand-in is never created; where no loaded family brings the table, the foreign keys to it are left out.
    """
    if name in metadata.tables:
        return metadata.tables[name]
    return Table(name, metadata, Column("id", Text, primary_key=True), info={"rules": TableRules("foreign")})


def rules_of(table: Table) -> TableRules:
    """The rules *table* states; a table that states none is tracked, the safe choice."""
    rules = table.info.get("rules")
    return rules if isinstance(rules, TableRules) else TableRules("tracked", table.name)


def json_text(value: object) -> str:
    """*value* as the JSON text a `Json` column holds."""
    return orjson.dumps(value).decode()


class Json(TypeDecorator[Any]):
    """A JSON value kept as text; Python's None is SQL NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return None if value is None else orjson.loads(value)
