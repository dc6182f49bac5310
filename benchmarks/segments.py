"""Rows 12 to 14: a page of 4,525 segments listed, read and edited, and the error rate, each against the bare work."""

from __future__ import annotations

import random
import sqlite3

import orjson

from armarium.api import ActionContext, Engine, Library
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, bare_database, running_engine, scratch_folder

REGIONS, LINES, WORDS = 25, 20, 8
SEGMENTS = REGIONS * (1 + LINES * (1 + WORDS))
PAIRS = 100_000
REPEATS = 5


def measure(rounds: int) -> list[Result]:
    """Measure listing, text, edit with undo, and the character error rate of 100,000 line pairs."""
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        page = _Page(engine, library)
        bare = sqlite3.connect(library.path / "library.sqlite")
        two = bare_database(
            folder / "two.sqlite", "CREATE TABLE segment (id TEXT PRIMARY KEY, kind_raw TEXT)"
        )
        two.execute("INSERT INTO segment VALUES ('x', 'a')")
        try:
            return [
                page.listing(bare, rounds),
                page.text(bare, rounds),
                page.lines_text(bare, rounds),
                page.edit(two, rounds),
                _error_rate(rounds),
            ]
        finally:
            bare.close()
            two.close()


class _Page:
    """One page of regions, lines and words, all of them read, beside a page of as many lines."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.words, self.words_pass = self._make(words=True)
        self.lines, self.lines_pass = self._make(words=False)

    def _make(self, *, words: bool) -> tuple[str, str]:
        from armarium_source_model.api import (
            NewPass,
            NewReading,
            NewSegment,
            add_readings,
            add_segments,
            create_pass,
        )

        result = self.engine.run(self.library, "document.create", {"name": "Page", "doc_type": "page"}, OWNER)
        document = str((result.result or {})["id"])
        new = []
        for n in range(REGIONS if words else 0):
            x, y = 0.05 + 0.48 * (n % 2), 0.02 + 0.07 * (n // 2)
            new.append(NewSegment(f"r{n}", "region", [x, y, 0.42, 0.065]))
            for m in range(LINES):
                top = y + 0.0032 * m
                line = f"r{n}l{m}"
                outline = [[x + 0.42 * k / 9, top] for k in range(10)]
                outline += [[x + 0.42 * (9 - k) / 9, top + 0.003] for k in range(10)]
                rect, base = [x, top, 0.43, 0.0031], [[x, top + 0.0025], [x + 0.42, top + 0.0025]]
                new.append(NewSegment(line, "line", rect, outline, base, f"r{n}"))
                for k in range(WORDS):
                    box = [x + 0.05 * k, top, 0.045, 0.003]
                    new.append(NewSegment(f"{line}w{k}", "word", box, parent_key=line))
        for n in range(0 if words else SEGMENTS):
            half = SEGMENTS // 2 + 1
            box = [0.05 + 0.48 * (n // half), 0.01 + 0.0004 * (n % half), 0.42, 0.0003]
            new.append(NewSegment(str(n), "line", box))
        found: list[str] = []

        def write(ctx: ActionContext) -> None:
            pass_id = create_pass(ctx, NewPass(document, "Lines", provider="reader", model="sample"))
            ids = add_segments(ctx, pass_id, document, None, new)
            text = "your letter of the third has come to hand"
            read = [i for i, one in zip(ids, new, strict=True) if one.kind != "region"]
            add_readings(ctx, [NewReading(identity, text, producer_tool="reader") for identity in read])
            found.extend([pass_id, *ids])

        other = {"name": "Beside", "doc_type": "page"}
        self.engine.run(self.library, "document.create", other, OWNER, in_transaction=write)
        self.segment = found[-1]
        return document, found[0]

    def listing(self, bare: sqlite3.Connection, rounds: int) -> Result:
        """Return the bytes of GET /api/segments/document/{id}, counting texts and passes included."""
        from armarium_source_model.queries.passes import list_passes
        from armarium_source_model.queries.segments import list_segments

        def ours() -> None:
            with self.library.db.read() as conn:
                passes, segments = list_passes(conn, self.words), list_segments(conn, self.words)
            orjson.dumps({"document_id": self.words, "passes": passes, "segments": segments})

        def theirs() -> None:
            found_rows = bare.execute(
                "SELECT s.*, r.content FROM segment s LEFT JOIN content_representation r ON r.segment_id = s.id "
                "WHERE s.document_id = ? AND s.deleted_at IS NULL ORDER BY s.id",
                (self.words,),
            )
            names = [column[0] for column in found_rows.description]
            rows = []
            for row in found_rows.fetchall():
                one = dict(zip(names, row, strict=True))
                for name in ("anchor", "baseline", "cell", "metadata"):
                    if one[name] is not None:
                        one[name] = orjson.Fragment(one[name])
                rows.append(one)
            orjson.dumps({"document_id": self.words, "segments": rows})

        return compare(
            12,
            f"listing of a page of {SEGMENTS:,} segments as JSON",
            engine=lambda: _often(ours),
            peer=lambda: _often(theirs),
            peer_name="bare SQL and orjson",
            unit="s",
            rounds=rounds,
            limit=2.0,
        )

    def text(self, bare: sqlite3.Connection, rounds: int) -> Result:
        """Measure the text of the page with words, whose lines have readings of their own."""
        return self._text(bare, rounds, self.words, self.words_pass, "regions, lines and words")

    def lines_text(self, bare: sqlite3.Connection, rounds: int) -> Result:
        """Measure the text of the page of lines in two columns."""
        return self._text(bare, rounds, self.lines, self.lines_pass, "lines")

    def _text(self, bare: sqlite3.Connection, rounds: int, document: str, pass_id: str, what: str) -> Result:
        from armarium_source_model.api import page_text

        def ours() -> None:
            with self.library.db.read() as conn:
                page_text(conn, document)

        def theirs() -> None:
            rows = bare.execute(
                "SELECT s.id, s.kind, s.parent_segment_id, s.bbox_x, s.bbox_y, r.id, r.content FROM segment s "
                "LEFT JOIN content_representation r ON r.segment_id = s.id "
                "WHERE s.pass_id = ? AND s.deleted_at IS NULL ORDER BY s.bbox_y, s.bbox_x",
                (pass_id,),
            ).fetchall()
            "\n".join(row[6] for row in rows if row[1] == "line" and row[6])

        return compare(
            13,
            f"text of a page of {SEGMENTS:,} segments ({what})",
            engine=lambda: _often(ours),
            peer=lambda: _often(theirs),
            peer_name="bare SQL and a join in Python",
            unit="s",
            rounds=rounds,
            limit=3.0,
            note="The engine also finds the reading order, the counting readings and the spans.",
        )

    def edit(self, two: sqlite3.Connection, rounds: int) -> Result:
        """Measure one changed segment and its undo, against two bare transactions."""
        version = 1

        def ours() -> None:
            nonlocal version
            params = {
                "segment_id": self.segment,
                "expected_version": version,
                "kind_raw": f"heading {version}",
            }
            result = self.engine.run(self.library, "segment.update", params, OWNER)
            self.engine.undo(self.library, [result.audit_id], OWNER)
            version += 2

        def theirs() -> None:
            for value in ("b", "a"):
                two.execute("BEGIN IMMEDIATE")
                two.execute("UPDATE segment SET kind_raw = ? WHERE id = 'x'", (value,))
                two.execute("COMMIT")

        return compare(
            13,
            "edit of one segment and its undo",
            engine=lambda: _often(ours, 20),
            peer=lambda: _often(theirs, 20),
            peer_name="two bare transactions",
            unit="s",
            rounds=rounds,
            limit=6.0,
        )


def _often(work: object, times: int = REPEATS) -> float:
    """Return the seconds of one of *times* runs."""
    assert callable(work)
    return seconds(lambda: [work() for _ in range(times)]) / times


def _error_rate(rounds: int) -> Result:
    """Measure total distance and rate of 100,000 line pairs as they are compared for a score."""
    from rapidfuzz.distance import Levenshtein

    from armarium_source_model.api import total_rate

    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz      "
    pairs = []
    for _ in range(PAIRS):
        line = "".join(chance.choices(letters, k=45))
        at = chance.randrange(40)
        pairs.append((line, line[:at] + "xy" + line[at + 1 :]))

    def theirs() -> None:
        measure_distance = Levenshtein.distance
        sum(measure_distance(one, other) for one, other in pairs)
        sum(len(one) for one, _ in pairs)

    return compare(
        14,
        f"character error rate of {PAIRS:,} line pairs",
        engine=lambda: seconds(lambda: total_rate(pairs)),
        peer=lambda: seconds(theirs),
        peer_name="bare rapidfuzz",
        unit="s",
        rounds=rounds,
        limit=1.2,
        note="Policy diplomatic: both sides are brought to NFC and newlines first.",
    )
