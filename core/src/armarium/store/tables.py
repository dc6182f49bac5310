"""The kind of a table, stated in its `info`: tracked, append-only, operational or derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from sqlalchemy import Column, Dialect, Float, ForeignKey, Index, Integer, MetaData, Table, Text, event
from sqlalchemy.types import TypeDecorator

TableKind = Literal["tracked", "append-only", "operational", "derived", "foreign"]


@dataclass(frozen=True)
class Follows:
    """What a derived index holds of the table it follows; `armarium.history.derived_indexes` creates and maintains it."""

    table: Table
    module: str
    """The virtual table's module ("rtree")."""
    values: Mapping[str, str]
    """Column of the index to its SQL value, in which `{row}` stands for the followed row."""
    where: str
    """SQL condition, with `{row}` likewise: which rows are in the index."""
    columns: tuple[str, ...]
    """The followed table's columns that `values` and `where` read: a change of any of them updates the index."""
    options: tuple[str, ...] = ()
    """Options passed to the module after the columns ("tokenize='ascii'")."""

    @property
    def of_words(self) -> bool:
        """Whether it is a full-text index (FTS5), which stores no values of its own but reads those of the table."""
        return self.module == "fts5"


@dataclass(frozen=True)
class Tree:
    """The columns by which the rows of a table lie beneath one another and are locked.

    What belongs to a locked row, or to a row beneath it, can only be changed by owners; the core enforces that in every
    step, its undo and its redo. A project has one such table.
    """

    parent: str
    locked: str
    name: str
    order: str | None = None
    """The position of a row among its siblings: changing only that counts as changing the parent."""


@dataclass(frozen=True)
class Whole:
    """What in a table shows a page as a whole: a picture of it, its text in one piece.

    Where a part of the page is withheld from a caller, so is this; the page itself is not.
    """

    unless: str | None = None
    """A column that names a part of the page: only rows in which it is null show the page as a whole."""
    columns: tuple[str, ...] = ()
    """The columns concerned; empty: the row."""


@dataclass(frozen=True)
class Structure:
    """Columns whose change touches all that refers to a row: it was withdrawn, joined with others or split.

    Where one side of a branch changes them and the other the row or what hangs on it, that is a conflict.
    """

    columns: tuple[str, ...]
    step: str | None = None
    """The one of *columns* that names the step: rows with the same were joined or split together, and are merged together."""


@dataclass(frozen=True)
class Choice:
    """Columns of a table whose rows say which row of another counts. Where the sides of a branch chose or made what reads
    differently, that is a conflict.
    """

    of: str
    """The column that names the row that counts."""
    text: str
    """The column of the other table that is compared."""


@dataclass(frozen=True)
class TableRules:
    """How the engine treats the rows of one table."""

    kind: TableKind
    label: str | None = None
    """The word for a row in a sentence ("document", "segment")."""
    monotonic: frozenset[str] = frozenset()
    """Columns that only grow: ignored by undo's comparison, and raised (never lowered) by an undo."""
    large: frozenset[str] = frozenset()
    """Columns with long values, which are compared last."""
    document: str | None = None
    """Name of the column with the document a row belongs to; used by trash, transfer, purge and locks."""
    tree: Tree | None = None
    """Set on the table whose rows are the nodes that can be locked."""
    heeds_locks: bool = True
    """False where a row is only about a document and may be written even if the document is locked."""
    used_by: tuple[tuple[str, str], ...] = ()
    """(table, column) of rows that refer to this table without a foreign key: undo does not remove what they refer to.
    """
    follows: Follows | None = None
    """Set on a derived index: the table it follows."""
    whole: Whole | None = None
    """Set where rows show a page as a whole; requires `document`."""
    names_many: bool = False
    """Whether the JSON of a row may name documents that are withheld from a caller who sees the row all the same."""
    names: tuple[str, ...] = ()
    """JSON columns that name documents, parts of pages or what belongs to them: a row that names a withheld one is
    withheld too.
    """
    through: tuple[str, str] | None = None
    """(table, column) of the rows by which a row without a document of its own belongs to documents."""
    rivals: tuple[str, ...] = ()
    """Columns that say what a row is of, where two rows of the same are rivals: made on both sides of a branch, they are
    a conflict."""
    ended: str | None = None
    """The column that is null while a row stands: rivals are those that stand on both sides. Where one of theirs is taken, ours
    ends."""
    choice: Choice | None = None
    """Set where a row says which row of another table counts; requires `rivals` of the same in both."""
    structure: Structure | None = None
    stays_here: bool = False
    """Whether rows are about this project alone (what runs in it, folders it keeps): a branch has none of them, and none are
    merged."""
    own_keys: frozenset[str] = frozenset()
    """Keys of single rows of which that holds, except that a branch begins with them."""
    carried: bool = False
    """Whether derived rows go along where their documents are copied or merged, because nothing there makes them anew."""


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
    names: Iterable[str] = (),
    through: tuple[str, str] | None = None,
    rivals: Iterable[str] = (),
    ended: str | None = None,
    choice: Choice | None = None,
    structure: Structure | None = None,
    stays_here: bool = False,
    own_keys: Iterable[str] = (),
) -> dict[str, Any]:
    """Return `info` of a table that only actions write and that undo can restore.

    A row belongs to the document that its *document* column names, to those that its foreign keys lead to, and, with
    *through* (a table and its column that refers to this one), to those of the rows there that refer to it (a statement
    to the pages of its evidence); an editor may change it only where none of these is locked.
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
        names=tuple(names),
        through=through,
        rivals=tuple(rivals),
        ended=ended,
        choice=choice,
        structure=structure,
        stays_here=stays_here,
        own_keys=frozenset(own_keys),
    )
    return {"rules": rules}


def append_only(document: str | None = None, *, whole: Whole | None = None) -> dict[str, Any]:
    """Return `info` of a table whose rows are never changed; only a purge removes any."""
    return {"rules": TableRules("append-only", document=document, whole=whole)}


def operational(*, names_many: bool = False, stays_here: bool = False) -> dict[str, Any]:
    """Return `info` of a table for the engine's own operation (jobs, leases, presence): no history, no undo.

    A row whose JSON names a document that is withheld from a caller is withheld too, unless *names_many* is set: then
    the family shows it without what is withheld (`withheld_nodes`). *stays_here*: a branch begins without these rows.
    """
    return {"rules": TableRules("operational", names_many=names_many, stays_here=stays_here)}


def derived(
    document: str | None = None, *, whole: Whole | None = None, carried: bool = False
) -> dict[str, Any]:
    """Return `info` of a table that can be rebuilt from the others. With *carried*, a branch of a part of the project takes the
    rows of its documents along, and a merge those of the pages that it brings.
    """
    return {"rules": TableRules("derived", document=document, whole=whole, carried=carried)}


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
    """Return a virtual table of SQLite (an R*Tree, say) with a row for each row of *follows* that meets *where*.

    The database itself maintains it by triggers, whoever writes: an action, its undo, a bulk statement, a purge. It is
    created where it is missing and rebuilt where it differs from this declaration. Its first column, `number`, is the
    followed row's `rowid`; *values* are the others, in order: column name to SQL in which `{row}` stands for the
    followed row. *columns* names all columns of *follows* that *values* and *where* read. *options* are passed to the
    module after its columns.

    With the module `fts5` it is a full-text index over columns of *follows*, whose texts stay where they are: each of
    *values* is a column of *follows* under its own name, and the number is the index's `rowid`.
    """
    follow = Follows(follows, module, dict(values), where, tuple(columns), tuple(options))
    rules = TableRules("derived", follows=follow)
    # A full-text index is read by its `rowid`, which every table has.
    number = [] if follow.of_words else [Column("number", Integer, primary_key=True)]
    return Table(
        name,
        metadata,
        *number,
        *(Column(column, Text if follow.of_words else Float) for column in values),
        info={"rules": rules},
    )


def provenance_columns() -> tuple[Column[str], Column[str], Column[str], Column[str]]:
    """Return the columns for who made a row and when, as filled by `ActionContext.provenance`; never taken from a body."""
    return (
        Column("provenance_kind", Text, nullable=False),
        Column("created_by", Text),
        Column("run_id", Text),
        Column("created_at", Text, nullable=False),
    )


def reference(
    name: str, to: Column[Any] | str, *, required: bool = True, index: bool = True, **how: Any
) -> Column[str]:
    """Return a column that holds the id of a row of another table: indexed, checked at the commit, never cascading.

    Where rows may refer to nothing, those that do are not in the index: it stays small, and SQLite does not search it
    for the many without.
    """
    key = ForeignKey(to, deferrable=True, initially="DEFERRED")
    column = Column(name, Text, key, nullable=not required, index=index and required, **how)
    if index and not required:
        event.listen(column, "after_parent_attach", _index_references)
    return column


def _index_references(column: Column[str], table: Table) -> None:
    Index(f"ix_{table.name}_{column.name}", column, sqlite_where=column.is_not(None))


def foreign_table(metadata: MetaData, name: str) -> Table:
    """Return a stand-in for a table that another family may have, so that a foreign key can refer to it.

    The stand-in is never created; where no loaded family has the table, the foreign keys to it are left out.
    """
    if name in metadata.tables:
        return metadata.tables[name]
    return Table(name, metadata, Column("id", Text, primary_key=True), info={"rules": TableRules("foreign")})


def rules_of(table: Table) -> TableRules:
    """Return the rules *table* states; a table that states none is tracked, the safe choice."""
    rules = table.info.get("rules")
    return rules if isinstance(rules, TableRules) else TableRules("tracked", table.name)


def json_text(value: object) -> str:
    """Return *value* as the JSON text a `Json` column holds."""
    return orjson.dumps(value).decode()


class Json(TypeDecorator[Any]):
    """A JSON value stored as text; Python's None is SQL NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return None if value is None else orjson.loads(value)
