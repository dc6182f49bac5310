"""Row 26: vectors of the default embedder: time for learning and embedding, query time, and recall.

``ARMARIUM_BENCH_PAGES`` sets how many pages of 36 lines are generated (2,000; 20,000 is the full figure). Recall: a
line with one letter dropped and one added, searched by likeness and by words; its page must be among the first ten.
"""

from __future__ import annotations

import os
import random
import time
from typing import Any

from armarium.api import Engine, Library, raw_of
from benchmarks.bench_pages import add_pages
from benchmarks.harness import Result, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.searching import plugins

PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "2000"))
FULL = 20_000
ASKED = 100


def measure(rounds: int) -> list[Result]:
    """Measure learning and embedding, the time of a query, and recall against full text."""
    with scratch_folder() as folder, running_engine(folder / "project", plugins()) as (engine, library):
        add_pages(engine, library, PAGES)
        engine.run(library, "search.embed", {}, OWNER)
        began = time.process_time()
        engine.jobs.run_until_idle(library, 3_600)
        spent = time.process_time() - began
        # Learning takes as long for few pages as for many, so only the full figure has a limit.
        limit = 1.0 if PAGES >= FULL else None
        result = Result(26, f"learning and embedding {PAGES:,} pages, of one core", "s", spent, 120,
                      "2 minutes for 20,000 pages", spent / 120, limit=limit)  # fmt: skip
        return [result, *_queries(engine, library)]


def _queries(engine: Engine, library: Library) -> list[Result]:
    chance = random.Random(26)
    with library.db.read() as conn:
        rows = raw_of(conn).execute("SELECT document_id, text FROM source_model_page_text").fetchall()
    found = {"semantic": 0, "fulltext": 0}
    times: list[float] = []
    asked = chance.sample(rows, min(ASKED, len(rows)))
    for page, text in asked:
        line = chance.choice([one for one in text.split("\n") if len(one) > 20] or [text])
        gone, come = chance.sample(range(1, len(line)), 2)
        misread = line[:gone] + line[gone + 1 :]
        misread = misread[:come] + chance.choice("aeinrst") + misread[come:]
        for how in found:
            answers: list[dict[str, Any]] = []
            took = seconds(lambda h=how, m=misread, a=answers: a.append(_ask(engine, library, m, h)))
            times += [took] if how == "semantic" else []
            found[how] += any(result["document_id"] == page for result in answers[0]["results"])
    p95 = sorted(times)[int(len(times) * 0.95)]
    semantic, fulltext = (found[how] / len(asked) for how in ("semantic", "fulltext"))
    return [
        Result(26, f"a query by likeness over {PAGES:,} pages: p95", "s", p95, 0.03, "30 ms", p95 / 0.03, limit=1.0),
        Result(26, "recall at 10 of lines misread by two letters", "of 1", semantic, max(fulltext, 0.01),
               "full text, all words", semantic / max(fulltext, 0.01), "at least"),
    ]  # fmt: skip


def _ask(engine: Engine, library: Library, query: str, how: str) -> dict[str, Any]:
    from armarium_search.queries.search import search
    from armarium_search.schemas import SearchParams

    words = '"' + query.replace('"', " ") + '"' if how == "semantic" else query.replace('"', " ")
    with library.db.read() as conn:
        params = SearchParams(query=words, search_type=how, min_score=0.0)
        return search(conn, library, engine, OWNER, params)
