"""Row 55: IIIF Content Search within a document and within a folder of everything, and completed terms: p95 as JSON bytes.

`ARMARIUM_BENCH_SEARCHED_PAGES` sets how many pages of 36 lines are generated (2,000; 100000 for the full figure, 150 KB of
disk a page), in folders of 200; folders of up to 20,000 pages are asked too. The words are rare, middling and common.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Callable
from time import perf_counter

import orjson

from armarium.api import Engine, Library, raw_of
from benchmarks.bench_pages import BATCH, Stock, pages
from benchmarks.harness import Result
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.searching import SIZES, plugins

ASKED = 100
LIMIT = 0.06
SHELF = 20_000
"""Pages of a folder of documents."""


def measure(rounds: int) -> list[Result]:
    """Measure the row for each number of pages."""
    return [result for count in SIZES for result in _measure(count)]


def _measure(count: int) -> list[Result]:
    from armarium_formats.plugin import armarium_plugin as formats
    from armarium_iiif.places import Places
    from armarium_iiif.plugin import armarium_plugin as iiif
    from armarium_iiif.queries import content_search
    from armarium_iiif.queries.content_search import ContentQuery

    results = []
    with (
        scratch_folder() as folder,
        running_engine(folder, [*plugins(), formats(), iiif()]) as (engine, library),
    ):
        boxes, shelf = _fill(engine, library, count)
        places = Places("http://localhost")
        kinds: dict[str, Callable[[str, str], object]] = {
            "search": lambda node, word: content_search.search(
                engine, library, places, ContentQuery(node, word), None
            ),
            "autocomplete": lambda node, word: content_search.autocomplete(
                engine, library, places, ContentQuery(node, word[:3]), 1
            ),
        }
        for what, nodes, limit in (
            (f"a document of {BATCH}", boxes, 1.0),
            (f"a folder of {min(count, SHELF):,}", [shelf], None),
        ):
            for kind, ask in kinds.items():
                times = []
                asks = zip(itertools.cycle(nodes), itertools.cycle(_words(library)), strict=False)
                for node, word in itertools.islice(asks, ASKED):
                    began = perf_counter()
                    orjson.dumps(ask(node, word))
                    times.append(perf_counter() - began)
                p95 = statistics.quantiles(times, n=20)[-1]
                name = f"Content {kind} in {what} of {count:,} pages: p95"
                results.append(Result(55, name, "s", p95, LIMIT, "60 ms", p95 / LIMIT, limit=limit))
    return results


def _fill(engine: Engine, library: Library, count: int) -> tuple[list[str], str]:
    """Write the pages in documents, and these in folders; return the documents and the first folder."""
    boxes: list[str] = []
    shelves: list[str] = []

    def create(name: str, parent: str | None) -> str:
        result = engine.run(library, "document.create", {"name": name, "parent_id": parent}, OWNER)
        return str((result.result or {})["id"])

    for number, texts in enumerate(pages(count)):
        if number % SHELF == 0:
            shelves.append(create(f"Shelf {number}", None))
        Stock.texts.append(texts)
        if len(Stock.texts) == BATCH or number == count - 1:
            Stock.parent = create(f"Box {number}", shelves[-1])
            boxes.append(Stock.parent)
            engine.run(library, "bench_pages.fill", {}, OWNER)
            Stock.texts = []
    Stock.parent = None
    return boxes, shelves[0]


def _words(library: Library) -> list[str]:
    """Return words of a hundred pages: of each tenth of them by frequency, one."""
    with library.db.read() as conn:
        rows = raw_of(conn).execute("SELECT words FROM source_model_page_text LIMIT 100").fetchall()
    counted = [
        word for word, _ in Counter(w for row in rows for w in row[0].split() if len(w) > 2).most_common()
    ]
    return counted[:: max(1, len(counted) // 10)]
