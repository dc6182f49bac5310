"""Row 7: import of a PAGE file of 4,525 segments as one audited step, against lxml parse and bare executemany."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from armarium.api import json_text, new_id, now
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

REGIONS, LINES, WORDS = 25, 20, 8
SEGMENTS = REGIONS * (1 + LINES * (1 + WORDS))
WIDTH, HEIGHT = 2400, 3600
_SPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_KINDS = {"TextRegion": "region", "TextLine": "line", "Word": "word"}


def measure(rounds: int) -> list[Result]:
    """Measure the ratio of segments a second."""
    data = page_file()
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        from armarium_documents.api import representations
        from armarium_source_model.api import segments

        bare = bare_database(folder / "bare.sqlite", *_bare_tables(segments, representations))
        segment_sql, segment_row = _writer(segments)
        reading_sql, reading_row = _writer(representations)

        def ours() -> float:
            result = engine.run(library, "document.create", {"name": "Page", "doc_type": "page"}, OWNER)
            document = (result.result or {})["id"]
            given = {"document_id": document, "file": data, "filename": "page.xml"}
            return SEGMENTS / seconds(lambda: engine.run(library, "format.import", given, OWNER))

        def theirs() -> float:
            def read_and_write() -> None:
                found = _parse(data)
                bare.execute("BEGIN IMMEDIATE")
                bare.executemany(segment_sql, [segment_row(segment) for segment in found])
                bare.executemany(
                    reading_sql, [reading_row(segment) for segment in found if segment["content"]]
                )
                bare.execute("COMMIT")

            return SEGMENTS / seconds(read_and_write)

        result = compare(
            7,
            f"import of a PAGE file of {SEGMENTS:,} segments ({len(data) / 1e6:.1f} MB)",
            engine=ours,
            peer=theirs,
            peer_name="lxml parse and executemany into bare tables",
            unit="segments a second",
            rounds=rounds,
            limit=0.5,
            bound="at least",
        )
        bare.close()
        return [result]


def page_file() -> bytes:
    """Return a PAGE file of regions, lines and words in two columns, with shapes, baselines and readings."""
    parts = [
        f'<?xml version="1.0" encoding="UTF-8"?>\n<PcGts xmlns="{_SPACE}"><Metadata><Creator>bench</Creator>'
        "<Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="page.jpg" imageWidth="{WIDTH}" imageHeight="{HEIGHT}">'
    ]
    high = HEIGHT // (REGIONS + 1) * 2
    for region in range(REGIONS):
        left = 60 + region % 2 * 1180
        top = 40 + region // 2 * (high - 10)
        parts.append(f'<TextRegion id="r{region}" type="paragraph">{_coords(left, top, 1100, high - 20)}')
        for line in range(LINES):
            y, step = top + 2 + line * (high - 24) // LINES, (high - 24) // LINES
            name = f"r{region}l{line}"
            words = []
            for word in range(WORDS):
                x = left + 4 + word * 136
                text = f"palabra{word}"
                words.append(
                    f'<Word id="{name}w{word}">{_coords(x, y, 130, step)}'
                    f'<TextEquiv conf="0.91"><Unicode>{text}</Unicode></TextEquiv></Word>'
                )
            reading = " ".join(f"palabra{word}" for word in range(WORDS))
            parts.append(
                f'<TextLine id="{name}">{_coords(left + 2, y, 1090, step)}'
                f'<Baseline points="{left + 2},{y + step - 2} {left + 500},{y + step - 3} {left + 1090},{y + step - 2}"/>'
                f"{''.join(words)}<TextEquiv><Unicode>{reading}</Unicode></TextEquiv></TextLine>"
            )
        parts.append("</TextRegion>")
    parts.append("</Page></PcGts>")
    return "".join(parts).encode()


def _coords(x: int, y: int, wide: int, high: int) -> str:
    points = ((x, y), (x + wide // 2, y + 1), (x + wide, y), (x + wide, y + high), (x, y + high))
    return f'<Coords points="{" ".join(f"{a},{b}" for a, b in points)}"/>'


def _parse(data: bytes) -> list[dict[str, Any]]:
    """Parse as a plain program does: walk the tree, convert points to fractions, keep the texts."""
    from lxml import etree

    found: list[dict[str, Any]] = []
    by_node: dict[Any, str] = {}
    for node in etree.fromstring(data).iter(*(f"{{{_SPACE}}}{name}" for name in _KINDS)):
        coords = node.find(f"{{{_SPACE}}}Coords")
        points = _fractions(coords.get("points") or "") if coords is not None else []
        baseline = node.find(f"{{{_SPACE}}}Baseline")
        text = node.find(f"{{{_SPACE}}}TextEquiv/{{{_SPACE}}}Unicode")
        xs, ys = [x for x, _ in points], [y for _, y in points]
        left, top = min(xs), min(ys)
        box = (left, top, max(xs) - left, max(ys) - top)
        identity = by_node[node] = new_id()
        found.append(
            {
                "id": identity,
                "segment_id": identity,
                "kind": _KINDS[node.tag.rpartition("}")[2]],
                "anchor": json_text({"rect": box, "polygon": points}),
                "baseline": json_text(_fractions(baseline.get("points") or ""))
                if baseline is not None
                else None,
                "parent_segment_id": by_node.get(node.getparent()),
                "bbox_x": box[0],
                "bbox_y": box[1],
                "bbox_w": box[2],
                "bbox_h": box[3],
                "content": text.text if text is not None else None,
            }
        )
    return found


def _fractions(points: str) -> list[tuple[float, float]]:
    return [(float(x) / WIDTH, float(y) / HEIGHT) for x, y in (point.split(",") for point in points.split())]


def _bare_tables(*tables: Table) -> list[str]:
    """Create the families' own tables and indexes, without history, foreign keys and triggers."""
    dialect = sqlite_dialect.dialect()
    made: list[str] = []
    for table in tables:
        made.append(str(CreateTable(table, include_foreign_key_constraints=[]).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            made.append(str(CreateIndex(index).compile(dialect=dialect)))
    return made


def _writer(table: Table) -> tuple[str, Any]:
    """Return the INSERT for every column of *table*, and a function that makes its tuple from a parsed segment."""
    columns = list(table.columns)
    names = [column.name for column in columns]
    page, moment = new_id(), now()
    given = {"document_id": page, "pass_id": page, "created_at": moment, "updated_at": moment}
    filler = [
        given.get(column.name, None if column.nullable else 0 if column.type.python_type is not str else "{}")
        for column in columns
    ]

    def row(segment: dict[str, Any]) -> tuple[Any, ...]:
        values = {**segment, "id": new_id()} if "content" in names else segment
        return tuple(values.get(name, default) for name, default in zip(names, filler, strict=True))

    listed = ", ".join(f'"{name}"' for name in names)
    return f'INSERT INTO "{table.name}" ({listed}) VALUES ({", ".join("?" * len(names))})', row
