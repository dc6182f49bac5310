"""Errors found from corrections, and row 52: how soon they are listed in a project of 10,000 pages.

Four documents are read by the hand reader, and a person is simulated from the ground truth: the person corrects lines in the
order of ``GET /api/disputed``, and after each correction judges the proposals that it leads to, weighed by the ink too, accepting those that the truth
has. Stated are the share of the first 50 proposals that were right, and the errors left after a tenth of the lines was
corrected over those left after as many random ones (what a random tenth leaves on average is nine tenths), without and
with the accepted proposals.

It needs the folder of data that ARMARIUM_BENCH_DATA names (``../shared/data``). What is missing is reported.
"""

from __future__ import annotations

import io
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from armarium.api import Engine, Library, NotFound, raw_of
from armarium_checking.plugin import armarium_plugin as checking
from armarium_checking.queries.disputed import list_disputed
from armarium_checking.queries.proposals import list_proposals
from armarium_documents.api import representations
from armarium_source_model.api import counting_of_segments, line_errors
from benchmarks.bench_pages import LINES, add_pages
from benchmarks.harness import Result
from benchmarks.places import OWNER, running_engine, scratch_folder
from benchmarks.read_pages import borrow_runtimes, wait_until_done
from benchmarks.reading_hands import import_pages
from benchmarks.searching import plugins as searched
from benchmarks.teaching import SHARED

ALTO = {"onehand-peraire": ("onehand-peraire", ""), "bronod": ("page-pairs/bronod", "alto/")}
TEST = ("medieval-french:bnf-fr-1450", "lectaurep-repertoires:lectaurep-dufour-1")
"""Documents of the test split of the corpus that the base reader of handwriting was taught with."""
MOST_PAGES = 12
MACHINE = replace(OWNER, kind="machine", role="editor", name="reader")
LISTED_AT_ONCE = 20
ITEM = ("segment_id", "reading_id", "char_start", "char_end", "read", "proposed")
SHOWN, PRECISION = 50, 0.7
SHARE, LEFT = 0.1, 0.7
PAGES, MOST_MS = 10_000, 300.0


class PictureOfLines(NamedTuple):
    """A page's picture as JPEG with its size, and its lines: anchor and baseline in fractions, and the true text."""

    jpeg: bytes
    size: tuple[int, int]
    lines: list[tuple[dict[str, Any], str]]


def measure(rounds: int) -> list[Result]:
    """Measure each document, and the first page of proposals in a large project."""
    results = [_first_page(rounds)]
    folder = Path(os.environ.get("ARMARIUM_BENCH_DATA", SHARED))
    if not folder.is_dir():
        print("error_finding: no data (ARMARIUM_BENCH_DATA names their folder); left out.", file=sys.stderr)
        return results
    for name, pages in documents(folder).items():
        results += _simulate(name, pages)
    return results


def documents(folder: Path) -> dict[str, list[PictureOfLines]]:
    """Return the four documents: two with layouts, two of the test split of the corpus, whose lines are put into pages."""
    found = {name: _pages_of_alto(folder / where, within) for name, (where, within) in ALTO.items()}
    for document in TEST:
        found[document.partition(":")[2]] = _pages_of_strips(folder / "hand-lines", document)
    return {name: pages[:MOST_PAGES] for name, pages in found.items() if pages}


def _pages_of_alto(folder: Path, within: str) -> list[PictureOfLines]:
    from lxml import etree
    from PIL import Image

    pages = []
    for picture in sorted(folder.glob("*.jpg")):
        root = etree.parse(folder / f"{within}{picture.stem}.xml").getroot()
        size = next(root.iter("{*}Page"))
        wide, high = float(size.get("WIDTH", 1)), float(size.get("HEIGHT", 1))

        def points(told: str | None, wide: float = wide, high: float = high) -> list[list[float]]:
            numbers = [float(one) for one in (told or "").replace(",", " ").split()]
            pairs = zip(numbers[::2], numbers[1::2], strict=False)
            return [[min(1.0, max(0.0, x / wide)), min(1.0, max(0.0, y / high))] for x, y in pairs]

        lines = []
        for line in root.iter("{*}TextLine"):
            text = " ".join(element.get("CONTENT", "") for element in line.iter("{*}String")).strip()
            left, top, width, height = (
                float(line.get(name, 0)) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")
            )
            if not text or width <= 0 or height <= 0:
                continue
            outline = next((points(element.get("POINTS")) for element in line.iter("{*}Polygon")), [])
            place: dict[str, Any] = {
                "anchor": {"rect": _inside(left / wide, top / high, width / wide, height / high)}
            }
            if len(outline) > 2:
                place["anchor"]["polygon"] = outline
            baseline = points(line.get("BASELINE"))
            if len(baseline) > 1:
                place["baseline"] = baseline
            lines.append((place, text))
        pages.append(PictureOfLines(picture.read_bytes(), Image.open(picture).size, lines))
    return pages


def _inside(x: float, y: float, w: float, h: float) -> list[float]:
    x, y = max(0.0, x), max(0.0, y)
    return [x, y, min(w, 1 - x), min(h, 1 - y)]


def _pages_of_strips(folder: Path, document: str) -> list[PictureOfLines]:
    import polars
    from PIL import Image

    strips: dict[str, list[tuple[Any, str]]] = {}
    for file in sorted(folder.glob("test-*.parquet")):
        for row in polars.read_parquet(file).iter_rows(named=True):
            if row["document"] == document and row["kind"] == "hand":
                strips.setdefault(row["page"], []).append(
                    (Image.open(io.BytesIO(row["image"])).convert("L"), row["text"])
                )
    pages = []
    for name in sorted(strips):
        of_page = strips[name]
        wide = max(strip.width for strip, _ in of_page)
        high = sum(strip.height + 20 for strip, _ in of_page)
        sheet, top, lines = Image.new("L", (wide, high), 230), 10, []
        for strip, text in of_page:
            sheet.paste(strip, (0, top))
            lines.append(
                ({"anchor": {"rect": [0.0, top / high, strip.width / wide, strip.height / high]}}, text)
            )
            top += strip.height + 20
        jpeg = io.BytesIO()
        sheet.save(jpeg, "JPEG", quality=90)
        pages.append(PictureOfLines(jpeg.getvalue(), sheet.size, lines))
    return pages


class Person:
    """Somebody who knows the truth of every line, and corrects those that are worth it first."""

    def __init__(self, engine: Engine, library: Library, truth: dict[str, str], read: dict[str, str]) -> None:
        self.engine, self.library, self.truth, self.texts = engine, library, truth, dict(read)
        self.corrected: set[str] = set()
        self.judged: list[bool] = []

    def errors(self) -> int:
        """Return how many characters of all lines are wrong."""
        return sum(_distance(self.truth[line], text) for line, text in self.texts.items())

    def correct_best(self, many: int, *, judges: bool) -> None:
        """Correct *many* lines in the order of the list, which is asked for anew after every few."""
        while many > 0:
            with self.library.db.read() as conn:
                listed = list_disputed(conn, self.engine, limit=min(5, many))["items"]
            if not listed:
                return
            for one in listed:
                many -= 1
                line = one["segment_id"]
                if line not in self.corrected:
                    self._correct(line, judges)

    def _correct(self, line: str, judges: bool) -> None:
        self.corrected.add(line)
        sent = {"segment_id": line, "text": self.truth[line]}
        self.engine.run(self.library, "representation.create", sent, OWNER)
        self.texts[line] = self.truth[line]
        while judges:
            with self.library.db.read() as conn:
                try:
                    items = list_proposals(
                        conn,
                        self.engine,
                        self.library,
                        OWNER,
                        segment_id=line,
                        ink=True,
                        limit=LISTED_AT_ONCE,
                    )["items"]
                except NotFound:
                    return
            decided: dict[str, list[dict[str, Any]]] = {"accepted": [], "rejected": []}
            for one in items:
                is_right = self._is_right(one)
                self.judged.append(is_right)
                decided["accepted" if is_right else "rejected"].append({name: one[name] for name in ITEM})
            if not items:
                return
            self.engine.run(self.library, "proposal.decide", decided, OWNER)
            for one in sorted(decided["accepted"], key=lambda item: -item["char_start"]):
                text = self.texts[one["segment_id"]]
                self.texts[one["segment_id"]] = (
                    text[: one["char_start"]] + one["proposed"] + text[one["char_end"] :]
                )

    def _is_right(self, one: dict[str, Any]) -> bool:
        truth, text = self.truth[one["segment_id"]], one["text"]
        mended = text[: one["char_start"]] + one["proposed"] + text[one["char_end"] :]
        return one["proposed"] in truth and _distance(truth, mended) < _distance(truth, text)


def _distance(truth: str, text: str) -> int:
    return line_errors(truth, text).distance


def _simulate(name: str, pages: list[PictureOfLines]) -> list[Result]:
    with scratch_folder() as folder:
        borrow_runtimes(folder / "state")
        (folder / "pages").mkdir()
        for number, page in enumerate(pages):
            (folder / "pages" / f"{number:03}.jpg").write_bytes(page.jpeg)
        with running_engine(folder, jobs=True) as (engine, library):
            truth = _draw_lines(engine, library, import_pages(engine, library, folder / "pages"), pages)
            return _correct_as_person(name, engine, library, truth)


def _draw_lines(
    engine: Engine, library: Library, ids: list[str], pages: list[PictureOfLines]
) -> dict[str, str]:
    truth: dict[str, str] = {}
    for identity, page in zip(ids, pages, strict=True):
        page_pass = engine.run(
            library, "segment.pass_create", {"document_id": identity, "name": "Drawn"}, OWNER
        )
        on_page = {"document_id": identity, "pass_id": (page_pass.result or {})["id"], "kind": "line"}
        drawn = [{**on_page, **place} for place, _ in page.lines]
        result = engine.run(library, "segment.create_many", {"segments": drawn}, OWNER).result or {}
        truth |= {item["id"]: text for item, (_, text) in zip(result["items"], page.lines, strict=True)}
    started = (
        engine.run(library, "reading.read_lines", {"scope_ids": ids, "reader": "hand"}, OWNER).result or {}
    )
    wait_until_done(engine, library, started["job_id"])
    engine.jobs.run_until_idle(library, 600.0)
    return truth


def _correct_as_person(name: str, engine: Engine, library: Library, truth: dict[str, str]) -> list[Result]:
    with library.db.read() as conn:
        read = {line: one.text for line, one in counting_of_segments(conn, truth).items()}
    truth = {line: text for line, text in truth.items() if line in read}
    tenth = round(SHARE * len(truth))
    person = Person(engine, library, truth, read)
    before = person.errors()
    person.correct_best(tenth, judges=True)
    by_hand = sum(_distance(truth[line], read[line]) for line in person.corrected)
    random_left = before * (1 - len(person.corrected) / len(truth))
    most = sorted((_distance(truth[line], read[line]) for line in truth), reverse=True)
    # What nobody can know before correcting: the lines with most errors first.
    best = (before - sum(most[: len(person.corrected)])) / random_left
    left, with_proposals = before - by_hand, person.errors()
    while len(person.judged) < SHOWN and len(person.corrected) < len(truth) // 2:
        person.correct_best(5, judges=True)
    first = person.judged[:SHOWN]
    wrong = f"{100 * before / sum(map(len, truth.values())):.1f} % wrong as read"
    about = f"{name}: {len(truth)} lines, {wrong}; the best order of lines leaves {best:.2f}x of random"
    return [
        Result(0, f"{name}: errors left after a tenth of the lines, by order alone", "characters", left, random_left,
               "in random order", left / random_left, limit=LEFT, note=about),
        Result(0, f"{name}: the same with the proposals that were accepted", "characters", with_proposals, random_left,
               "in random order", with_proposals / random_left, limit=LEFT, note=about),
        Result(0, f"{name}: the first {len(first)} proposals", "right", sum(first), len(first), "shown",
               sum(first) / max(1, len(first)), bound="at least", limit=PRECISION, note=about),
    ]  # fmt: skip


def _first_page(rounds: int) -> Result:
    """Measure the first page of proposals after a correction, in a project of 10,000 pages."""
    plugins = [*searched(), checking()]
    with scratch_folder() as folder, running_engine(folder, plugins) as (engine, library):
        add_pages(engine, library, PAGES, MACHINE)
        line = _correct_a_letter(engine, library)
        times = []
        for _ in range(max(3, rounds)):
            began = time.perf_counter()
            with library.db.read() as conn:
                proposals = list_proposals(conn, engine, library, OWNER, segment_id=line, least=0)
            times.append(1000 * (time.perf_counter() - began))
        # How many there are depends on the line that was found first.
        assert proposals["count"] > SHOWN // 2, proposals["count"]
    taken = sorted(times)[len(times) // 2]
    note = f"{PAGES * LINES:,} lines, {proposals['count']} proposals; first {times[0]:.0f} ms, slowest {max(times):.0f} ms"
    return Result(52, f"the first page of proposals after a correction, of {PAGES:,} pages", "ms", taken, MOST_MS, "the limit",
                  taken / MOST_MS, limit=1.0, note=note)  # fmt: skip


def _correct_a_letter(engine: Engine, library: Library) -> str:
    """Correct a u that was read in a common word into the n that it is there; return the line."""
    with library.db.read() as conn:
        asked = f"SELECT segment_id, content FROM {representations} WHERE content LIKE '% dans %' LIMIT 1"
        line, text = raw_of(conn).execute(asked).fetchone()
    # What was read is written by a machine beside it, and corrected by the person.
    read = text.replace(" dans ", " daus ", 1)
    for sent, who in ((read, MACHINE), (text, OWNER)):
        engine.run(library, "representation.create", {"segment_id": line, "text": sent}, who)
    engine.jobs.run_until_idle(library, 600.0)
    return str(line)
