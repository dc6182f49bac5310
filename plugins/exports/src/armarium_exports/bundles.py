"""Bundles of records: JSON Lines in one file, or Parquet in a folder with a file for each record type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, now
from armarium_exports.parquet import ROWS, arrow_schema, write_columns
from armarium_exports.places import file_place, replaced_folder, whole_file
from armarium_exports.record_types import SCHEMA_VERSION, RecordType, record_types
from armarium_exports.records import ParquetParams, RecordsParams
from armarium_exports.selection import Selection, select_documents

MANIFEST = "manifest.json"


def head(engine: Engine, library: Library, selection: Selection, target_id: str | None) -> dict[str, Any]:
    """Return the manifest: what the bundle contains, and which record types it has."""
    return {
        "record_type": "manifest",
        "schema_version": SCHEMA_VERSION,
        "library": library.name,
        "library_uuid": library.uuid,
        "target_id": target_id,
        "record_types": [record_type.name for record_type in record_types(engine)],
        "created_at": now(),
        "withheld": selection.omissions,
    }


def write_jsonl(engine: Engine, library: Library, principal: Principal, p: RecordsParams) -> dict[str, Any]:
    """Write the manifest, then every record, one per line."""
    place = p.output_path.real
    file_place(place, overwrite=p.overwrite)
    counts: dict[str, int] = {}
    with library.db.read() as conn, whole_file(place) as file:
        selection = select_documents(library, conn, principal, p.target_id, recursive=p.recursive)
        file.write(orjson.dumps(head(engine, library, selection, p.target_id)) + b"\n")
        for kind in record_types(engine):
            counts[kind.name] = 0
            for lines, number in _lines(kind, conn, selection):
                file.write(lines)
                counts[kind.name] += number
        size = file.tell()
    return _answer(place, selection, counts, size)


def _answer(place: Path, selection: Selection, counts: Mapping[str, int], size: int) -> dict[str, Any]:
    return {
        "output_path": str(place),
        "withheld": selection.omissions,
        "document_count": counts.get("document", 0),
        "entity_count": counts.get("entity", 0),
        "claim_count": counts.get("claim", 0),
        "bytes_written": size,
        "record_counts": dict(counts),
    }


def _lines(kind: RecordType, conn: Connection, selection: Selection) -> Iterator[tuple[bytes, int]]:
    """Yield records as lines, many at a time, with their number."""
    if kind.lines is not None:
        for rows in kind.lines(conn, selection):
            yield ("\n".join([row[0] for row in rows]) + "\n").encode(), len(rows)
        return
    lead = {"record_type": kind.name, "schema_version": SCHEMA_VERSION}
    lines: list[bytes] = []
    for record in kind.rows(conn, selection):
        lines.append(orjson.dumps(lead | record, default=str))
        if len(lines) == ROWS:
            yield b"\n".join(lines) + b"\n", len(lines)
            lines = []
    if lines:
        yield b"\n".join(lines) + b"\n", len(lines)


def write_parquet(engine: Engine, library: Library, principal: Principal, p: ParquetParams) -> dict[str, Any]:
    """Write a folder with a Parquet file for each record type and a manifest."""
    from armarium_exports.line_pictures import write_line_pictures

    place = p.output_path.real
    with replaced_folder(place, MANIFEST, overwrite=p.overwrite) as fresh:
        with library.db.read() as conn:
            selection = select_documents(library, conn, principal, p.target_id, recursive=p.recursive)
            counts = {
                kind.name: _write_type(kind, conn, selection, fresh / f"{kind.name}.parquet")
                for kind in record_types(engine)
            }
        if p.line_pictures:
            counts["line_picture"] = write_line_pictures(
                engine, library, selection, fresh / "line_picture.parquet"
            )
        file_names = sorted(path.name for path in fresh.iterdir())
        manifest = head(engine, library, selection, p.target_id) | {
            "record_counts": counts,
            "files": [*file_names, MANIFEST],
        }
        (fresh / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        size = sum(path.stat().st_size for path in fresh.iterdir())
    answer = _answer(place, selection, counts, size)
    return answer | {
        "files": [str(place / name) for name in file_names],
        "manifest_path": str(place / MANIFEST),
    }


def _write_type(kind: RecordType, conn: Connection, selection: Selection, path: Path) -> int:
    """Write the records of *kind* in batches; return how many there are."""
    if kind.columns is None or kind.batches is None:
        return _write_untyped(kind, conn, selection, path)
    batches = kind.batches
    counted = 0

    def columns() -> Iterator[Sequence[Sequence[Any]]]:
        nonlocal counted
        for rows in batches(conn, selection):
            counted += len(rows)
            yield list(zip(*rows, strict=True))

    write_columns(path, arrow_schema(kind.columns), columns())
    return counted


def _write_untyped(kind: RecordType, conn: Connection, selection: Selection, path: Path) -> int:
    """Write records whose columns are known only from the records: first to a temporary file, then with the
    columns of all of them.
    """
    spool = path.with_suffix(".spool")
    sorts: dict[str, str] = {"id": "text"}
    counted = 0
    with spool.open("wb") as file:
        for record in kind.rows(conn, selection):
            for name, value in record.items():
                if value is not None:
                    sort = _sort(value)
                    sorts[name] = sort if sorts.get(name, sort) == sort else _common(sorts[name], sort)
                else:
                    sorts.setdefault(name, "none")
            file.write(orjson.dumps(record, default=str) + b"\n")
            counted += 1

    def columns() -> Iterator[Sequence[Sequence[Any]]]:
        with spool.open("rb") as file:
            while records := [orjson.loads(line) for line in islice(file, ROWS)]:
                yield [[_cell(record.get(name), sort) for record in records] for name, sort in sorts.items()]

    write_columns(path, arrow_schema(sorts), columns())
    spool.unlink()
    return counted


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else "json"


def _common(kind: str, other: str) -> str:
    if kind == "none":
        return other
    return "number" if {kind, other} == {"integer", "number"} else "json"


def _cell(value: Any, sort: str) -> Any:
    if value is None:
        return None
    if sort == "json":
        return orjson.dumps(value).decode()
    return float(value) if sort == "number" else value
