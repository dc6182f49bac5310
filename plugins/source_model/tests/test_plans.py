"""No route of the family scans a whole table: each statement uses an index, so that none slows down as the project
grows.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from source_model_fixtures import RUN, Desk, anchor

from armarium.api import Engine, Library, raw_of
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_source_model.plugin import armarium_plugin
from armarium_source_model.queries.links import naming

FEW = {"audit_current", "library_setting", "reading_kind", "sqlite_master", "source_model_page_due"}
"""Tables with few rows in any project, or of which one row is read."""
OF_ALL_PAGES = "INSERT OR IGNORE INTO source_model_page_due SELECT DISTINCT document_id FROM segment_pass"
"""Concerns all pages: a setting of the project changes how every page is read, so each is noted for the job that
updates it.
"""
FROM_ITS_END = re.compile(r"ORDER BY seq DESC LIMIT 1\b")
"""Reads the last row of a history or of the audit log from the end of its index; SQLite calls this a scan as well."""


class StatementLog:
    """Every statement that the connections of an engine run while it is on."""

    def __init__(self) -> None:
        self.statements: dict[str, str] = {}
        self.what: str | None = None

    def note_statement(self, statement: str) -> None:
        if self.what is not None:
            self.statements.setdefault(statement, self.what)

    @contextmanager
    def to(self, what: str) -> Iterator[None]:
        self.what = what
        try:
            yield
        finally:
            self.what = None


@pytest.fixture
def statement_log(monkeypatch: Any) -> StatementLog:
    """Records the statements of every connection opened from now on."""
    log = StatementLog()
    plain: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(*args: Any, **named: Any) -> sqlite3.Connection:
        made = plain(*args, **named)
        made.set_trace_callback(log.note_statement)
        return made

    monkeypatch.setattr(sqlite3, "connect", connect)
    return log


@pytest.fixture
def engine(statement_log: StatementLog, make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(plugins=[documents_plugin(), armarium_plugin()])


def scanned_tables(conn: sqlite3.Connection, statement: str) -> list[str]:
    """Return the tables that a statement scans completely, according to SQLite's plan."""
    if not statement.lstrip().upper().startswith(("SELECT", "WITH", "UPDATE", "DELETE", "INSERT")):
        return []
    there = {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    names = {name: name for name in there}
    # A plan names a table by its alias; a name that is no table is a subquery, whose tables have lines of their own.
    names |= {
        alias: name
        for name, alias in re.findall(
            r'(?:FROM|JOIN)\s+"?(\w+)"?\s+(?:AS\s+)?"?(\w+)"?', statement, re.IGNORECASE
        )
        if name in there
    }
    try:
        plan = conn.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    except sqlite3.Error:
        # The statement was for a temporary table that no longer exists.
        return []
    # A partial index is scanned completely where its whole part is wanted.
    part = [
        row[0]
        for row in conn.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'"
        )
    ]
    scanned = [
        line[3].split()[1]
        for line in plan
        if line[3].startswith("SCAN ") and not line[3].endswith(tuple(f"INDEX {name}" for name in part))
    ]
    return [names[one] for one in scanned if one in names and names[one] not in FEW]


def test_what_reads_a_table_from_end_to_end_is_noticed(statement_log: StatementLog, desk: Desk) -> None:
    with closing(sqlite3.connect(desk.library.db.path)) as conn:
        assert scanned_tables(conn, "SELECT * FROM segment s WHERE s.kind_raw = 'x'") == ["segment"]
        assert scanned_tables(conn, "SELECT * FROM link WHERE note = 'x'") == ["link"]
        assert scanned_tables(conn, "SELECT * FROM reading_order o WHERE o.kind = 'x'") == ["reading_order"]
        assert scanned_tables(conn, "SELECT * FROM reading_order o WHERE o.kind = 'flow'") == []
        assert scanned_tables(conn, "SELECT * FROM segment s WHERE s.id = 'x'") == []
        assert scanned_tables(conn, "SELECT * FROM (SELECT 1 AS one UNION SELECT 2) s") == []
    with desk.library.db.read() as conn, statement_log.to("naming"):
        naming(conn, desk.engine)
        raw_of(conn).execute("SELECT 1 FROM link WHERE note = 'x'")
    assert "SELECT 1 FROM link WHERE note = 'x'" in statement_log.statements


def test_no_route_reads_a_table_from_end_to_end(
    statement_log: StatementLog, desk: Desk, library: Library, client: Any
) -> None:
    walked = ask_every_route(statement_log, desk, client)
    with closing(sqlite3.connect(library.db.path)) as conn:
        whole = {
            f"{what}: {' '.join(statement.split())[:300]}": tables
            for statement, what in statement_log.statements.items()
            if FROM_ITS_END.search(statement) is None
            and statement.strip() != OF_ALL_PAGES
            and (tables := scanned_tables(conn, statement))
        }
    assert walked > 50
    assert len(statement_log.statements) > 200
    assert whole == {}


def ask_every_route(statement_log: StatementLog, desk: Desk, client: Any) -> int:
    """Send a request to each route of the family, and undo steps; return the number of requests."""
    folder = desk.run("document.create", name="Folder", doc_type="folder")["id"]
    before, page = (
        desk.run("document.create", name=name, doc_type="page", parent_id=folder)["id"] for name in "ab"
    )
    reading = desk.machine_lines(page, [f"line {n}" for n in range(12)])
    earlier = desk.machine_lines(before, ["one", "two"])
    desk.run(
        "reading_order.create",
        document_id=before,
        pass_id=earlier["pass_id"],
        name="On",
        kind="flow",
        seed_from_pass=True,
    )
    lines, machine = reading["segment_ids"], reading["pass_id"]
    asked = 0

    def ask(method: str, path: str, body: Any = None, status: int = 200, **query: Any) -> Any:
        nonlocal asked
        asked += 1
        with statement_log.to(f"{method} {re.sub('[0-9a-f]{32}', '…', path)}"):
            answer = client.request(method, path, json=body, params=query or None)
        assert answer.status_code == status, (method, path, answer.text)
        return answer.json()

    def undo(*written: dict[str, Any]) -> None:
        for one in written:
            with statement_log.to(f"undo of {sorted(one)}"):
                desk.undo(one["audit_id"])

    own, orders, links = "/api/segments", "/api/reading-orders", "/api/links"
    ask("GET", f"{own}/document/{page}")
    ask("GET", f"{own}/document/{page}", area="0.1,0.1,0.5,0.2")
    ask("GET", f"{own}/document/{page}", pass_id=machine, kind="line", artifact_id="none")
    hand = ask("POST", f"{own}/passes", {"document_id": page, "name": "By hand"})["id"]
    ask("PUT", f"{own}/passes/{hand}/ground-truth", {"ground_truth": True})
    ask("PUT", f"{own}/passes/{hand}/working", {"working": True})
    ask("PUT", f"{own}/passes/{hand}/working", {"working": False})
    new = {"document_id": page, "pass_id": hand, "kind": "line"}
    one = ask("POST", own, {**new, "anchor": anchor(0)})["id"]
    many = [{**new, "anchor": anchor(n), "parent_segment_id": one} for n in (1, 2, 3)]
    two, three, four = (item["id"] for item in ask("POST", f"{own}/bulk", {"segments": many})["items"])
    change = {"segment_id": one, "expected_version": 1, "kind_raw": "heading", "script": "Latn"}
    ask("PUT", f"{own}/{one}", change)
    ask("PUT", f"{own}/{one}", change, 409)
    ask("GET", f"{own}/{one}/versions")
    ask("POST", f"{own}/{one}/restore-version", {"version": 1, "expected_version": 2})
    answer = ask("POST", f"{own}/delete", {"segment_ids": [four], "expected_versions": [1]})
    ask("GET", f"{own}/{four}")
    back = ask("POST", f"{own}/undelete", {"segment_ids": [four]})
    undo(back, answer)
    match = ask("POST", f"{own}/matches", {"from_segment_id": lines[0], "to_segment_id": one})["id"]
    ask("POST", f"{own}/matches/{match}/accept")
    undo(ask("POST", f"{own}/carry", {"match_id": match}))
    for verb, line in (("reject", 1), ("withdraw", 2)):
        proposed = ask("POST", f"{own}/matches", {"from_segment_id": lines[line], "to_segment_id": two})
        ask("POST", f"{own}/matches/{proposed['id']}/{verb}")
    ask("GET", f"{own}/document/{page}/matches")
    undo(ask("POST", f"{own}/merge", {"segment_ids": [two, three], "keep_id": two}))
    parts = [{"anchor": anchor(4), "text": "left"}, {"anchor": anchor(5), "text": "right"}]
    undo(ask("POST", f"{own}/split", {"segment_id": lines[3], "expected_version": 1, "parts": parts}))
    cited = ask("GET", f"{own}/{lines[3]}/reference")["reference"]
    ask("POST", "/api/locations/resolve", {"segmentId": cited})
    ask("GET", f"{own}/{lines[3]}/picture", status=422)
    counting = ask("GET", f"{own}/{lines[4]}/readings")["items"][0]["id"]
    ask("POST", f"{own}/{lines[4]}/readings/choice", {"representation_id": counting})
    corrected = ask("POST", f"{own}/{lines[4]}/correct", {"text": "so", "expected_counting_id": counting})
    ask("POST", f"{own}/readings/{corrected['id']}/retract")
    for query in ({}, {"pass_id": machine, "include_furniture": True}):
        ask("GET", f"{own}/document/{page}/text", **query)
    for query in ({}, {"pass_id": machine}):
        ask("GET", f"{own}/document/{page}/lines", words=True, **query)
        ask("GET", f"{own}/document/{page}/shapes", **query)
    side = {"pass_id": machine}
    ask("POST", f"/api/documents/{page}/readings/compare", {"reference": side, "hypothesis": side})
    for query in ({"segment_id": lines[5]}, {"document_id": page}):
        ask("GET", "/api/source-settings/resolve", **query)
    for fact in ({"level": "node", "target_id": page}, {"level": "project"}):
        for value in ("la", ""):
            ask("PUT", "/api/source-settings", {**fact, "key": "language", "value": value})
    body = {"document_id": page, "pass_id": machine, "name": "So", "kind": "imposed", "seed_from_pass": True}
    order = ask("POST", orders, body)["id"]
    ask("GET", f"{orders}/document/{page}")
    entries = ask("GET", f"{orders}/{order}/entries")["items"]
    ask("GET", f"{orders}/{order}/entries", parent_entry_id=entries[0]["id"])
    ask("GET", f"{orders}/{order}/neighbours", segment_id=lines[5])
    assert ask("GET", f"{orders}/flows/onto/{page}")["flows"]
    moved = {"segment_id": lines[9], "after_entry_id": entries[1]["id"], "expected_version": 1}
    ask("POST", f"{orders}/{order}/place", moved)
    for what in ("text", "lines"):
        ask("GET", f"{own}/document/{page}/{what}", order=order, pass_id=machine)
    ask("POST", f"{orders}/{order}/renumber")
    ask("DELETE", f"{orders}/{order}/entries/{entries[3]['id']}")
    ask("DELETE", f"{orders}/{order}")
    ask("POST", f"{orders}/{order}/restore")
    ask("GET", f"{links}/types")
    uri = "https://www.geonames.org/3169070"
    ask("POST", links, {"from_id": lines[6], "to_id": uri, "to_kind": "uri", "link_type": "names"})
    made = ask("POST", links, {"from_id": lines[6], "to_id": lines[7], "link_type": "same_as"})
    made = made["result"]["link_id"]
    ask("GET", f"{links}/of/{lines[6]}")
    ask("GET", f"{links}/of/{lines[11]}")
    ask("GET", f"{links}/naming")
    assert ask("GET", f"{links}/naming", uri=uri)["segments"]
    ask("DELETE", f"{links}/{made}")
    ask("POST", f"{links}/{made}/restore")
    ask("DELETE", f"{own}/passes/{hand}")
    ask("POST", f"{own}/passes/{hand}/restore")
    with statement_log.to("reading.take"):
        desk.as_(RUN).run(
            "reading.take",
            document_id=page,
            pass_id=machine,
            provider="reader",
            readings=[{"segment_id": lines[10], "text": "seen"}],
        )
    with statement_log.to("segment.convert_page"), pytest.raises(Exception, match="nothing to convert"):
        desk.run("segment.convert_page", document_id=page)
    return asked
