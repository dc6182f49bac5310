"""Row 24: words that were misread, on pages or in the question; part of the measurement `searching`."""

from __future__ import annotations

import random
from time import perf_counter
from typing import Any

import orjson
from rapidfuzz.distance import OSA

from armarium.api import Engine, Library, raw_of, words_of
from armarium_source_model.api import places_of_words
from benchmarks.bench_pages import HELD_OUT, LINES, Stock
from benchmarks.harness import Result
from benchmarks.places import OWNER

MISREAD = 300
"""The number of words searched."""
MISREAD_SHARE = 0.45
"""The share of a word's places that is misread: plain search, which finds the others, finds at most 0.6 of
the pages.
"""
READ = 1_440
"""The number of lines read for row 24."""


def ask_pages(engine: Engine, library: Library, query: str, **more: Any) -> dict[str, Any]:
    """Return the first ten hits; the answer is also encoded as JSON."""
    from armarium_search.queries.search import search
    from armarium_search.schemas import SearchParams

    with library.db.read() as conn:
        params = SearchParams(query=query, search_type="fulltext", **more)
        answer = search(conn, library, engine, OWNER, params)
    orjson.dumps(answer)
    return answer


Places = dict[str, set[str]]
"""Words with the pages that have them."""


def _count_lines(library: Library) -> tuple[dict[str, int], Places]:
    """Return in how many lines each word is, and on which pages."""
    lines: dict[str, int] = {}
    pages: Places = {}
    with library.db.read() as conn:
        for page, text in raw_of(conn).execute("SELECT document_id, text FROM source_model_page_text"):
            for line in text.split("\n"):
                for word in set(words_of(line)):
                    lines[word] = lines.get(word, 0) + 1
                    pages.setdefault(word, set()).add(page)
    return lines, pages


def _is_seldom(word: str, lines: int) -> bool:
    return lines < 10 and len(word) >= 5 and word.isalpha()


def _seldom(library: Library) -> Places:
    """Return the words of five and more letters that occur in fewer than ten lines, with their pages."""
    lines, pages = _count_lines(library)
    return {word: pages[word] for word, count in sorted(lines.items()) if _is_seldom(word, count)}


def _change_letters(word: str, chance: random.Random) -> str:
    letters = list(word)
    for at in chance.sample(range(len(letters)), chance.randint(1, 2)):
        letters[at] = chance.choice("abcdefghilmnoprstu")
    return "".join(letters)


def _misread_on_pages(engine: Engine, library: Library, word: str, chance: random.Random) -> None:
    """Misread the word in some of its lines."""
    with library.db.read() as conn:
        rows = raw_of(conn).execute(
            "SELECT r.segment_id, r.content FROM content_representation r JOIN source_model_page_text t "
            "ON t.document_id = r.document_id JOIN search_text ON search_text.rowid = t.number "
            "WHERE search_text MATCH ?",
            (f'"{word}"',),
        ).fetchall()  # fmt: skip
    for segment_id, text in rows:
        places = [place for place in places_of_words(text) if place.word == word]
        if places and chance.random() < MISREAD_SHARE:
            at = places[0]
            changed = f"{text[: at.start]}{_change_letters(word, chance)}{text[at.end :]}"
            engine.run(library, "representation.create", {"segment_id": segment_id, "text": changed}, OWNER)


def _share_found(answer: dict[str, Any], pages: set[str]) -> float:
    return len({result["document_id"] for result in answer["results"]} & pages) / len(pages)


def _ask_fuzzily(
    engine: Engine, library: Library, asked: list[tuple[str, set[str]]]
) -> tuple[float, float, float]:
    """Return the recall at ten of plain and of fuzzy search, and the p95 of the latter in seconds."""
    plain = found = 0.0
    times: list[float] = []
    for word, pages in asked:
        plain += _share_found(ask_pages(engine, library, word), pages)
        began = perf_counter()
        answer = ask_pages(engine, library, word, use_fuzzy_match=True)
        times.append(perf_counter() - began)
        found += _share_found(answer, pages)
    return plain / len(asked), found / len(asked), sorted(times)[int(len(times) * 0.95)]


def measure_misread(engine: Engine, library: Library, count: int) -> list[Result]:
    """Measure words misread on pages, and, stated next to it, words misread in the query."""
    chance = random.Random(7)
    seldom = _seldom(library)
    asked = [(word, seldom[word]) for word in chance.sample(sorted(seldom), min(2 * MISREAD, len(seldom)))]
    half = len(asked) // 2
    wrong = [(_change_letters(word, chance), pages) for word, pages in asked[half:]]
    plain, found, p95 = _ask_fuzzily(
        engine, library, [(word, pages) for word, pages in wrong if word not in seldom]
    )
    of_asked = Result(24, f"recall at 10 of words that are misread in the question, {count:,} pages", "of 1", found, 0.95,
                      "the limit of the row above", found / 0.95, note=f"plain search finds {plain:.2f}; p95 {p95 * 1000:.0f} ms")  # fmt: skip
    for word, _ in asked[:half]:
        _misread_on_pages(engine, library, word, chance)
    plain, found, p95 = _ask_fuzzily(engine, library, asked[:half])
    note = f"plain search finds {plain:.2f}; {half} of {len(seldom):,} such words"
    return [
        Result(24, f"recall at 10 of words that pages have misread by one or two letters, {count:,} pages", "of 1", found,
               0.95, "0.95", found / 0.95, "at least", 1.0, note),
        Result(24, f"the words misread on {count:,} pages: p95 against 150 ms", "s", p95, 0.15, "150 ms", p95 / 0.15, limit=1.0),
        of_asked,
    ]  # fmt: skip


def measure_read(engine: Engine, library: Library, count: int) -> list[Result]:
    """Measure words of lines with known text, on pages as read by the hand reader, which was not trained on
    these lines; none of the other pages was made of them.
    """
    lines = _read_lines()
    if not lines:
        return []
    known, pages_of = _count_lines(library)
    pages = [lines[at : at + LINES] for at in range(0, len(lines) - LINES + 1, LINES)]
    Stock.texts = [[read or "-" for _, read in page] for page in pages]
    engine.run(library, "bench_pages.fill", {}, OWNER)
    with library.db.read() as conn:
        rows = raw_of(conn).execute(
            "SELECT document_id, words, halves FROM source_model_page_text ORDER BY number DESC LIMIT ?", (len(pages),)
        ).fetchall()  # fmt: skip
    misread: dict[str, int] = {}
    for (page_id, words, halves), page in zip(reversed(rows), pages, strict=True):
        read = {*words.split(), *halves.split()}
        for text, _ in page:
            for word in set(words_of(text)):
                known[word] = known.get(word, 0) + 1
                pages_of.setdefault(word, set()).add(page_id)
                edits = min((OSA.distance(word, item, score_cutoff=3) for item in read), default=3)
                misread[word] = max(misread.get(word, 0), edits)
    asked = sorted(word for word in misread if _is_seldom(word, known[word]))
    results = []
    for what, wanted, limit in (
        ("that the reader of hands misread by one or two letters", (1, 2), 0.95),
        ("of lines that the reader of hands read", (0, 1, 2, 3), None),
    ):
        chosen = [word for word in asked if misread[word] in wanted]
        chosen = random.Random(9).sample(chosen, min(MISREAD, len(chosen)))
        plain, found, p95 = _ask_fuzzily(engine, library, [(word, pages_of[word]) for word in chosen])
        note = f"plain search finds {plain:.2f}; p95 {p95 * 1000:.0f} ms; {len(chosen)} words of {len(lines):,} lines"
        results.append(Result(24, f"recall at 10 of words {what}, {count:,} pages", "of 1", found, 0.95, "0.95", found / 0.95,
                              *(("at least", 1.0) if limit else ()), note=note))  # fmt: skip
    return results


def _read_lines() -> list[tuple[str, str]]:
    """Return lines of the sample data that no model was trained on: their text, and as read by the hand
    reader.
    """
    import cv2
    import duckdb
    import numpy as np

    from armarium_reader_hand.model import LineModel
    from armarium_reader_hand.picture import line_picture

    if not HELD_OUT.is_file():
        return []
    rows = (
        duckdb.read_parquet(str(HELD_OUT))
        .project("image, text, page, line_id")
        .order("page, line_id")
        .fetchall()
    )
    rows = random.Random(11).sample(rows, READ)
    pictures = [
        line_picture(np.asarray(cv2.imdecode(np.frombuffer(row[0], np.uint8), cv2.IMREAD_GRAYSCALE)))
        for row in rows
    ]
    order = sorted(range(READ), key=lambda number: pictures[number].shape[1])
    model = LineModel.load_shipped(1)
    read: dict[int, str] = {}
    for at in range(0, READ, 8):
        batch = order[at : at + 8]
        read |= zip(
            batch, (one.text for one in model.read([pictures[number] for number in batch])), strict=True
        )
    return [(row[1], read[number]) for number, row in enumerate(rows)]
