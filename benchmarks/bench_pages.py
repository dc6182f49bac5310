"""Pages of lines for searching, written by bulk insert: words of the sample books, drawn by frequency."""

from __future__ import annotations

import html
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armarium.api import ActionContext, Engine, Library, Params, Plugin, Principal, action, new_id
from armarium_documents.api import documents
from armarium_source_model.api import (
    NewPass,
    NewReading,
    NewSegment,
    add_readings,
    create_passes,
    ready_segments,
)
from benchmarks.places import OWNER

LINES = 36
LONGEST = 300
"""Characters of the longest line used: longer ones in these files are paragraphs."""
DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
HELD_OUT = DATA / "hand-lines" / "test-000.parquet"
"""Lines that no model was trained on."""
COLUMNS = tuple(column.name for column in documents.columns)
BATCH = 200


def real_lines() -> list[str]:
    """Return the transcribed lines of the sample data, handwriting and print, without those that `measure_read`
    has read by the hand reader; without sample data, lines of generated words.
    """
    found = [line for line in _of_hands() if len(line.split()) > 3]
    for place in sorted((DATA / "lines-toebler").rglob("*.gt.txt")):
        found += [
            line.strip() for line in place.read_text("utf-8", "replace").splitlines() if len(line.split()) > 3
        ]
    for place in sorted(DATA.rglob("*.xml")) if DATA.is_dir() else ():
        found += _of_page(place.read_text("utf-8", "replace"))
    chance = random.Random(5)
    while len(found) < 500:
        found.append(
            " ".join("".join(chance.choices("aeioulnrst", k=chance.randint(2, 9))) for _ in range(7))
        )
    return found


def _of_hands() -> list[str]:
    import duckdb

    places = sorted(str(place) for place in (DATA / "hand-lines").glob("*.parquet") if place != HELD_OUT)
    if not places:
        return []
    rows = duckdb.read_parquet(places).project("text, line_id, page").order("page, line_id").fetchall()
    return [row[0].strip() for row in rows]


_LINE = re.compile(r"<(?:\w+:)?TextLine\b.*?</(?:\w+:)?TextLine>", re.DOTALL)
_CONTENT = re.compile(r'\bCONTENT="([^"]*)"')
_UNICODE = re.compile(r"<(?:\w+:)?Unicode>([^<]*)</")


def _of_page(text: str) -> Iterator[str]:
    for line in _LINE.findall(text):
        # The last reading of a line of PAGE is its own; those before it are of its words.
        words = _CONTENT.findall(line) or _UNICODE.findall(line)[-1:]
        joined = html.unescape(" ".join(words)).strip()
        if len(joined.split()) > 3 and len(joined) <= LONGEST and "\n" not in joined:
            yield joined


def pages(count: int) -> Iterator[list[str]]:
    """Return *count* pages of lines, always the same: each line real, with a word of it sometimes changed as readers
    misread it.
    """
    chance = random.Random(3)
    lines = real_lines()
    for _ in range(count):
        page = []
        for _ in range(LINES):
            words = chance.choice(lines).split()
            at = chance.randrange(len(words))
            if chance.random() < 0.3:
                word = list(words[at])
                word[chance.randrange(len(word))] = chance.choice("abcdefghilmnopqrstu")
                words[at] = "".join(word)
            page.append(" ".join(words))
        yield page


class Stock:
    """Pages of text that the next step writes."""

    texts: list[list[str]] = []
    parent: str | None = None


@action("bench_pages.fill", params=Params, summary="Write the pages in stock.")
def fill(ctx: ActionContext, p: Params) -> dict[str, Any]:
    """Insert pages with a pass, lines and readings, by bulk insert."""
    rows, ids = [], []
    for number in range(len(Stock.texts)):
        ids.append(new_id())
        row = {
            "id": ids[-1], "node_kind": "document", "doc_type": "page", "name": f"Leaf {number}", "sort_order": number,
            "parent_id": Stock.parent, "attributes": "{}", "metadata": '{"width": 2000, "height": 3000}', "source_metadata": "{}", "source_authority": "unknown",
            "provenance_chain": "[]", "status": "active", "is_read": 0, "is_starred": int(number % 50 == 0),
            "is_flagged": 0, "is_locked": 0, "exclude_from_processing": 0, "created_at": ctx.now, "updated_at": ctx.now,
        }  # fmt: skip
        rows.append(tuple(row.get(name) for name in COLUMNS))
    ctx.bulk_insert(documents, COLUMNS, rows)
    shapes = [
        NewSegment(str(number), "line", (0.1, 0.02 + number * 0.026, 0.8, 0.02)) for number in range(LINES)
    ]
    page_passes = create_passes(
        ctx,
        [NewPass(identity, "Lines", provider="bench", segments=ready_segments(shapes)) for identity in ids],
    )
    add_readings(
        ctx,
        [
            NewReading(segment_id, text)
            for page, texts in zip(page_passes, Stock.texts, strict=True)
            for segment_id, text in zip(page.segment_ids, texts, strict=True)
        ],
    )
    return {}


def bench_pages() -> Plugin:
    """Return a plugin whose one action writes pages."""
    return Plugin(name="bench_pages", summary="Pages of lines for measurements", actions=(fill,))


def add_pages(engine: Engine, library: Library, count: int, who: Principal = OWNER) -> None:
    """Write *count* pages into a project, read by *who*."""
    batch: list[list[str]] = []
    for page in pages(count):
        batch.append(page)
        if len(batch) == BATCH:
            Stock.texts = batch
            engine.run(library, "bench_pages.fill", {}, who)
            batch = []
    if batch:
        Stock.texts = batch
        engine.run(library, "bench_pages.fill", {}, who)


__all__ = ["HELD_OUT", "LINES", "add_pages", "bench_pages", "pages", "real_lines"]
