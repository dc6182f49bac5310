"""Rows 23 to 25: searching pages by their words, misread words, and the cost of the index for a correction.

``ARMARIUM_BENCH_SEARCHED_PAGES`` sets how many pages of 36 lines are generated (2,000; 10000,100000 for the full figures,
one after the other, about 150 KB of disk a page). Row 23 queries in process, with the answer as JSON bytes, against an FTS5 table of the same
texts in a file beside it that returns what a page of hits shows: names, their number, the lines with the words, the
words' positions in them, and boxes. Stated next to it: what FTS5 takes for names and snippets alone, and tantivy for the
same, where it is installed. Each question is asked over HTTP too. Row 24 takes words of five and more letters that occur
in fewer than ten lines, misreads one or two letters of them in 45 of 100 places, and counts how many of the pages with
such a word are among the first ten hits; then words of lines that the hand reader, not trained on them, misread by one
or two letters. Stated next to it: words misread in the query, and all seldom words of the lines that it read. Row 25 compares
a correction with one in a project whose engine has no search, and measures the lines a second at which the index of a
project is rebuilt.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import sqlite3
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from armarium.api import Engine, Library, Plugin, raw_of
from benchmarks.bench_pages import LINES, add_pages, bench_pages
from benchmarks.harness import Result, compare, seconds
from benchmarks.http_load import latencies
from benchmarks.misread_words import ask_pages, measure_misread, measure_read
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder
from benchmarks.servers import engine_server

SIZES = tuple(map(int, os.environ.get("ARMARIUM_BENCH_SEARCHED_PAGES", "2000").split(",")))
REPEATS = 20
REQUESTS = 200
"""Of each question over HTTP."""


def plugins(*, searching: bool = True) -> list[Plugin]:
    """Return the families that search depends on, with or without it."""
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_reading.plugin import armarium_plugin as reading
    from armarium_rights.plugin import armarium_plugin as rights
    from armarium_search.plugin import armarium_plugin as search
    from armarium_source_model.plugin import armarium_plugin as source_model

    with_search = [search()] if searching else []
    return [documents(), source_model(), reading(), rights(), *with_search, bench_pages()]


def measure(rounds: int) -> list[Result]:
    """Measure all three rows for each number of pages."""
    return [result for count in SIZES for result in _measure(count, rounds)]


def _measure(count: int, rounds: int) -> list[Result]:
    with scratch_folder() as folder:
        with running_engine(folder / "with", plugins()) as (engine, library):
            add_pages(engine, library, count)
            questions = _questions(library)
            results = [*_words(folder, engine, library, count, questions, rounds)]
            results += measure_misread(engine, library, count)
            results += measure_read(engine, library, count)
            results += _corrections(folder, engine, library, count, rounds)
            results.append(_remaking(library, count))
            path = library.path
        return [*results, *_over_http(folder, path, count, questions)]


def _frequent(library: Library) -> list[tuple[str, int]]:
    """Return words by the number of pages that contain them."""
    with library.db.read() as conn:
        counts: dict[str, int] = {}
        for (words,) in raw_of(conn).execute("SELECT words FROM source_model_page_text"):
            for word in set(words.split()):
                counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


class Bare:
    """FTS5 without an engine, in a file on the same disk: pages ranked by bm25, and what a page of hits shows of them."""

    def __init__(self, folder: Path, library: Library) -> None:
        self.conn = bare_database(
            folder / "bare.sqlite",
            "CREATE VIRTUAL TABLE page USING fts5(text, tokenize='unicode61 remove_diacritics 2')",
            "CREATE TABLE about (number INTEGER PRIMARY KEY, id TEXT, name TEXT, starred INTEGER, spans TEXT)",
            "CREATE TABLE line (id TEXT PRIMARY KEY, x REAL, y REAL, w REAL, h REAL) WITHOUT ROWID",
        )
        with library.db.read() as conn:
            raw = raw_of(conn)
            self.conn.execute("BEGIN")
            texts = raw.execute("SELECT number, text FROM source_model_page_text")
            self.conn.executemany("INSERT INTO page (rowid, text) VALUES (?, ?)", texts)
            about = raw.execute(
                "SELECT t.number, d.id, d.name, d.is_starred, t.spans FROM source_model_page_text t "
                "JOIN document d ON d.id = t.document_id"
            )
            self.conn.executemany("INSERT INTO about VALUES (?, ?, ?, ?, ?)", about)
            lines = raw.execute("SELECT id, bbox_x, bbox_y, bbox_w, bbox_h FROM segment")
            self.conn.executemany("INSERT INTO line VALUES (?, ?, ?, ?, ?)", lines)
            self.conn.execute("COMMIT")
        self.conn.execute("INSERT INTO page (page) VALUES ('optimize')")

    def snippets(self, match: str, only: str = "") -> bytes:
        """Return the first ten by rank, each with a snippet."""
        rows = self.conn.execute(
            "SELECT a.id, a.name, snippet(page, 0, '[', ']', '…', 12) FROM page JOIN about a ON a.number = page.rowid "
            f"WHERE page MATCH ? {only} ORDER BY rank LIMIT 10",
            (match,),
        )
        return orjson.dumps(rows.fetchall())

    def hits(self, match: str, only: str = "") -> bytes:
        """Return the first ten by rank, their number, and for each the lines with the words, their positions, and
        boxes.
        """
        rows = self.conn.execute(
            "SELECT a.id, a.name, a.spans, highlight(page, 0, '\x02', '\x03'), bm25(page) FROM page "
            f"JOIN about a ON a.number = page.rowid WHERE page MATCH ? {only} ORDER BY rank LIMIT 10",
            (match,),
        ).fetchall()
        counted = "SELECT count(*) FROM page JOIN about a ON a.number = page.rowid WHERE page MATCH ?"
        (total,) = self.conn.execute(f"{counted} {only}", (match,)).fetchone()
        hits, every = [], []
        for identity, name, spans, marked, score in rows:
            lines = []
            for (segment_id, _, _), text in zip(orjson.loads(spans), marked.split("\n"), strict=False):
                if "\x02" in text and len(lines) < 5:
                    ranges, plain = [], ""
                    for number, part in enumerate(text.replace("\x03", "\x02").split("\x02")):
                        if number % 2:
                            ranges.append((len(plain), len(plain) + len(part)))
                        plain += part
                    lines.append({"segment_id": segment_id, "text": plain, "ranges": ranges, "rect": None})
            every += lines
            hits.append({"document_id": identity, "name": name, "score": score, "lines": lines})
        ids = orjson.dumps([line["segment_id"] for line in every]).decode()
        boxes = self.conn.execute("SELECT * FROM line WHERE id IN (SELECT value FROM json_each(?))", (ids,))
        rects = {row[0]: row[1:] for row in boxes}
        for line in every:
            line["rect"] = rects.get(line["segment_id"])
        return orjson.dumps({"results": hits, "total": total})


class Question(NamedTuple):
    """What is asked for, as written to the engine and to FTS5."""

    what: str
    query: str
    match: str
    more: dict[str, Any]


def _questions(library: Library) -> list[Question]:
    counted = [one for one in _frequent(library) if len(one[0]) > 2]
    common, middling, rare = counted[0][0], counted[len(counted) // 50][0], counted[len(counted) // 2][0]
    with library.db.read() as conn:
        words = raw_of(conn).execute("SELECT words FROM source_model_page_text LIMIT 1").fetchone()[0].split()
    phrase = f'"{words[3]} {words[4]}"'
    return [
        Question("a rare word", rare, f'"{rare}"', {}),
        Question("a middling word", middling, f'"{middling}"', {}),
        Question("a common word", common, f'"{common}"', {}),
        Question("a phrase", phrase, phrase, {}),
        Question(
            "a common word among starred pages", common, f'"{common}"', {"filters": {"is_starred": True}}
        ),
    ]


def _over_http(folder: Path, project: Path, count: int, questions: list[Question]) -> list[Result]:
    """Measure each question as a client waits for it, one after another."""
    (folder / "served").mkdir()
    found = []
    with engine_server(folder / "served", installed=True, project=project) as server:
        for question in questions:
            body = orjson.dumps({"query": question.query, "search_type": "fulltext", **question.more})
            times = latencies(server, "POST", "/api/search", body, count=REQUESTS, connections=1)
            p95 = sorted(times)[int(len(times) * 0.95)]
            what = f"{question.what} in {count:,} pages over HTTP: p95"
            found.append(Result(23, what, "s", p95, 0.05, "50 ms", p95 / 0.05, limit=1.0))
    return found


def _words(
    folder: Path, engine: Engine, library: Library, count: int, questions: list[Question], rounds: int
) -> list[Result]:
    bare = Bare(folder, library)
    tantivy = Tantivy(folder / "tantivy", library) if importlib.util.find_spec("tantivy") else None
    results = []
    for what, query, match, more in questions:
        times: list[float] = []

        def ours(query: str = query, more: dict[str, Any] = more, times: list[float] = times) -> float:
            own = [seconds(lambda: ask_pages(engine, library, query, **more)) for _ in range(REPEATS)]
            times += own
            return statistics.median(own)

        only = "AND a.starred" if more else ""

        def theirs(match: str = match, only: str = only) -> float:
            return statistics.median(seconds(lambda: bare.hits(match, only)) for _ in range(REPEATS))

        def less(match: str = match, only: str = only) -> float:
            return statistics.median(seconds(lambda: bare.snippets(match, only)) for _ in range(REPEATS))

        found = compare(23, f"{what} in {count:,} pages", engine=ours, peer=theirs, unit="s", rounds=rounds, limit=2.0,
                        peer_name="FTS5, ranked, with the lines and boxes of the hits")  # fmt: skip
        bare_found = compare(23, f"{what} in {count:,} pages, against less", engine=ours, peer=less, unit="s",
                             rounds=rounds, peer_name="FTS5, ranked, with names and snippets")  # fmt: skip
        results += (
            _beside_tantivy(tantivy, f"{what} in {count:,} pages", match, ours, rounds)
            if tantivy and not more
            else []
        )
        p95 = sorted(times)[int(len(times) * 0.95)]
        results += [
            found,
            bare_found,
            Result(
                23,
                f"{what} in {count:,} pages: p95 against 50 ms",
                "s",
                p95,
                0.05,
                "50 ms",
                p95 / 0.05,
                limit=1.0,
            ),
        ]
    return results


class Tantivy:
    """The same texts in an index of tantivy, folded beforehand as ours are, and split at blanks."""

    def __init__(self, folder: Path, library: Library) -> None:
        tantivy = importlib.import_module("tantivy")
        build = tantivy.SchemaBuilder()
        build.add_text_field("name", stored=True)
        build.add_text_field("text", stored=True)
        folder.mkdir()
        self._schema = build.build()
        self._index = tantivy.Index(self._schema, path=str(folder))
        self._snippets = tantivy.SnippetGenerator
        writer = self._index.writer()
        with library.db.read() as conn:
            rows = raw_of(conn).execute(
                "SELECT d.name, t.words FROM source_model_page_text t JOIN document d ON d.id = t.document_id"
            )
            for name, words in rows:
                writer.add_document(tantivy.Document(name=name, text=words))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def snippets(self, match: str) -> bytes:
        """Return the first ten by rank and their number, each with a snippet."""
        query = self._index.parse_query(match, ["text"])
        found = self._searcher.search(query, 10, count=True)
        shown = self._snippets.create(self._searcher, query, self._schema, "text")
        hits = []
        for score, place in found.hits:
            document = self._searcher.doc(place)
            hits.append((document["name"][0], score, shown.snippet_from_doc(document).to_html()))
        return orjson.dumps({"hits": hits, "count": found.count})


def _beside_tantivy(
    tantivy: Tantivy, what: str, match: str, ours: Callable[[], float], rounds: int
) -> list[Result]:
    def theirs() -> float:
        return statistics.median(seconds(lambda: tantivy.snippets(match)) for _ in range(REPEATS))

    return [
        compare(
            23,
            f"{what}, beside tantivy",
            engine=ours,
            peer=theirs,
            peer_name="tantivy, ranked, with names and snippets",
            unit="s",
            rounds=rounds,
        )
    ]


def _corrections(folder: Any, engine: Engine, library: Library, count: int, rounds: int) -> list[Result]:
    with running_engine(folder / "without", plugins(searching=False)) as (bare_engine, bare_library):
        add_pages(bare_engine, bare_library, count)
        with bare_library.db.write() as conn:
            # The engine without search stores no texts either: everything that search needs is measured.
            raw_of(conn).execute("DELETE FROM source_model_page_text")
        from armarium_source_model import keeping

        original = keeping.note_step

        def side(one: Engine, other: Library, *, keeps: bool) -> Callable[[], float]:
            with other.db.read() as conn:
                lines = (
                    raw_of(conn)
                    .execute(
                        "SELECT r.segment_id, r.content FROM segment s JOIN content_representation r ON r.segment_id = s.id "
                        "WHERE length(r.content) > 9 ORDER BY random() LIMIT 4000"
                    )
                    .fetchall()
                )
            chance = random.Random(25)

            def work() -> float:
                times = []
                for _ in range(REPEATS):
                    # A typical correction: one letter of the line changes.
                    segment_id, text = lines.pop()
                    at = chance.choice([place for place, sign in enumerate(text) if sign != " "])
                    given = {
                        "segment_id": segment_id,
                        "text": f"{text[:at]}{chance.choice('aeinrst')}{text[at + 1 :]}",
                    }
                    times.append(seconds(lambda g=given: one.run(other, "representation.create", g, OWNER)))
                return statistics.median(times)

            return work

        for plugin in bare_engine.plugins.loaded:
            if plugin.name == "source_model":
                object.__setattr__(
                    plugin, "on_step", tuple(one for one in plugin.on_step if one is not original)
                )
        return [
            compare(
                25,
                f"a correction in {count:,} pages",
                engine=side(engine, library, keeps=True),
                peer=side(bare_engine, bare_library, keeps=False),
                peer_name="the same without texts and index",
                unit="s",
                rounds=rounds,
                limit=1.3,
            )
        ]


def _remaking(library: Library, count: int) -> Result:
    from armarium_search import entries
    from armarium_source_model import keeping

    took = seconds(lambda: (keeping.remake(library), entries.remake(library)))
    rate = count * LINES / took
    size = (library.path / "library.sqlite").stat().st_size / 1e6
    with library.db.read() as conn:
        of_index = raw_of(conn).execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search_%' OR name LIKE 'source_model_%'"
        ).fetchone()[0] if _has_dbstat(conn) else 0  # fmt: skip
    note = f"texts and index {(of_index or 0) / 1e6:.0f} MB of {size:.0f} MB"
    return Result(25, f"lines a second at which texts and index of {count:,} pages are rebuilt", "1/s", rate, 8000, "8,000", rate / 8000,
                  "at least", 1.0, note)  # fmt: skip


def _has_dbstat(conn: Any) -> bool:
    try:
        raw_of(conn).execute("SELECT 1 FROM dbstat LIMIT 1").fetchone()
    except sqlite3.OperationalError:
        return False
    return True
