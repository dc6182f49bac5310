"""The tables of one database: created, migrated and compared with the models when it is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import Connection, ForeignKeyConstraint, MetaData, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from armarium.errors import Conflict, ServiceError
from armarium.history import audit, capture, derived_indexes
from armarium.history.locks import Locks
from armarium.plugin import OF_THE_ENGINE, Migration, Plugin
from armarium.store import name_order
from armarium.store.database import APPLICATION_ID, Database, raw_of
from armarium.store.database_errors import is_the_disk
from armarium.store.tables import rules_of

if TYPE_CHECKING:
    from alembic.operations import Operations

_DIALECT = sqlite.dialect()
FORMAT = 1
"""The package format this engine writes; one integer, independent of the version."""

CORE_VERSION = 1
"""The version of the core's own tables and of the generated triggers; raising it recreates the triggers."""


@dataclass(frozen=True)
class Family:
    """One family's tables in one database, with the version they are at."""

    name: str
    version: int
    metadata: MetaData
    migrations: tuple[Migration, ...] = ()
    stranger: bool = False
    """Whether it is third-party: a project that it does not fit is opened without it."""


class FamilyFault(Exception):
    """The tables of one family cannot be brought to what its models say; `why` is the end of a sentence."""

    def __init__(self, family: str, why: str) -> None:
        super().__init__(f"{family}: {why}")
        self.family = family
        self.why = why


@contextmanager
def _blaming(family: str) -> Iterator[None]:
    """Attribute a failure in the block to *family*, unless the disk or the engine itself caused it."""
    try:
        yield
    except FamilyFault:
        raise
    except (Exception, SystemExit) as error:
        if family in OF_THE_ENGINE or isinstance(error, ServiceError) or is_the_disk(error):
            raise
        cause = getattr(error, "orig", None) or error
        raise FamilyFault(family, f"{type(cause).__name__}: {cause}") from error


def library_families(plugins: Iterable[Plugin], strangers: Collection[str] = ()) -> list[Family]:
    """Return the families of a project's database; *strangers* names those that are not part of Armarium."""
    return [
        Family(plugin.name, plugin.version, plugin.metadata, plugin.migrations, plugin.name in strangers)
        for plugin in plugins
        if plugin.metadata is not None
    ]


def engine_families(plugins: Iterable[Plugin], strangers: Collection[str] = ()) -> list[Family]:
    """Return the families of the engine's own database."""
    return [
        Family(name, plugin.engine_version, metadata, plugin.engine_migrations, name in strangers)
        for name, metadata, plugin in ((plugin.name, plugin.engine_metadata, plugin) for plugin in plugins)
        if metadata is not None
    ]


class Schema:
    """All tables of one kind of database, parents before children."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = list(families)
        self.tables: list[Table] = []
        self.home: dict[str, str] = {}
        for family in self.families:
            for table in family.metadata.sorted_tables:
                if rules_of(table).kind != "foreign" and table.name not in self.home:
                    self.home[table.name] = family.name
                    self.tables.append(table)
        self.tracked = [table for table in self.tables if rules_of(table).kind == "tracked"]
        self.indexes = [table for table in self.tables if rules_of(table).follows is not None]
        self.by_name = {table.name: table for table in self.tables}
        self._trigger_homes: dict[str, str] = {}
        self._strangers = {family.name for family in self.families if family.stranger}
        self.uses = [
            (used, self.by_name[user], column)
            for used in self.tracked
            for user, column in rules_of(used).used_by
            if user in self.by_name
        ]
        """(table, another, its column) where rows of the other refer to the table without a foreign key."""
        tree = next((table for table in self.tracked if rules_of(table).tree is not None), None)
        self.locks = Locks(self.tracked, tree) if tree is not None else None
        """The nodes that can be locked, where some family has them."""
        self.defers = all(
            key.deferrable and (key.initially or "").upper() == "DEFERRED"
            for table in self.tables
            for key in table.foreign_key_constraints
        )
        """Whether every foreign key is deferred until the commit."""

    def children_of(self, table: Table) -> list[tuple[Table, str, str]]:
        """Return (child table, its column, the column of *table* it refers to): foreign keys and `used_by`."""
        return [
            (child, key.parent.name, key.column.name)
            for child in self.tables
            for key in child.foreign_keys
            if key.column.table.name == table.name
        ] + [
            (user, column, capture.key_columns(table)[0]) for used, user, column in self.uses if used is table
        ]

    def fit(self, db: Database, *, before_change: Callable[[], None] | None = None) -> Schema:
        """Like `ensure`, but leave out a plugin whose tables fail, and those that refer to them; return the tables that
        remain.

        Tables left out stay as they were; `db.left_out` gives the reason for each.
        """
        left_out: dict[str, str] = {}
        schema = self
        once = None if before_change is None else cache(before_change)
        while True:
            try:
                schema.ensure(db, before_change=once)
            except FamilyFault as fault:
                for name in schema._standing_on(fault.family):
                    left_out[name] = f"it depends on the tables of {fault.family}, which is left out too"
                left_out[fault.family] = fault.why
                schema = Schema([family for family in self.families if family.name not in left_out])
                continue
            db.schema, db.left_out = schema, left_out
            return schema

    def _standing_on(self, family: str) -> set[str]:
        """Return the families with tables that refer to those of *family*, directly or through others."""
        families = {family}
        while True:
            more = {
                self.home[table.name]
                for table in self.tables
                for key in table.foreign_keys
                if self.home.get(key.column.table.name) in families
            }
            if more <= families:
                return families - {family}
            families |= more

    def ensure(self, db: Database, *, before_change: Callable[[], None] | None = None) -> bool:
        """Bring *db* to these tables: create what is missing, migrate what is older. Return whether anything changed.

        *before_change* (a snapshot) is called once before an existing database is altered; rebuilding an index alters
        nothing. Raises Conflict (library_too_new) when a family's tables were written by a later version, and
        FamilyFault when the tables of one plugin fail; then nothing was changed.
        """
        with db.read() as conn:
            raw = raw_of(conn)
            present = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            versions = "SELECT family, version FROM schema_version"
            at = dict(raw.execute(versions).fetchall()) if "schema_version" in present else {}
            stale = [table for table in self.indexes if derived_indexes.is_stale(raw, table)]
            outdated = name_order.find_outdated_indexes(raw)
        expected = {"core": CORE_VERSION} | {family.name: family.version for family in self.families}
        for name, version in at.items():
            if name in expected and version > expected[name]:
                if name in self._strangers:
                    raise FamilyFault(
                        name,
                        f"its tables were written by a newer version of it (tables {version}, this one knows "
                        f"{expected[name]}); install that one",
                    )
                raise Conflict(
                    f"{db.path.parent.name} was written by a newer version of {name} (tables {version}, this "
                    f"engine knows {expected[name]}). Update the engine to open it; nothing was changed.",
                    code="library_too_new",
                )
        missing = [table for table in self.tables if table.name not in present and table not in self.indexes]
        if not missing and all(at.get(name) == version for name, version in expected.items()):
            if stale or outdated:
                with db.write() as conn:
                    name_order.renew_indexes(raw_of(conn))
                    for table in stale:
                        derived_indexes.rebuild(conn, table)
            self._compare(db)
            return bool(stale or outdated)
        if at and before_change is not None:
            before_change()
        with db.write() as conn:
            name_order.renew_indexes(raw_of(conn))
            self._create(conn, present, at)
            self._migrate(conn, at)
            created = _names(conn)
            for table in self.tables:
                if table.name not in present and table.name not in created:
                    self._create_table(conn, table)
            for table in self.indexes:
                # A migration may have recreated the followed table, which gives its rows other numbers.
                home = self.home[table.name]
                if table in stale or at.get(home) != expected[home]:
                    with _blaming(home):
                        derived_indexes.rebuild(conn, table)
            self._regenerate(conn)
            raw_of(conn).executemany(
                "INSERT INTO schema_version (family, version) VALUES (?, ?) "
                "ON CONFLICT (family) DO UPDATE SET version = excluded.version",
                list(expected.items()),
            )
        self._compare(db)
        return True

    def _create(self, conn: Connection, present: set[str], at: dict[str, int]) -> None:
        """Create the core's tables, and those of families new to this database."""
        conn.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.exec_driver_sql(f"PRAGMA user_version = {FORMAT}")
        conn.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS schema_version (family TEXT PRIMARY KEY, version INTEGER NOT NULL)"
        )
        for statement in capture.STEP_TABLES:
            conn.exec_driver_sql(statement)
        if not audit.metadata.tables.keys() <= present:
            audit.metadata.create_all(conn)
        for table in self.tables:
            if table.name not in present and self.home[table.name] not in at:
                self._create_table(conn, table)

    def _create_table(self, conn: Connection, table: Table) -> None:
        with _blaming(self.home[table.name]):
            self._make_table(conn, table)

    def _make_table(self, conn: Connection, table: Table) -> None:
        if table in self.indexes:
            # Built from the rows of the table it follows, once all tables exist and are migrated.
            return
        keep = frozenset(
            constraint
            for constraint in table.foreign_key_constraints
            if constraint.referred_table.name in self.by_name
        )
        for statement in _table_ddl(table, keep):
            conn.exec_driver_sql(statement)

    def _migrate(self, conn: Connection, at: dict[str, int]) -> None:
        for family in self.families:
            since = at.get(family.name)
            if since is None or since == family.version:
                continue
            from alembic.operations import Operations
            from alembic.runtime.migration import MigrationContext

            operations = Operations(MigrationContext.configure(conn))
            for migration in sorted(family.migrations, key=lambda migration: migration.version):
                if since < migration.version <= family.version:
                    with _blaming(family.name):
                        migration.upgrade(operations)
                        if not raw_of(conn).in_transaction:
                            raise RuntimeError("it ended the transaction in which tables are migrated")

    def _regenerate(self, conn: Connection) -> None:
        """Recreate every trigger that differs from the models."""
        present = _triggers_in(raw_of(conn))
        for name, statement in self.triggers.items():
            if present.get(name) == statement:
                continue
            if name in present:
                conn.exec_driver_sql(f"DROP TRIGGER {capture.quote_name(name)}")
            with _blaming(self._trigger_homes.get(name, "library")):
                conn.exec_driver_sql(statement)
        for table in self.tracked:
            for statement in capture.history_index_ddl(table):
                conn.exec_driver_sql(statement)

    @cached_property
    def triggers(self) -> dict[str, str]:
        """Return every trigger these models require: name to statement."""
        statements = (
            capture.audit_triggers(column.name for column in audit.audit.columns) | capture.step_triggers()
        )
        for table in self.tables:
            with _blaming(self.home[table.name]):
                of_table = capture.trigger_ddl(table) | derived_indexes.trigger_ddl(table)
            self._trigger_homes |= dict.fromkeys(of_table, self.home[table.name])
            statements |= of_table
        return statements

    def _compare(self, db: Database) -> None:
        """Refuse writes when triggers or columns differ from the models."""
        with db.read() as conn:
            raw = raw_of(conn)
            triggers = _triggers_in(raw)
            for name, statement in self.triggers.items():
                if triggers.get(name) != statement:
                    state = "is missing from" if name not in triggers else "was changed in"
                    if (home := self._trigger_homes.get(name)) in self._strangers:
                        raise FamilyFault(
                            home,
                            f"its tables here are not what it says (the trigger {name} {state} the project); a migration of it "
                            "must bring them there",
                        )
                    db.refusal = (
                        f"The trigger {name}, which keeps the history or an index, {state} {db.path.parent.name}. "
                        "Reading goes on; writes are refused. Restore a snapshot."
                    )
                    return
            columns_in = _all_columns(raw)
            for table in self.tables:
                names = {column.name for column in table.columns}
                expected = {table.name: names}
                if table in self.tracked:
                    expected[capture.history_name(table)] = names | capture.OWN_COLUMNS
                for name, columns in expected.items():
                    if lacking := columns.difference(columns_in.get(name.lower(), ())):
                        if (home := self.home[table.name]) in self._strangers:
                            raise FamilyFault(
                                home,
                                f"its table {name} lacks the column {min(lacking)} here; a migration of it must bring them there",
                            )
                        db.refusal = (
                            f"The table {name} lacks the column {min(lacking)}. Reading goes on; writes are refused "
                            "until a migration adds it, or a snapshot is restored."
                        )
                        return
        db.refusal = None


def alter_tracked(operations: Operations, table: str, alter: Callable[[str], None]) -> None:
    """Alter a tracked table and its history alike: *alter* is called with the name of each.

    For `Migration.upgrade`: `alter_tracked(op, "segment", lambda name: op.add_column(name, Column(...)))`.
    """
    name = capture.history_name(table)
    raw = raw_of(operations.get_bind())
    # A column that a trigger names cannot be dropped; all triggers are recreated after the migrations.
    for (trigger,) in raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN (?, ?)", (table, name)
    ).fetchall():
        raw.execute(f"DROP TRIGGER {capture.quote_name(trigger)}")
    alter(table)
    before = _columns(raw, name)
    alter(name)
    capture.rename_kept(raw, name, before, _columns(raw, name))


@lru_cache(maxsize=1024)
def _table_ddl(table: Table, keep: frozenset[ForeignKeyConstraint]) -> tuple[str, ...]:
    """Return the statements that create *table* with the foreign keys *keep*, its indexes and its history."""
    is_tracked = rules_of(table).kind == "tracked"
    if is_tracked:
        for column in table.columns:
            if not column.nullable and not column.primary_key:
                # For the same reason as in the triggers: see `capture._tracked_triggers`.
                column.dialect_options["sqlite"]["on_conflict_not_null"] = "ROLLBACK"
    statements: list[DDLElement] = [
        CreateTable(table, include_foreign_key_constraints=list(keep)),
        *(CreateIndex(index) for index in sorted(table.indexes, key=lambda i: str(i.name))),
    ]
    history = capture.history_ddl(table) if is_tracked else []
    return (*(str(statement.compile(dialect=_DIALECT)) for statement in statements), *history)


def _triggers_in(raw: sqlite3.Connection) -> dict[str, str]:
    return dict(raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())


def _columns(raw: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in raw.execute(f"PRAGMA table_info({capture.quote_name(table)})")]


def _all_columns(raw: sqlite3.Connection) -> dict[str, set[str]]:
    # One statement: 250 of them took a third of the time of opening a project. Names in lower case, as SQLite compares
    # them.
    columns_by_table: dict[str, set[str]] = {}
    for table, column in raw.execute(
        "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_xinfo(m.name) AS c WHERE m.type = 'table'"
    ):
        columns_by_table.setdefault(table.lower(), set()).add(column)
    return columns_by_table


def _names(conn: Connection) -> set[str]:
    return {row[0] for row in raw_of(conn).execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
