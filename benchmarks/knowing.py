"""Row 27: lists, neighbourhood and mentions over very many entities, and the project's names found on pages without a
model.

``ARMARIUM_BENCH_ENTITIES`` sets the number of entities (2,000; 100,000 is the full figure), each with ten mentions and
two statements; the same is measured with a tenth of them. Rows are written by bulk insert.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Boolean, Float, Integer, Table

from armarium.api import ActionContext, Engine, Library, Params, Plugin, action, new_id, raw_of
from benchmarks.bench_pages import add_pages
from benchmarks.harness import Result, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.searching import plugins

ENTITIES = int(os.environ.get("ARMARIUM_BENCH_ENTITIES", "2000"))
PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "400"))
ASKED = 60
MENTIONS, CLAIMS = 10, 2


class Many(Params):
    """How many entities."""

    count: int


def _rows(table: Table, ctx: ActionContext, given: list[dict[str, Any]]) -> None:
    """Insert rows; columns that are not given get the smallest value of their type."""
    least: dict[str, Any] = {}
    for column in table.columns:
        if column.nullable:
            least[column.name] = None
        elif isinstance(column.type, (Integer, Boolean, Float)):
            least[column.name] = 0
        else:
            least[column.name] = (
                "[]" if column.name in ("names", "date_values", "place_values", "authority_links") else ""
            )
    least |= {"metadata": "{}", "created_at": ctx.now, "updated_at": ctx.now, "provenance_kind": "human"}
    names = tuple(column.name for column in table.columns)
    ctx.bulk_insert(table, names, [tuple({**least, **row}[name] for name in names) for row in given])


@action("bench_knowledge.fill", params=Many, summary="Write entities, mentions and statements.")
def fill(ctx: ActionContext, p: Many) -> dict[str, Any]:
    """Insert entities named after words of the pages, mentioned on lines, and related to others by statements."""
    from armarium_knowledge.api import claim_sources, claims, entities, mentions

    chance = random.Random(27)
    lines = raw_of(ctx.conn).execute(
        "SELECT r.id, r.segment_id, r.document_id, r.content FROM content_representation r WHERE length(r.content) > 12"
    ).fetchall()  # fmt: skip
    ids = [new_id() for _ in range(p.count)]
    called = [" ".join(chance.choice(lines)[3].split()[:2]) for _ in ids]
    _rows(entities, ctx, [
        {"id": one, "canonical_name": name, "entity_type": "person", "folded_names": name.lower(), "curation_state": "verified"}
        for one, name in zip(ids, called, strict=True)
    ])  # fmt: skip
    named = []
    for identity in ids:
        for reading, segment, page, text in chance.choices(lines, k=MENTIONS):
            where = {"document_id": page, "segment_id": segment, "representation_id": reading}
            named.append(
                {"id": new_id(), "entity_id": identity, **where, "segment_char_end": 5, "text": text[:5]}
            )
    _rows(mentions, ctx, named)
    told, sources = [], []
    for identity in ids:
        for _ in range(CLAIMS):
            reading, segment, page, text = chance.choice(lines)
            claim, other = new_id(), chance.choice(ids)
            told.append({
                "id": claim, "text": text, "folded_text": text.lower(), "claim_type": "fact", "epistemic_status": "stated",
                "curation_state": "verified", "subject_entity_id": identity, "object_entity_id": other, "subject_canonical": "a",
                "predicate_verb": "knows", "object_phrase": "b", "source_type": "document", "time_precision": "unknown",
            })  # fmt: skip
            where = {"document_id": page, "segment_id": segment, "representation_id": reading}
            sources.append({"id": new_id(), "claim_id": claim, **where, "segment_char_start": 0, "segment_char_end": 5,
                            "excerpt": text[:5]})  # fmt: skip
    _rows(claims, ctx, told)
    _rows(claim_sources, ctx, sources)
    return {}


def measure(rounds: int) -> list[Result]:
    """Measure everything of the row."""
    with scratch_folder() as folder:
        small, _ = _project(folder / "tenth", max(ENTITIES // 10, 20))
        large, rate = _project(folder / "whole", ENTITIES)
    found = []
    for what, p95 in large.items():
        found += [
            Result(
                27, f"{what} of {ENTITIES:,} entities: p95", "s", p95, 0.05, "50 ms", p95 / 0.05, limit=1.0
            ),
            Result(
                27, f"{what}: growth", "s", p95, small[what], "a tenth of them", p95 / small[what], limit=1.5
            ),
        ]
    exact, tolerant = rate
    return [
        *found,
        Result(27, "pages a second on which known names are found", "1/s", exact, 1000, "1,000", exact / 1000, "at least",
               1.0, f"tolerant of misreadings: {tolerant:,.0f}"),
    ]  # fmt: skip


def _project(folder: Path, count: int) -> tuple[dict[str, float], tuple[float, float]]:
    from armarium_knowledge.plugin import armarium_plugin as knowledge

    filling = Plugin(name="bench_knowledge", summary="Entities for measurements", actions=(fill,))
    from armarium_checking.plugin import armarium_plugin as checking

    with running_engine(folder, [*plugins(), checking(), knowledge(), filling]) as (engine, library):
        add_pages(engine, library, PAGES)
        engine.run(library, "bench_knowledge.fill", {"count": count}, OWNER)
        return _times(engine, library), (_rate(library, misread=False), _rate(library, misread=True))


def _times(engine: Engine, library: Library) -> dict[str, float]:
    from armarium_knowledge.queries.claims import list_claims
    from armarium_knowledge.queries.entities import list_entities
    from armarium_knowledge.queries.graph import neighbourhood
    from armarium_knowledge.queries.mentions import list_mentions

    with library.db.read() as conn:
        ids = [row[0] for row in raw_of(conn).execute("SELECT id FROM entity ORDER BY id LIMIT ?", (ASKED,))]
    asked: dict[str, Callable[[Any, str], Any]] = {
        "the first entities": lambda conn, _: list_entities(conn),
        "the first statements": lambda conn, _: list_claims(conn),
        "the neighbourhood of depth 2": lambda conn, one: neighbourhood(conn, one, depth=2),
        "the mentions": lambda conn, one: list_mentions(conn, one),
    }
    found = {}
    for what, ask in asked.items():

        def once(one: str, ask: Callable[[Any, str], Any] = ask) -> None:
            with library.db.read() as conn:
                orjson.dumps(ask(conn, one), default=str, option=orjson.OPT_NON_STR_KEYS)

        once(ids[0])
        times = sorted(seconds(lambda one=identity: once(one)) for identity in ids)
        found[what] = times[int(len(times) * 0.95)]
    return found


def _rate(library: Library, *, misread: bool) -> float:
    from armarium_knowledge.known_names import known_names

    names = known_names(library)
    with library.db.read() as conn:
        texts = [row[0] for row in raw_of(conn).execute("SELECT text FROM source_model_page_text")]
    began = time.perf_counter()
    for text in texts:
        for line in text.split("\n"):
            names.on_line(line, misread=misread)
    return len(texts) / (time.perf_counter() - began)
