"""Whatever the installed families write can be transferred to other projects and exported; their own examples fill the
project.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import polars
import pytest

from armarium.actions import Example
from armarium.api import raw_of
from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.history.capture import quote_name
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium.store.tables import rules_of
from armarium_testing.digest import differences, table_digests
from armarium_testing.examples import example_of

CORE = ("library", "snapshot", "job", "background", "token", "device", "settings", "runtime", "workers")
NOT_HERE = frozenset({"document.empty_trash", "document.transfer", "document.transfer_out"})
ID = re.compile("[0-9a-f]{32}")


def fill(engine: Engine, library: Library, folder: Path) -> set[str]:
    """Run every family's actions in *library*, each with the parameters of its example; return the names of those that
    ran.
    """
    ran = set()
    for number, row in enumerate(engine.actions.all()):
        example = example_of(engine, row)
        if example is None or row.scope != "library" or row.name in NOT_HERE:
            continue
        if row.name.split(".")[0] in CORE:
            continue
        place = folder / str(number)
        place.mkdir()
        try:
            params = dict(example(Example(engine, library, LOCAL_OWNER, place)))
            engine.run(library, row.name, params, LOCAL_OWNER)
        except ServiceError:
            # An example is made for a new project; a refusal in a fuller one does not matter here.
            continue
        ran.add(row.name)
    return ran


def read_when_idle(engine: Engine, *places: Library) -> list[dict[str, str]]:
    """Return the content of the projects once nothing runs in them.

    An example that runs jobs starts the background work, so other jobs (a batch over pictures) write as well.
    """
    for place in places:
        assert engine.jobs.run_until_idle(place), place.name
    return [table_digests(place.db, engine.library_schema) for place in places]


def everything(library: Library) -> dict[str, list[tuple[Any, ...]]]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return {
            name: raw.execute(f"SELECT * FROM {quote_name(name)}").fetchall()
            for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        }


@pytest.fixture
def target(engine: Engine, tmp_path: Path) -> Library:
    engine.run(None, "library.create", {"path": str(tmp_path / "Target.library")}, LOCAL_OWNER)
    return engine.libraries.get(tmp_path / "Target.library")


@pytest.fixture
def filled_project(engine: Engine, library: Library, tmp_path: Path) -> list[str]:
    """A project in which every family has written, and what to transfer of it: all live items at its top level."""
    ran = fill(engine, library, tmp_path)
    assert len(ran) > 60
    # Wait here and not at the first digest: what the jobs of the examples write belongs to what is transferred.
    read_when_idle(engine, library)
    with library.db.read() as conn:
        raw = raw_of(conn)
        return [
            row[0]
            for row in raw.execute(
                "SELECT id FROM document WHERE deleted_at IS NULL AND node_kind <> 'alias' AND (parent_id IS NULL"
                " AND system_key IS NULL OR parent_id IN (SELECT id FROM document WHERE system_key IS NOT NULL))"
            )
        ]


def unlock(engine: Engine, library: Library) -> None:
    with library.db.read() as conn:
        raw = raw_of(conn)
        locked = [row[0] for row in raw.execute("SELECT id FROM document WHERE is_locked").fetchall()]
    for document_id in locked:
        engine.run(library, "document.lock", {"document_id": document_id, "locked": False}, LOCAL_OWNER)


@pytest.mark.slow
def test_the_rows_of_every_family_are_transferred(
    engine: Engine, library: Library, target: Library, filled_project: list[str]
) -> None:
    unlock(engine, library)
    before = read_when_idle(engine, library)
    params = {"source_library": str(library.path), "items": filled_project}
    outcome = engine.run(target, "document.transfer", params, LOCAL_OWNER)
    assert outcome.result is not None
    assert outcome.result["written"] == outcome.result["planned"]
    assert read_when_idle(engine, library, target)[:1] == before
    for place in (library, target):
        assert examine(engine, place.path)["findings"] == []

    source, copied = everything(library), everything(target)
    with library.db.read() as conn:
        raw = raw_of(conn)
        live = {row[0] for row in raw.execute("SELECT id FROM document WHERE deleted_at IS NULL")}
    ids = {entry["id"] for entry in outcome.result["left_behind"]}
    cut = {edge["from_id"] for edge in outcome.result["edges_cut"]}
    carried = 0
    for table in engine.library_schema.tables:
        owner = rules_of(table).document
        if owner is None or rules_of(table).kind not in ("tracked", "append-only"):
            continue
        columns = [column.name for column in table.columns]
        place = columns.index(owner)
        keys = [columns.index(c.name) for c in table.primary_key.columns]
        keys = [columns.index("id")] if "id" in columns else keys
        rows = [row for row in source[table.name] if row[place] in live]
        come = [row for row in rows if "/".join(row[key] for key in keys) not in ids | cut]
        assert len(copied[table.name]) >= len(come), table.name
        carried += bool(rows and copied[table.name])
    assert carried >= 14

    # No copy refers to anything in the source project, except for who made it and when.
    theirs = {
        row[0]
        for table in engine.library_schema.tracked
        for row in source[table.name]
        if isinstance(row[0], str) and ID.fullmatch(row[0])
    }
    for table in engine.library_schema.tracked:
        for row in copied[table.name]:
            for column, value in zip(table.columns, row, strict=True):
                if isinstance(value, str) and column.name not in ("run_id", "trash_info"):
                    stray = theirs & set(ID.findall(value))
                    assert not stray, (table.name, column.name)


@pytest.mark.slow
def test_a_move_of_everything_is_undone_exactly(
    engine: Engine, library: Library, target: Library, filled_project: list[str]
) -> None:
    unlock(engine, library)
    (before,) = read_when_idle(engine, library)
    params = {"source_library": str(library.path), "items": filled_project, "mode": "move"}
    outcome = engine.run(target, "document.transfer", params, LOCAL_OWNER)
    moved = read_when_idle(engine, library, target)
    assert differences(before, moved[0]) != []
    undone = engine.undo(target, [outcome.audit_id], LOCAL_OWNER)
    assert differences(before, read_when_idle(engine, library, target)[0]) == []
    engine.undo(target, undone["audit_ids"], LOCAL_OWNER)
    assert read_when_idle(engine, library, target) == moved


OF_FAMILIES = {
    *("document", "segment", "pass", "representation", "entity", "mention", "claim", "interpretation"),
    *("hand", "hand_attribution", "campaign", "campaign_member", "campaign_reading", "editorial_fact"),
    *("sign", "sign_instance", "letterform", "letterform_allograph"),
    *("control_point", "workflow", "cut", "verdict", "rights"),
}


@pytest.mark.slow
def test_records_of_every_family_are_written(engine: Engine, library: Library, tmp_path: Path) -> None:
    fill(engine, library, tmp_path)
    lines, bundle = tmp_path / "records.jsonl", tmp_path / "bundle"
    counts = (engine.run(library, "export.jsonl", {"output_path": str(lines)}, LOCAL_OWNER).result or {})[
        "record_counts"
    ]
    assert {name for name in OF_FAMILIES if not counts[name]} == set()
    records = [orjson.loads(line) for line in lines.read_bytes().splitlines()][1:]
    second_record_counts = (
        engine.run(library, "export.parquet", {"output_path": str(bundle)}, LOCAL_OWNER).result or {}
    )["record_counts"]
    assert {**second_record_counts, "episode": 0} == {**counts, "episode": 0}
    for name, count in second_record_counts.items():
        table = polars.read_parquet(bundle / f"{name}.parquet")
        assert table.height == count
        written_records = [record for record in records if record["record_type"] == name]
        if written_records and "id" in table.columns:
            assert set(table["id"]) == {item["id"] for item in written_records}
    engine.run(
        library,
        "export.eleventy",
        {"output_path": str(tmp_path / "site"), "include_unreviewed": True},
        LOCAL_OWNER,
    )
    assert orjson.loads((tmp_path / "site" / "content" / "_data" / "statements.json").read_bytes())
