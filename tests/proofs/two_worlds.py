"""Two projects that differ only in what withheld pages, and all that hangs on them, contain.

One project is filled by the example of every action; half of what lies at its top is restricted. A copy of it has other
texts, dates and numbers in every row that names something restricted. Which rows those are is found here from the rows
alone; nothing of `armarium.history` is used. Ids and times are the same in both.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import orjson
from sqlalchemy import Float, Text

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.history import audit
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium.store.name_order import register_name_key
from armarium.store.tables import Json, rules_of
from armarium.web.app import create_app
from proofs.api_project import TOKEN, ApiProject

ID = re.compile(r"[0-9a-f]{32}")
_BRANCH = re.compile(r"-[0-9a-f]{8}\.library")
"""How the name of a branch's folder ends: with the last digits of its id."""
_NOW = re.compile(r"20\d\d-\d\d-\d\dT[0-9:.-]+Z(-[0-9a-f]{8})?|\"(seq|bytes_written)\":\d+")
"""Times, names of snapshots, numbers of events, and sizes of compressed files with times in them."""
_CODE_POINT = re.compile(r"U\+[0-9A-F]{4,6}")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT")
_KEPT = re.compile(
    r"(^|_)(id|ids|kind|type|state|status|role|level|lane|op|seq|hash|checksum|digest|fingerprint|sha256|path|by|at"
    r"|mime|format|direction|key|keys|actor|client|layer|verdict|trust|basis|action|name_form|anchor|graph|result"
    r"|checkpoint|relation|word|script|language|languages|unit|precision|purpose|source_ref|step_name)$"
)
"""Columns and fields with words of the engine's own, ids and addresses, which are alike in both projects."""

MANY = {"job", "job_log", "workflow_run", "workflow_run_state"}
"""Tables with rows about many pages, besides those that say so: one that also names a page that everyone sees stays as it
is.
"""
THROUGH = (("claim", "claim_source", "claim_id"), ("agents_workspace", "agents_member", "workspace_id"))
"""Tables whose rows hang on a page as soon as one row of another table says so."""
NAMED = (("entity", "mention", "entity_id"), ("entity", "claim_entity", "entity_id"))
"""Tables whose rows hang on withheld pages when no row of these tables that everyone sees names them."""

UNTOUCHED = ("rights_record", "sync_pending", "export_changed")
"""Tables that say who may see what, and queues of ids."""

FREE = {"branch": ("name", "made_for", "summary")}
"""What people freely say of a project, which may tell of what is withheld in it."""

Row = dict[str, Any]


@dataclass
class Cell:
    """One row of a table, with the ids that stand anywhere in it."""

    table: str
    key: tuple[Any, ...]
    row: Row
    own: str | None
    names: frozenset[str]


@dataclass
class WithheldMaterial:
    """What is withheld in the project: the documents, and the rows that name something withheld."""

    nodes: set[str]
    ids: set[str]
    rows: list[Cell] = field(default_factory=list)
    words: dict[str, list[str]] = field(default_factory=dict)
    """By table, words that stand in one of the two projects only."""

    def words_about(self, label: str) -> list[str]:
        """Return the words of the tables whose names begin as a part of *label* does (entity, /api/entities); all of them
        if there are none.
        """
        parts = {part[:4] for part in re.findall("[a-z]{3,}", label)}
        near = [word for table, words in self.words.items() if table[:4] in parts for word in words]
        return near or [word for words in self.words.values() for word in words]


class TwoWorlds:
    """The two projects; one of them at a time lies at the one address."""

    def __init__(self, place: Path, seed: int) -> None:
        self.place, self.aside = place / "here", place / "aside"
        self.chance = Random(seed)
        ground = ApiProject()
        tables = (*ground.engine.library_schema.tables, audit.audit, audit.audit_target)
        self.tables = {table.name: table for table in tables}
        self.actions = ground.actions
        self.document = ground.app.openapi()
        self.relations = ground.relations
        try:
            restricted = self._restrict(ground)
            self.callers = dict(self._callers(ground))
            look = {"name": "a program", "role": "viewer", "libraries": [str(ground.path)]}
            result = ground.engine.run(None, "token.create", look, LOCAL_OWNER).result or {}
            self.token_in_addresses = str(result["token"])
        finally:
            ground.engine.close()
        self.path = ground.path
        self.home = ground.place
        self.aside = place / "other"
        for path in self.path.glob("derived/dataset"):
            shutil.rmtree(path)
        shutil.copytree(self.home, self.aside, symlinks=True)
        self.ground = ground
        self.withheld = self._find_withheld(restricted)
        self._write_otherwise(self.aside / self.path.relative_to(self.home) / "library.sqlite")

    def close(self) -> None:
        self.ground.folder.cleanup()

    def swap(self) -> None:
        """Put the other project at the address."""
        spare = self.home.with_name(f"{self.home.name}-spare")
        self.home.rename(spare)
        shutil.move(self.aside, self.home)
        shutil.move(spare, self.aside)

    @property
    def out(self) -> Path:
        """The folder in which the bound agent may write."""
        return self.home / "out"

    @contextmanager
    def kept_as_they_are(self) -> Iterator[None]:
        """Put both projects back as they are now when the block ends."""
        copies = {one: one.with_name(f"{one.name}-kept") for one in (self.home, self.aside)}
        for one, copy in copies.items():
            shutil.copytree(one, copy, symlinks=True)
        try:
            yield
        finally:
            for one, copy in copies.items():
                shutil.rmtree(one)
                copy.rename(one)

    def has_new(self, values: Iterable[Any]) -> bool:
        """Return whether one of *values* is an id that was not there before the project was copied."""
        return any(
            isinstance(value, str) and ID.fullmatch(value) and value not in self.known for value in values
        )

    def without_new(self, told: bytes) -> str:
        """Return an answer without the times of now and the ids that were not there before."""
        text = ID.sub(lambda one: one[0] if one[0] in self.known else "new", told.decode(errors="replace"))
        return _BRANCH.sub("-new.library", _NOW.sub("now", text))

    @contextmanager
    def serving(self) -> Iterator[Any]:
        """Serve the project that lies at the address; yield an HTTP client without a token."""
        from starlette.testclient import TestClient

        settings = Settings(
            state_dir=self.home / "state",
            owner_token=TOKEN,
            library_roots=[self.home],
            local_only=True,
            cors_origins=[],
        )
        engine = Engine(settings)
        engine.start(jobs=False)
        try:
            app = create_app(engine=engine, jobs=False)
            headers = {"X-Service-Library-Path": str(self.path)}
            client = TestClient(
                app,
                base_url="http://127.0.0.1:8765",
                headers=headers,
                client=("127.0.0.1", 50000),
                raise_server_exceptions=False,
            )
            client.app_engine = engine  # type: ignore[attr-defined]
            yield client
            client.close()
        finally:
            engine.close()

    def _restrict(self, ground: ApiProject) -> set[str]:
        """Restrict half of what lies at the top, of each kind; return those documents."""
        with ground.library.db.read_all() as conn:
            parents = dict(conn.exec_driver_sql("SELECT id, parent_id FROM document").all())
            rows = list(_cells(conn.connection.driver_connection, self.tables))  # type: ignore[arg-type]
            deleted = set(
                conn.exec_driver_sql("SELECT id FROM document WHERE deleted_at IS NOT NULL").scalars()
            )
        hanging: dict[str, set[str]] = defaultdict(set)
        for cell in rows:
            for name in cell.names & parents.keys():
                hanging[_root(parents, name)].add(cell.table)
        groups: dict[Any, list[str]] = defaultdict(list)
        for one in (node for node, above in parents.items() if above is None and node not in deleted):
            groups[frozenset(hanging[one] - {"audit", "audit_target", "job", "job_log"})].append(one)
        chosen = [
            one for group in groups.values() for one in self.chance.sample(group, (len(group) + 1) // 2)
        ]
        restricted = set()
        for one in chosen:
            stated = {"target_kind": "document", "target_id": one, "restricted": True}
            try:
                ground.engine.run(ground.library, "rights.set", stated, LOCAL_OWNER)
            except ServiceError:
                continue
            restricted.add(one)
        return restricted

    def _callers(self, ground: ApiProject) -> Iterator[tuple[str, str]]:
        out = ground.place / "out"
        out.mkdir()
        for role, bound in (("viewer", "all"), ("editor", [str(ground.path)])):
            given = {"name": f"a {role}", "role": role, "libraries": bound}
            if role == "editor":
                given["folders"] = [str(out)]
            result = ground.engine.run(None, "token.create", given, LOCAL_OWNER).result or {}
            yield ("a viewer" if role == "viewer" else "a bound agent"), str(result["token"])
        code = ground.engine.run(None, "pair.code", {"role": "editor"}, LOCAL_OWNER).result or {}
        paired = ground.engine.run(None, "pair.device", {"code": code["code"]}, LOCAL_OWNER).result or {}
        yield "a paired device", str(paired["device_token"])

    def _find_withheld(self, restricted: set[str]) -> WithheldMaterial:
        raw = sqlite3.connect(self.path / "library.sqlite")
        rows = list(_cells(raw, self.tables))
        self.known = {
            element for cell in rows for text in (cell.own or "", *cell.names) for element in ID.findall(text)
        }
        parents = dict(raw.execute("SELECT id, parent_id FROM document"))
        aliases = dict(
            raw.execute("SELECT id, alias_target_id FROM document WHERE alias_target_id IS NOT NULL")
        )
        raw.close()
        nodes = {parent for parent in parents if restricted & set(_above(parents, parent))}
        nodes |= {one for one, target in aliases.items() if target in nodes}
        nodes |= {parent for parent in parents if nodes & set(_above(parents, parent))}
        withheld_material = WithheldMaterial(nodes, set(nodes))
        open_nodes = parents.keys() - nodes
        many = MANY | {name for name, table in self.tables.items() if rules_of(table).names_many}
        hanging: dict[str, set[str]] = defaultdict(set)
        left = rows
        while True:
            fresh, others = [], []
            for cell in left:
                hangs = cell.own in hanging[cell.table] or not withheld_material.ids.isdisjoint(
                    {cell.own, *cell.names}
                )
                if hangs and cell.table in many and cell.names & open_nodes:
                    hangs = False
                if cell.table == "document" and cell.own in open_nodes:
                    hangs = False
                (fresh if hangs else others).append(cell)
            withheld_material.rows += fresh
            withheld_material.ids |= {cell.own for cell in fresh if cell.own is not None} - open_nodes
            left = others
            for table, child, column in THROUGH:
                hanging[table] |= {cell.row[column] for cell in withheld_material.rows if cell.table == child}
            for table in {table for table, *_ in NAMED}:
                by = [(child, column) for own, child, column in NAMED if own == table]
                hidden = {
                    cell.row[c] for cell in withheld_material.rows for child, c in by if cell.table == child
                }
                seen = {cell.row[c] for cell in left for child, c in by if cell.table == child}
                withheld_material.ids |= hidden - seen
            withheld_material.ids.discard(None)  # type: ignore[arg-type]
            if not fresh:
                return withheld_material

    def _write_otherwise(self, file: Path) -> None:
        """Give the rows that are withheld other texts, dates and numbers."""
        raw = sqlite3.connect(file)
        register_name_key(raw)
        guards = raw.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND"
            " (sql LIKE '%__history%' OR sql LIKE '%RAISE(%')"
        ).fetchall()
        for name, _ in guards:
            raw.execute(f'DROP TRIGGER "{name}"')
        words: dict[str, set[str]] = defaultdict(set)
        for cell in self.withheld.rows:
            if cell.table in UNTOUCHED:
                continue
            table = self.tables[cell.table]
            changed = dict(_otherwise(table, cell.row, words[cell.table]))
            if not changed:
                continue
            keys = [column.name for column in table.primary_key.columns]
            raw.execute(
                f'UPDATE "{cell.table}" SET {", ".join(f"{name} = ?" for name in changed)}'
                f" WHERE {' AND '.join(f'{key} = ?' for key in keys)}",
                (*changed.values(), *cell.key),
            )
        for name, columns in FREE.items():
            sets = ", ".join(f"{column} = {column} || ' otherwise'" for column in columns)
            raw.execute(f'UPDATE "{name}" SET {sets}')
        self._chain_anew(raw)
        for _, statement in guards:
            raw.execute(statement)
        raw.commit()
        raw.close()
        self.withheld.words = {table: sorted(those) for table, those in sorted(words.items()) if those}

    def _chain_anew(self, raw: sqlite3.Connection) -> None:
        """Write the hashes of the log as they are over what it says now."""
        names = [column.name for column in audit.audit.columns if column.name in audit._HASHED]
        named = ", ".join(sorted(names, key=audit._HASHED.index))
        before = audit.GENESIS
        for seq, *values in raw.execute(f"SELECT seq, {named}, images FROM audit ORDER BY seq").fetchall():
            after = audit._hash(before, tuple(values))
            raw.execute("UPDATE audit SET prev_hash = ?, row_hash = ? WHERE seq = ?", (before, after, seq))
            before = after


_QUOTED = re.compile(f'"({ID.pattern})"')
_OF_JOBS = ("job", "job_log", "activity")
"""Tables whose sentences may name an id in passing; what they are about stands in them as a value of its own."""


def _cells(raw: sqlite3.Connection, tables: dict[str, Any]) -> Iterator[Cell]:
    for name, table in tables.items():
        if rules_of(table).follows is not None or rules_of(table).kind == "foreign":
            continue
        columns = [column.name for column in table.columns]
        keys = [column.name for column in table.primary_key.columns]
        try:
            rows = raw.execute(f'SELECT {", ".join(columns)} FROM "{name}"').fetchall()
        except sqlite3.OperationalError:
            continue
        for values in rows:
            row = dict(zip(columns, values, strict=True))
            own = row.get("id") if isinstance(row.get("id"), str) else None
            if own is None and len(keys) == 1 and isinstance(row[keys[0]], str):
                own = row[keys[0]]
            # What a run wrote hangs on the page it wrote it to, not on the others that the run went over; and a job
            # is about what it was given, not about what it found among other things.
            texts = [
                value
                for column, value in row.items()
                if isinstance(value, str) and column not in ("run_id", "set_id")
                if name != "job" or column not in ("result", "checkpoint")
            ]
            found = _QUOTED.findall if name in _OF_JOBS else ID.findall
            names = frozenset(
                one
                for text in texts
                for one in (text, *found(text))
                if (ID.fullmatch(one) if name in _OF_JOBS else ID.search(one))
            )
            yield Cell(name, tuple(row[key] for key in keys), row, own, names - {own})


def _otherwise(table: Any, row: Row, words: set[str]) -> Iterator[tuple[str, Any]]:
    for column in table.columns:
        value = row[column.name]
        if value is None or column.primary_key or column.foreign_keys:
            continue
        if isinstance(column.type, Json) or (
            isinstance(value, str) and value[:1] in ("{", "[") and _is_json(value)
        ):
            kept = _KEPT.search(column.name)
            other = value if kept else orjson.dumps(_other_value(orjson.loads(value), words)).decode()
        elif isinstance(column.type, Float):
            other = value * 0.875
        elif isinstance(column.type, Text) and isinstance(value, str) and not _KEPT.search(column.name):
            other = _other_text(value, words)
        else:
            continue
        if other != value:
            yield column.name, other


def _is_json(text: str) -> bool:
    try:
        return isinstance(orjson.loads(text), dict | list)
    except ValueError:
        return False


def _other_value(value: Any, words: set[str]) -> Any:
    if isinstance(value, dict):
        return {
            name: inner if _KEPT.search(name) else _other_value(inner, words) for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_other_value(inner, words) for inner in value]
    return _other_text(value, words) if isinstance(value, str) else value


def _other_text(text: str, words: set[str]) -> str:
    """Return *text* with other letters, and dates in another century; ids and times as they are."""
    if ID.search(text) or _STAMP.match(text) or len(text) < 2:
        return text
    if _CODE_POINT.fullmatch(text):
        return text[:-1] + ("1" if text[-1] == "0" else "0")
    turned = text.translate(_TURNED)
    if turned != text:
        words.update(one for one in (*text.split()[:3], *turned.split()[:3]) if len(one) > 2)
        words.update((text, turned))
    return turned


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TURNED = str.maketrans(
    _LETTERS + _LETTERS.upper() + "1789",
    _LETTERS[13:] + _LETTERS[:13] + (_LETTERS[13:] + _LETTERS[:13]).upper() + "1698",
)


def _above(parents: dict[str, str | None], node: str) -> Iterator[str]:
    one: str | None = node
    while one is not None:
        yield one
        one = parents.get(one)


def _root(parents: dict[str, str | None], node: str) -> str:
    *_, last = _above(parents, node)
    return last
