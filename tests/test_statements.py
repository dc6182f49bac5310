"""No statement of a family names a table of another one or of the core: the owner's `api` offers columns, rows, a query,
or the write.

Checked twice: in the source, where an SQL text takes the table from the owner's object and no other family's table is
written to; and in the database, where each statement's writes are attributed to a family.
"""

from __future__ import annotations

import ast
import importlib
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Table, event
from sqlalchemy import engine as databases

from armarium.api import ActionContext, Engine, Example, Library, Principal, rules_of
from armarium.history import audit
from armarium.plugins.registry import core_plugins
from armarium_testing.examples import example_of
from checkout import families, place, text

PACKAGES = {
    package.name: package
    for dist in families()
    for package in dist.packages
    if (package / "plugin.py").is_file()
}
OWNER = Principal("person", "owner", "owner", token_kind="owner", folders=None)
IS_SQL = re.compile(r"\b(SELECT|FROM|JOIN|INTO|UPDATE|DELETE|WHERE|EXISTS|VALUES)\b")
CHANGES = re.compile(r"\b(bulk_insert|insert|update|delete)\(")
NO_NAME = re.compile(r"'[^']*'|:\w+|--[^\n]*")
"""Parts of SQL that cannot be a table's name: strings, parameters, comments."""
WRITES = re.compile(r"\b(?:INTO|UPDATE|DELETE FROM)\s*$")
OF_ANY_FAMILY = {
    "armarium_documents.actions.purge": "Empty Trash removes the rows of every family, as their tables declare",
    "armarium_documents.actions.transfer": "a transfer carries the rows of every family, as their tables declare",
    "armarium_agents.branches": "the core makes, merges and packs a branch for it, with the rows of every family",
}


@cache
def owners() -> dict[str, str]:
    """Return each table with the package of its family."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        plugin = importlib.import_module(f"{package}.plugin").armarium_plugin()
        for table in plugin.metadata.tables.values() if plugin.metadata is not None else ():
            if rules_of(table).kind != "foreign":
                found[table.name] = package
    return found | dict.fromkeys(core_tables(), "armarium")


@cache
def core_tables() -> frozenset[str]:
    """Return the tables of the core, which families read through `armarium.api` and never write."""
    plugins = [module.armarium_plugin() for module in core_plugins()]
    held_plugins = [
        held for plugin in plugins for held in (plugin.metadata, plugin.engine_metadata) if held is not None
    ]
    return frozenset(
        {"schema_version", "audit_current"}.union(
            audit.metadata.tables, *(held_plugin.tables for held_plugin in held_plugins)
        )
    )


def texts_of(tree: ast.Module) -> Iterator[tuple[int, str, list[ast.expr]]]:
    """Yield line, text (with a mark for each interpolated value) and those values, of each string except docstrings."""
    passed = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Constant) and (parts := list(pieces_of(node))):
            passed |= {id(inside) for inside in ast.walk(node)}
            written = "".join(part if isinstance(part, str) else "\0" for part in parts)
            yield node.lineno, written, [part for part in parts if not isinstance(part, str)]


def pieces_of(node: ast.expr) -> Iterator[str | ast.expr]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from [part.value] if isinstance(part, ast.FormattedValue) else pieces_of(part)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [list(pieces_of(side)) for side in (node.left, node.right)]
        if any(sides):
            for side, parts in zip((node.left, node.right), sides, strict=True):
                yield from parts or [side]


def table_in(module: ModuleType, node: ast.expr) -> Table | None:
    """Return the table that an expression of names and attributes refers to in *module*."""
    if isinstance(node, ast.Name):
        value = getattr(module, node.id, None)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        value = getattr(getattr(module, node.value.id, None), node.attr, None)
    else:
        return None
    return value if isinstance(value, Table) else None


def faults_in(source: str, module: ModuleType, package: str) -> list[str]:
    """Return how *source*, a module of the family *package* imported as *module*, uses tables of others."""
    if not IS_SQL.search(source) and not CHANGES.search(source):
        return []
    tree = ast.parse(source)
    foreign = {name for name, owner in owners().items() if owner != package}
    named = re.compile(rf"\b({'|'.join(sorted(foreign))})(__history)?\b")
    faults = []
    for line, written, values in texts_of(tree):
        if not IS_SQL.search(written):
            continue
        faults += [f"{line}: names {found.group()}" for found in named.finditer(NO_NAME.sub("", written))]
        for before, value in zip(written.split("\0"), values, strict=False):
            table = table_in(module, value)
            if table is not None and table.name in foreign and WRITES.search(before):
                faults.append(f"{line}: writes to {table.name}")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("insert", "update", "delete", "bulk_insert"):
            method_of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            tables = (table_in(module, one) for one in (*method_of, *node.args))
            faults += [
                f"{node.lineno}: writes to {table.name}"
                for table in tables
                if table is not None and table.name in foreign
            ]
    return faults


def modules_of(package: str) -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGES[package].rglob("*.py")):
        inside = path.relative_to(PACKAGES[package].parent).with_suffix("")
        yield path, ".".join(part for part in inside.parts if part != "__init__")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_source_of_a_family_names_a_table_of_another(package: str) -> None:
    assert owners()
    faults = [
        f"{place(path)}:{fault}"
        for path, name in modules_of(package)
        if path.name != "cli.py" and ".cli" not in name
        for fault in faults_in(text(path), importlib.import_module(name), package)
    ]
    assert not faults, "\n".join(["ask the owner's api for columns, rows, a query or the write:", *faults])


@pytest.mark.parametrize(
    "planted",
    [
        'SQL = "SELECT id FROM document WHERE id = ?"',
        'SQL = f"SELECT {1} FROM image_cut c JOIN document d ON d.id = c.child_id"',
        'SQL = "SELECT 1 FROM " + "rendition"',
        'SQL = "SELECT 1 " "FROM content_representation__history"',
        'SQL = f"UPDATE {documents} SET name = ?"',
        'SQL = f"INSERT INTO {documents} VALUES (1)"',
        "def write(ctx): ctx.conn.execute(documents.update().values(name=1))",
        "def write(ctx): ctx.conn.execute(delete(documents))",
        "def write(ctx): ctx.bulk_insert(documents, (), [])",
        "SQL = \"SELECT 1 FROM job WHERE state = 'waiting'\"",
        'SQL = "SELECT seq FROM audit WHERE set_id = ?"',
        'SQL = f"SELECT {1} FROM image_cut c JOIN audit_target t ON t.target_id = c.child_id"',
        'SQL = "UPDATE audit SET gone = 1 WHERE seq = ?"',
        'SQL = "SELECT version FROM schema_version"',
    ],
)
def test_a_planted_statement_is_found(planted: str) -> None:
    module = importlib.import_module("armarium_images.queries")
    assert len(faults_in(planted, module, "armarium_images")) == 1
    is_core = "audit" in planted or "job" in planted or "schema" in planted
    assert is_core or "image_cut" in planted or not faults_in(planted, module, "armarium_documents")


def test_what_is_no_statement_on_anothers_table_is_let_be() -> None:
    module = importlib.import_module("armarium_images.queries")
    for source in (
        '"""SELECT id FROM document"""',
        "SQL = \"SELECT 1 FROM image_cut WHERE kind = 'document' AND id = :document\"",
        'SQL = f"SELECT d.id FROM {documents} d WHERE d.id = ?"',
        'KIND = "document"',
        "FOUND = select(documents.c.id)",
    ):
        assert faults_in(source, module, "armarium_images") == []


_KINDS = {
    sqlite3.SQLITE_INSERT: "inserts into",
    sqlite3.SQLITE_UPDATE: "updates",
    sqlite3.SQLITE_DELETE: "deletes from",
}


@contextmanager
def listening() -> Iterator[set[str]]:
    """Record which family writes to another's table during the block, with SQLite's authorizer at each statement."""
    heard: set[str] = set()

    def ask(
        what: int, table: str | None, column: str | None, database: str | None, trigger: str | None
    ) -> int:
        owner = owners().get(table or "")
        if what in _KINDS and owner is not None and trigger is None:
            writer = next((name for name in names_on_the_way() if is_family(name) or owner == "armarium"), "")
            if writer.partition(".")[0] not in ("", owner) and not writer.startswith(tuple(OF_ANY_FAMILY)):
                heard.add(f"{writer} {_KINDS[what]} {table}")
        return sqlite3.SQLITE_OK

    def note_connection(connection: Any, record: Any) -> None:
        connection.set_authorizer(ask)

    event.listen(databases.Engine, "connect", note_connection)
    try:
        yield heard
    finally:
        event.remove(databases.Engine, "connect", note_connection)


def is_family(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def names_on_the_way() -> Iterator[str]:
    """Return the modules of the core and of families on the call stack, the innermost first."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if is_family(name) or name.startswith("armarium."):
            yield name
        frame = frame.f_back


@pytest.fixture
def heard() -> Iterator[set[str]]:
    with listening() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_only_the_owner_writes_to_a_table(
    heard: set[str], make_engine: Callable[..., Engine], tmp_path: Path, package: str
) -> None:
    """Checks what the example of each action writes, including its preparations."""
    engine = make_engine()
    plugin = next(one for one in engine.plugins.loaded if one.name == package.removeprefix("armarium_"))
    for number, action in enumerate(plugin.actions):
        place = tmp_path / f"{number}.library"
        engine.run(None, "library.create", {"path": str(place)}, OWNER)
        library = engine.libraries.get(place)
        ground = Example(engine, library, OWNER, tmp_path / str(number))
        ground.folder.mkdir()
        example = example_of(engine, action)
        assert example is not None
        engine.run(library, action.name, dict(example(ground)), OWNER)
        engine.libraries.release(library.path)
    assert heard == set()


def test_a_planted_write_is_detected(heard: set[str], engine: Engine, library: Library) -> None:
    planted = {"__name__": "armarium_images.planted"}
    exec("def write(ctx): ctx.conn.exec_driver_sql(\"UPDATE document SET path = 'x'\")", planted)

    def write(ctx: ActionContext) -> None:
        planted["write"](ctx)  # type: ignore[operator]

    engine.run(library, "document.create", {"name": "Letters"}, OWNER, in_transaction=write)
    assert heard == {"armarium_images.planted updates document"}


def test_a_planted_write_to_a_table_of_the_core_is_detected(
    heard: set[str], engine: Engine, library: Library
) -> None:
    planted = {"__name__": "armarium_images.planted"}
    exec("def write(ctx): ctx.conn.exec_driver_sql('UPDATE audit SET gone = 1')", planted)
    engine.run(
        library,
        "document.create",
        {"name": "Letters"},
        OWNER,
        in_transaction=lambda ctx: planted["write"](ctx),  # type: ignore[operator]
    )
    assert heard == {"armarium_images.planted updates audit"}
