"""Row 37: how well documents are found, and how fast.

The only real ground truth is `series-wills` of `ARMARIUM_SHARED_DATA`: 36 pages of French wills whose boundaries are
known, with the default rules (Spanish and English), then with the French table of `examples/french_cues`. The table was
written from pages 1 to 18 only; pages 19 to 36 are held out, and only they are counted. Boxes of letters, rulings,
cables and receipts in Spanish and English are generated here, so that their boundaries are known; their texts are
invented, and so their evidence for these two languages is limited. The learned model is fitted to some boxes and
measured on others. `ARMARIUM_BENCH_PAGES` pages (300 by default, 5,000 for the full figure) are processed in a project,
with their pictures' signals available.
"""

from __future__ import annotations

import os
import random
import runpy
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from armarium_finding.api import BUILTIN, CueTable
from benchmarks.harness import Result
from benchmarks.places import OWNER, running_engine, scratch_folder

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "300"))
BOXES = 30
HELD_OUT_FROM = 18

EXAMPLE = Path(__file__).parents[1] / "examples/french_cues/src/armarium_french_cues/__init__.py"
FRENCH: CueTable = runpy.run_path(str(EXAMPLE))["FRENCH"]
"""The rows of the example, written from the first half of the series."""


class BoundaryCounts(NamedTuple):
    """Boundaries correct, proposed and true, and whole documents correct and true."""

    right: int
    proposed: int
    there: int
    exact: int
    documents: int


def measure(rounds: int) -> list[Result]:
    """Measure precision, recall and exact documents of each; *rounds* only matters for the times, of which the best
    counts.
    """
    found = []
    if DATA.is_dir():
        found += _results("wills, all 36 pages, rules as they stand", _wills(BUILTIN, 0))
        for what, table in (("as they stand", BUILTIN), ("with a French table", _with_french())):
            found += _results(f"wills, pages 19 to 36, rules {what}", _wills(table, HELD_OUT_FROM))
    truth = [made_box(random.Random(seed)) for seed in range(2 * BOXES)]
    held_out = truth[BOXES:]
    found += _results(
        f"{BOXES} boxes made here, rules", _total(_box(texts, starts) for texts, starts in held_out)
    )
    found += _results(f"{BOXES} boxes made here, learned", _score_learned(truth[:BOXES], held_out))
    return [*found, *_times(max(1, min(rounds, 3)))]


def _with_french() -> CueTable:
    from armarium_finding.cues import join_tables

    return join_tables([BUILTIN, FRENCH])


def _results(what: str, found: BoundaryCounts) -> list[Result]:
    def one(measure: str, right: int, of: int, unit: str) -> Result:
        share = right / of if of else 0.0
        return Result(37, f"{what}: {measure}", unit, float(right), float(of), "all", share, "at least")

    return [
        one("precision", found.right, found.proposed, "boundaries proposed"),
        one("recall", found.right, found.there, "boundaries there"),
        one("exact documents", found.exact, found.documents, "documents"),
    ]


def _total(found: Iterable[BoundaryCounts]) -> BoundaryCounts:
    return BoundaryCounts(*map(sum, zip(*found, strict=True)))


def compare(proposed: Sequence[int], truth: Sequence[int], count: int, first: int = 0) -> BoundaryCounts:
    """Compare boundaries, as the numbers of the pages that begin a document, of *count* pages; only those from *first*
    on count.
    """
    mine, real = ({item for item in given if item > first} for given in (proposed, truth))

    def documents(starts: Sequence[int]) -> set[tuple[int, int]]:
        ends = [*sorted(starts)[1:], count]
        return {(a, end) for a, end in zip(sorted(starts), ends, strict=True) if a >= first}

    exact = documents(proposed) & documents(truth)
    return BoundaryCounts(len(mine & real), len(mine), len(real), len(exact), len(documents(truth)))


def _starts(texts: Sequence[str], table: CueTable, model: Any = None) -> list[int]:
    from armarium_finding.evidence import look_at
    from armarium_finding.proposing import propose

    pages = [look_at(str(number), text, is_read=True, table=table) for number, text in enumerate(texts)]
    return [int(document["page_ids"][0]) for document in propose(pages, None, model)["documents"]]


def _wills(table: CueTable, first: int) -> BoundaryCounts:
    import csv

    from lxml import etree

    folder = DATA / "series-wills"
    with (folder / "boundaries.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = []
    for row in rows:
        tree = etree.parse(folder / row["image"].replace(".jpg", ".xml"))
        lines = [
            [element.get("CONTENT", "") for element in line.iter("{*}String")]
            for line in tree.iter("{*}TextLine")
        ]
        texts.append("\n".join(" ".join(line) for line in lines))
    truth = [number for number, row in enumerate(rows) if row["starts_document"] == "1"]
    return compare(_starts(texts, table), truth, len(texts), first)


def _box(texts: Sequence[str], truth: Sequence[int], model: Any = None) -> BoundaryCounts:
    return compare(_starts(texts, BUILTIN, model), truth, len(texts))


def _score_learned(
    judged: Sequence[tuple[list[str], list[int]]], held_out: Sequence[tuple[list[str], list[int]]]
) -> BoundaryCounts:
    """Score a model fitted to the boxes *judged*, as after a person corrected each of their joins."""
    from armarium_finding.evidence import look_at
    from armarium_finding.learning import Example, features_of, fit
    from armarium_finding.rules import pair_into_leaves

    examples = []
    for number, (texts, starts) in enumerate(judged):
        pages = [look_at(str(page), text, is_read=True, table=BUILTIN) for page, text in enumerate(texts)]
        leaves, _ = pair_into_leaves(pages)
        for page, numbers in features_of(leaves, {}).items():
            examples.append(Example(str(number), tuple(numbers), int(page) in starts))
    model = fit(examples)
    return _total(_box(texts, starts, model) for texts, starts in held_out)


_WORDS = [
    "la",
    "casa",
    "el",
    "camino",
    "del",
    "puerto",
    "una",
    "carta",
    "los",
    "bienes",
    "que",
    "dejó",
    "por",
    "su",
    "parte",
    "con",
    "mucho",
    "cuidado",
    "hasta",
    "el",
    "día",
    "siguiente",
    "cuando",
    "llegaron",
    "todos",
    "the",
    "ship",
    "was",
    "late",
    "and",
    "we",
    "waited",
    "for",
    "news",
    "of",
    "the",
    "harvest",
    "in",
    "the",
    "valley",
    "near",
    "our",
    "house",
]
_HEADS: dict[str, Callable[[random.Random], list[str]]] = {
    "carta": lambda dice: ["Madrid, 3 de mayo de 1950.", "Muy señor mío:"][dice.randrange(2) :],
    "letter": lambda dice: ["Boston, May 3, 1850.", "Dear Sir,"][dice.randrange(2) :],
    "sentencia": lambda dice: dice.choice(
        [["JUZGADO DE TOLEDO", "SENTENCIA"], ["SENTENCIA"], ["Vistos, los autos."]]
    ),
    "cable": lambda dice: [dice.choice(["TELEGRAMA", "CABLE", "WESTERN UNION"])],
    "recibo": lambda dice: [dice.choice(["RECIBO", "Recibí de don Juan la suma de diez pesos."])],
    "note": lambda dice: [],
}
_FEET = {
    "carta": ["Atentamente,", "Fdo. Juan Pérez."],
    "letter": ["Yours truly,", "/s/ John Smith."],
    "sentencia": ["Notifíquese."],
    "cable": [],
    "recibo": [],
    "note": [],
}


def made_box(dice: random.Random) -> tuple[list[str], list[int]]:
    """Return the texts of a box's pages and the numbers of those that begin a document.

    Documents have one to seven pages each, with page numbers or none, blank versos, second shots, missing pages, pages
    in the wrong order, and some without any opening or closing.
    """
    texts: list[str] = []
    starts: list[int] = []
    for _ in range(dice.randrange(8, 20)):
        starts.append(len(texts))
        pages = _made_document(dice)
        if len(pages) > 2 and dice.random() < 0.1:
            del pages[dice.randrange(1, len(pages))]
        if len(pages) > 3 and dice.random() < 0.1:
            pages[1], pages[2] = pages[2], pages[1]
        for page in pages:
            texts.append(page)
            if dice.random() < 0.05:
                texts.append(page.replace("l", "1", 2))
            if dice.random() < 0.15:
                texts.append(dice.choice(["", "7", "x"]))
    return texts, starts


def _made_document(dice: random.Random) -> list[str]:
    kind = dice.choice(list(_HEADS))
    count = 1 if kind in ("cable", "recibo") else dice.choice((1, 1, 2, 2, 3, 4, 7))
    is_numbered = count > 1 and dice.random() < 0.4
    pages = []
    for number in range(1, count + 1):
        lines = [" ".join(dice.choices(_WORDS, k=8)) for _ in range(dice.randrange(12, 25))]
        if number == 1:
            lines = [*(_HEADS[kind](dice) if dice.random() < 0.9 else []), lines[0].capitalize(), *lines[1:]]
        elif dice.random() < 0.3:
            lines[0] = lines[0].capitalize()
        if number == count:
            lines = lines[: dice.randrange(3, len(lines))]
            lines[-1] += "."
            lines += _FEET[kind] if dice.random() < 0.8 else []
        elif dice.random() < 0.15:
            lines[-1] += " herma-"
        if is_numbered:
            lines.insert(0, f"- {number} -")
        pages.append("\n".join(lines))
    return pages


def _times(rounds: int) -> list[Result]:
    """Time finding in a folder of many pages, listing proposals and adjusting one, as seconds and milliseconds."""
    from armarium_finding.queries import list_proposals, read_run

    texts: list[str] = []
    dice = random.Random(1)
    while len(texts) < PAGES:
        texts += made_box(dice)[0]
    del texts[PAGES:]
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        box = filled_box(engine, library, texts)
        draw_pictures(library)
        seconds, proposal_id = [], ""
        for _ in range(rounds + 1):
            job = engine.run(library, "finddocs.run", {"scope_ids": [box]}, OWNER).result or {}
            began = time.perf_counter()
            engine.jobs.run_until_idle(library, 3600.0)
            seconds.append(time.perf_counter() - began)
            with library.db.read() as conn:
                proposal_id = read_run(conn, str(job["job_id"]))["proposal_ids"][0]
        rate = PAGES / min(seconds[1:])
        began = time.perf_counter()
        with library.db.read() as conn:
            list_proposals(conn, box)
        listing = 1000 * (time.perf_counter() - began)
        began = time.perf_counter()
        change = {"op": "join", "document_index": 0}
        engine.run(library, "finddocs.adjust", {"proposal_id": proposal_id, "change": change}, OWNER)
        adjusting = 1000 * (time.perf_counter() - began)
    return [
        Result(
            37,
            f"finding in {PAGES} pages",
            "pages/s",
            rate,
            500.0,
            "limit",
            rate / 500.0,
            "at least",
            1.0,
        ),
        Result(
            37, f"listing proposals of {PAGES} pages", "ms", listing, 50.0, "limit", listing / 50.0, limit=1.0
        ),
        Result(
            37,
            f"adjusting a proposal of {PAGES} pages",
            "ms",
            adjusting,
            50.0,
            "limit",
            adjusting / 50.0,
            limit=1.0,
        ),
    ]


def draw_pictures(library: Any) -> None:
    """Give every page a thumbnail with its ink and hash, as if they had been computed."""
    from sqlalchemy import select

    from armarium_documents.api import documents, thumbnails
    from armarium_finding.models import pictures

    dice = random.Random(2)
    with library.db.write() as conn:
        pages = [row[0] for row in conn.execute(select(documents.c.id).where(documents.c.doc_type == "page"))]
        size = {"width": 200, "height": 300, "size_bytes": 9000, "made_at": "2026-01-01T00:00:00Z"}
        conn.execute(
            thumbnails.insert(), [{"document_id": page, "checksum": f"{page:0>64}", **size} for page in pages]
        )
        looks = [
            {
                "document_id": page,
                "checksum": f"{page:0>64}",
                "hash": f"{dice.getrandbits(64):016x}",
                "ink": dice.random() / 4,
            }
            for page in pages
        ]
        conn.execute(pictures.insert(), looks)


def filled_box(engine: Any, library: Any, texts: Sequence[str]) -> str:
    """Create a folder with a page for each text, read line by line; return its id."""

    def do(name: str, params: dict[str, Any]) -> dict[str, Any]:
        return engine.run(library, name, params, OWNER).result or {}

    box = str(do("document.create", {"name": "Box"})["id"])
    for number, text in enumerate(texts, start=1):
        page = do("document.create", {"name": f"{number:05}.jpg", "doc_type": "page", "parent_id": box})["id"]
        pass_id = do("segment.pass_create", {"document_id": page, "name": "Lines"})["id"]
        words = text.splitlines()
        if not words:
            continue
        lines = [
            {
                "document_id": page,
                "pass_id": pass_id,
                "kind": "line",
                "anchor": {"rect": [0.1, 0.02 + 0.03 * row, 0.8, 0.02]},
            }
            for row in range(len(words))
        ]
        ids = [item["id"] for item in do("segment.create_many", {"segments": lines})["items"]]
        readings = [{"segment_id": identity, "text": line} for identity, line in zip(ids, words, strict=True)]
        do(
            "reading.take",
            {"document_id": page, "pass_id": pass_id, "provider": "b", "model": "b", "readings": readings},
        )
    return box
