"""Row 44: the lines of real pages put in order from their positions alone, as after a machine pass, which finds no
regions; and what a wrong order costs on pages that the product reads.

A succession is kept if the next line of the file comes next. A page is scrambled if its order goes from one column to
another more than three times as often again as it must; short lines (notes, page numbers, initials) do not count,
because the files have them here or there. Figures are given apart for the documents whose pages were looked at while
the rules were made, and for the others. Nothing is timed.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Iterable
from itertools import pairwise

from armarium.api import Library
from benchmarks.harness import Result
from benchmarks.layouts import DATA, MISTAKES, Layout, Line, beside, read_layouts
from benchmarks.places import running_engine, scratch_folder

LOOKED_AT = frozenset(
    {
        "bnf_arsenal_3516-imageDuMonde",
        "bnf-esp-65",
        "bnf-esp-285",
        "bnf-esp-563",
        "foral_de_castreicao_1217",
        "foral_de_gouveia_1217",
        "foral_de_moncao_1269",
        "foral_de_pinhel_1217",
        "foral_de_valhelhas_1217",
    }
)
"""Documents whose pages were looked at."""
SPREADS = 100
SCRAMBLED, KEPT = 0.05, 0.95
MOST = 3
"""Changes of column beyond those that a page needs."""
READ = {"page-pairs/bronod": "*.jpg", "page-pairs/mariages": "*.jpg", "onehand-peraire": "D.5*.jpg"}


class Tally:
    """Counts over pages."""

    def __init__(self) -> None:
        self.kept = self.all = self.scrambled = self.pages = 0

    def add(self, page: Layout, columns: dict[str, int]) -> None:
        """Count a page. columns: the column of each line that counts for a change of column."""
        order = derive_order(page)
        ids = [line.id for line in page.lines if not line.id.startswith("crumb")]
        known_ids = set(ids)
        found = [one for one in order if one in known_ids]
        self.kept += len(set(pairwise(ids)) & set(pairwise(found)))
        self.all += len(ids) - 1
        self.scrambled += _changes(found, columns) - _changes(ids, columns) > MOST
        self.pages += 1

    def results(self, what: str, limits: bool = False) -> list[Result]:
        if not self.pages:
            return []
        scrambled, kept = self.scrambled / self.pages, self.kept / self.all
        return [
            Result(44, f"{what}: scrambled", "pages", self.scrambled, self.pages, "all", scrambled, "at most",
                   SCRAMBLED if limits else None),
            Result(44, f"{what}: successions kept", "pairs of lines", self.kept, self.all, "all", kept, "at least",
                   KEPT if limits else None),
        ]  # fmt: skip


def derive_order(page: Layout) -> list[str]:
    """Return the ids of the lines in the order that the engine derives from boxes and baselines."""
    from armarium_source_model.order import Shape, lean_of, reading_sequence

    aspect = page.width / page.height
    shapes = [
        Shape(line.id, "line", line.x / page.width, line.y / page.height, line.w / page.width, line.h / page.height)
        for line in page.lines
    ]  # fmt: skip
    baselines = [
        [(x / page.width, y / page.height) for x, y in line.baseline] for line in page.lines if line.baseline
    ]
    return reading_sequence(shapes, direction=page.direction, aspect=aspect, lean=lean_of(baselines, aspect))


def _changes(sequence: Iterable[str], columns: dict[str, int]) -> int:
    known = [columns[one] for one in sequence if one in columns]
    return sum(one != other for one, other in pairwise(known))


def measure(rounds: int) -> list[Result]:
    """Count over all pages of the shared data; *rounds* does not matter, since nothing is timed."""
    pages = list(read_layouts())
    columns = [page for page in pages if page.folder == "columns"]
    results: list[Result] = []
    for what, chosen, limits in (
        ("pages in columns, documents not looked at", [column for column in columns if _is_in_columns(column) and column.document not in LOOKED_AT], True),
        ("pages in columns, documents looked at", [column for column in columns if _is_in_columns(column) and column.document in LOOKED_AT], True),
        ("pages of one column, with notes and headings", [column for column in columns if not _is_in_columns(column)], True),
    ):  # fmt: skip
        results += _tally(chosen).results(f"{len(chosen)} {what}", limits)
    for folder in dict.fromkeys(page.folder for page in pages if page.folder != "columns"):
        chosen = [page for page in pages if page.folder == folder]
        results += _tally(chosen).results(f"{len(chosen)} pages of {folder}")[1:]
    results += _with_mistakes([page for page in columns if _is_in_columns(page)])
    results += _spreads(columns)
    return results + _read_pages()


def _is_in_columns(page: Layout) -> bool:
    return page.columns is not None and page.columns > 1


def _tally(pages: Iterable[Layout]) -> Tally:
    tally = Tally()
    for page in pages:
        tally.add(page, page.columns_of_lines())
    return tally


def _with_mistakes(pages: list[Layout]) -> list[Result]:
    found: list[Result] = []
    for what, spoil in MISTAKES.items():
        tally = Tally()
        for page in pages:
            for seed in range(3):
                columns = page.columns_of_lines()
                spoilt = spoil(page, random.Random(f"{page.name} {seed}"))
                tally.add(
                    spoilt, {line.id: columns[line.id[:4]] for line in spoilt.lines if line.id[:4] in columns}
                )
        found += tally.results(f"{tally.pages} pages in columns, {what}", limits=True)
    return found


def _spreads(pages: list[Layout]) -> list[Result]:
    if len(pages) < 2:
        return []
    dice = random.Random(44)
    tally = Tally()
    for _ in range(SPREADS):
        left, right = dice.sample(pages, 2)
        columns = {"l" + one: number for one, number in left.columns_of_lines().items()}
        first = 1 + max(columns.values())
        columns |= {"r" + one: first + number for one, number in right.columns_of_lines().items()}
        tally.add(beside(left, right), columns)
    return tally.results(f"{SPREADS} photographs of two pages, joined here", limits=True)


def _read_pages() -> list[Result]:
    """Read photographs from picture to text: characters wrong on the page as a whole, over those line by line."""
    from benchmarks.read_pages import borrow_runtimes
    from benchmarks.reading_hands import find_and_read, import_pages

    layouts = {page.name: page for page in read_layouts() if page.folder in ("page-pairs", "onehand-peraire")}
    found: list[Result] = []
    for folder, pattern in READ.items():
        files = sorted(path for path in (DATA / folder).glob(pattern) if path.stem in layouts)
        if not files:
            continue
        with scratch_folder() as scratch:
            borrow_runtimes(scratch / "state")
            (scratch / "pages").mkdir()
            for file in files:
                shutil.copy(file, scratch / "pages")
            with running_engine(scratch, jobs=True, compute_priority="fast") as (engine, library):
                pages = import_pages(engine, library, scratch / "pages")
                find_and_read(engine, library, pages)
                by_line, by_page = _error_rates(library, pages, [layouts[file.stem] for file in files])
        found.append(
            Result(44, f"{len(files)} pages of {folder} read from the picture: characters wrong on the page over those line by line",
                   "of 1", by_page, by_line, "line by line", by_page / by_line if by_line else 0.0)
        )  # fmt: skip
    if not found:
        print("reading_order: without the shared data no page is read.", file=sys.stderr)
    return found


def _error_rates(library: Library, pages: list[str], layouts: list[Layout]) -> tuple[float, float]:
    """Return the shares of wrong characters line by line, and over pages in the order of the product."""
    from rapidfuzz.distance import Levenshtein

    from armarium_source_model.api import page_text, segments

    line_errors = page_errors = letters = 0
    for identity, truth in zip(pages, layouts, strict=True):
        with library.db.read() as conn:
            text = page_text(conn, identity)
            rows = {
                row.id: row
                for row in conn.execute(segments.select().where(segments.c.pass_id == text.pass_id))
            }
        pieces: dict[str, list[tuple[float, str]]] = {}
        in_order: list[str] = []
        for span in text.assembled.spans:
            row = rows[span.segment_id]
            left, width = row.bbox_x * truth.width, row.bbox_w * truth.width
            middle = (row.bbox_y + row.bbox_h / 2) * truth.height
            line = _line_at(truth.lines, left, width, middle)
            if line is not None:
                # What the files leave out (the other page of the photograph, printed heads) is no mistake.
                in_order.append(text.text[span.char_start : span.char_end])
                pieces.setdefault(line.id, []).append((left, in_order[-1]))
        texts = [line.text for line in truth.lines]
        got = [" ".join(words for _, words in sorted(pieces.get(line.id, []))) for line in truth.lines]
        line_errors += sum(Levenshtein.distance(one, other) for one, other in zip(texts, got, strict=True))
        page_errors += Levenshtein.distance("\n".join(texts), "\n".join(in_order))
        letters += len("\n".join(texts))
    return line_errors / letters, page_errors / letters


def _line_at(lines: list[Line], left: float, width: float, middle: float) -> Line | None:
    """Return the line that a box is on: the nearest of those that have half of it beside them."""
    beside = [
        line
        for line in lines
        if min(line.x + line.w, left + width) - max(line.x, left) > 0.5 * min(line.w, width)
        and abs(line.middle - middle) < line.h
    ]
    return min(beside, key=lambda line: abs(line.middle - middle), default=None)
