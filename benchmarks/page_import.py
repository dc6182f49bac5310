"""Row 7: import of one PAGE file of 4,525 segments against lxml's parse and bare executemany of the same rows."""

from __future__ import annotations

import sqlite3

import orjson
import uuid_utils
from lxml import etree

from armarium.api import Engine, Library
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

REGIONS, LINES, WORDS = 25, 20, 8
SEGMENTS = REGIONS * (1 + LINES * (1 + WORDS))
WIDTH, HEIGHT = 6000, 8000
NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"

COPIED = ("segment", "content_representation")
"""The engine's own tables, made again bare: the same columns and indexes, no history, no triggers, no keys enforced."""


def measure(rounds: int) -> list[Result]:
    """The ratio of segments a second, one file a step and a transaction."""
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        bare = bare_database(folder / "bare.sqlite", *same_tables(library))
        files = Files()
        try:
            return [
                compare(
                    7,
                    f"import of a PAGE file of {SEGMENTS:,} segments and {SEGMENTS - REGIONS:,} texts",
                    engine=lambda: SEGMENTS / _imported(engine, library, files.next()),
                    peer=lambda: SEGMENTS / seconds(lambda: parse_and_store(bare, files.next())),
                    peer_name="lxml parse and executemany of the same rows",
                    unit="segments a second",
                    rounds=rounds,
                    limit=0.5,
                    bound="at least",
                    note="the engine validates every shape, keeps the original, history and audit row",
                )
            ]
        finally:
            bare.close()


def _imported(engine: Engine, library: Library, data: bytes) -> float:
    """Seconds that one import into a fresh page takes."""
    page = engine.run(library, "document.create", {"name": "0001.jpg", "doc_type": "page"}, OWNER).result
    assert page is not None
    params = {"document_id": page["id"], "file": data, "filename": "0001.xml"}
    return seconds(lambda: engine.run(library, "format.import", params, OWNER))


def same_tables(library: Library) -> list[str]:
    """The statements that make the engine's tables of segments and readings, with their indexes."""
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT sql FROM sqlite_master WHERE tbl_name IN (?, ?) AND type IN ('table', 'index') AND sql IS NOT NULL "
            "ORDER BY type DESC",
            COPIED,
        )
        return [row[0] for row in rows]


SEGMENT = (
    "id, document_id, pass_id, kind, kind_raw, anchor, baseline, parent_segment_id, is_furniture, confidence, metadata, "
    "bbox_x, bbox_y, bbox_w, bbox_h, tile, by_hand, version, provenance_kind, created_by, created_at, updated_at"
).split(", ")
READING = (
    "id, document_id, kind, content, segment_id, retracted, producer_tool, review_state, confidence, provenance_kind, "
    "created_by, created_at"
).split(", ")


def _insert(table: str, columns: list[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def parse_and_store(bare: sqlite3.Connection, data: bytes) -> None:
    """The peer: what a script without any promise would do to write the same rows, in one durable transaction."""
    ns = f"{{{NAMESPACE}}}"
    page = etree.fromstring(data)[1]
    width, height = int(page.get("imageWidth", "1")), int(page.get("imageHeight", "1"))
    page_id, pass_id, at = uuid_utils.uuid7().hex, uuid_utils.uuid7().hex, "2026-01-01T00:00:00.000Z"
    kinds = {f"{ns}TextRegion": "region", f"{ns}TextLine": "line", f"{ns}Word": "word"}
    segments: list[tuple[object, ...]] = []
    readings: list[tuple[object, ...]] = []
    made = ("external_import", "bench", at)

    def points(stated: str) -> list[list[float]]:
        return [[int(x) / width, int(y) / height] for x, y in (pair.split(",") for pair in stated.split())]

    def take(element: etree._Element, parent: str | None) -> None:
        identity = uuid_utils.uuid7().hex
        polygon: list[list[float]] = []
        baseline: str | None = None
        for child in element:
            if child.tag == f"{ns}Coords":
                polygon = points(child.get("points", ""))
            elif child.tag == f"{ns}Baseline":
                baseline = orjson.dumps(points(child.get("points", ""))).decode()
            elif child.tag == f"{ns}TextEquiv":
                conf, text = child.get("conf"), child.findtext(f"{ns}Unicode") or ""
                readings.append(
                    (uuid_utils.uuid7().hex, page_id, "transcription", text, identity, 0, "pagexml", "source",
                     float(conf) if conf else None, *made)
                )  # fmt: skip
            elif child.tag in kinds:
                take(child, identity)
        xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
        x, y = min(xs), min(ys)
        w, h = max(xs) - x, max(ys) - y
        anchor = {"document_id": page_id, "rendition_id": None, "space": "normalized", "rect": (x, y, w, h),
                  "rotation": 0, "polygon": polygon}  # fmt: skip
        kept = {"format": {"driver": "pagexml", "id": element.get("id"), "sequence": len(segments)}}
        segments.append(
            (identity, page_id, pass_id, kinds[str(element.tag)], element.get("type"),
             orjson.dumps(anchor).decode(), baseline, parent, 0, None, orjson.dumps(kept).decode(),
             x, y, w, h, int((y + h / 2) * 16) * 16 + int((x + w / 2) * 16), 0, 1, *made, at)
        )  # fmt: skip

    for region in page:
        take(region, None)
    bare.execute("BEGIN IMMEDIATE")
    bare.executemany(_insert("segment", SEGMENT), segments)
    bare.executemany(_insert("content_representation", READING), readings)
    bare.execute("COMMIT")


class Files:
    """The same page again and again, each time with other bytes: a file is imported once only."""

    def __init__(self) -> None:
        self.body = page_file()
        self.number = 0

    def next(self) -> bytes:
        """The next file."""
        self.number += 1
        return self.body.replace(b"<Creator>", b"<Creator>%d " % self.number, 1)


def page_file() -> bytes:
    """A page of 25 regions with 20 lines of 8 words: outlines, baselines, texts, confidences."""
    parts = [
        f'<?xml version="1.0" encoding="UTF-8"?><PcGts xmlns="{NAMESPACE}"><Metadata><Creator>bench</Creator>'
        "<Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="0001.jpg" imageWidth="{WIDTH}" imageHeight="{HEIGHT}">'
    ]
    for r in range(REGIONS):
        left, top = 100 + r % 5 * 1150, 100 + r // 5 * 1550
        parts.append(f'<TextRegion id="r{r}" type="paragraph">{_coords(left, top, 1100, 1500)}')
        for n in range(LINES):
            y = top + 10 + n * 72
            steps = range(left + 10, left + 1090, 180)
            upper = " ".join(f"{x},{y + x % 7}" for x in steps)
            lower = " ".join(f"{x},{y + 60 - x % 5}" for x in reversed(steps))
            parts.append(
                f'<TextLine id="r{r}l{n}"><Coords points="{upper} {lower}"/>'
                f'<Baseline points="{left + 10},{y + 50} {left + 500},{y + 51} {left + 1080},{y + 53}"/>'
            )
            for w in range(WORDS):
                box = _coords(left + 10 + w * 130, y, 120, 60)
                parts.append(
                    f'<Word id="r{r}l{n}w{w}">{box}<TextEquiv conf="0.{90 + w}"><Unicode>palabra{w}</Unicode>'
                    "</TextEquiv></Word>"
                )
            text = " ".join(f"palabra{w}" for w in range(WORDS))
            parts.append(f'<TextEquiv conf="0.9"><Unicode>{text}</Unicode></TextEquiv></TextLine>')
        parts.append("</TextRegion>")
    parts.append("</Page></PcGts>")
    return "".join(parts).encode()


def _coords(x: int, y: int, w: int, h: int) -> str:
    return f'<Coords points="{x},{y} {x + w},{y} {x + w},{y + h} {x},{y + h}"/>'
