"""The lines that are not trained on: those of sources that nobody knew, and of documents of the others."""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.convention import to_convention
from training.packed import COLUMNS, HELD_OUT, TEST, TRAIN, is_unseen, rows_of, split
from training.settings import corpora, settings

PARTS = (TRAIN, HELD_OUT, TEST)
ESCAPE = re.compile(r"\\\\?[xu](?:00)?([0-9A-Fa-f]{2})")
"""Letters that some repositories name their authors with."""


def all_lines() -> list[dict[str, Any]]:
    """Every line of the corpora that may be used, with its `part` (TRAIN, HELD_OUT or TEST), whether its source is `unseen`,
    and its `reference`, the text in the convention."""
    corpus = settings()["corpus"]
    rows = [
        row
        for row in rows_of(corpora(), [*COLUMNS, "page"])
        if row["source"] not in corpus["excluded_sources"]
    ]
    return [
        {**row, "part": part, "unseen": is_unseen(row, corpus), "reference": to_convention(row["text"])}
        for row, part in zip(rows, split(rows, corpus), strict=True)
    ]


def lines_held_out(most: int | None = None) -> list[dict[str, Any]]:
    """The lines that were not trained on, in the order of a hash, so that any machine draws the same: at most *most* of each
    unseen source, kind and part, half as many of the others."""
    lines = [line for line in all_lines() if line["part"] != TRAIN and line["reference"]]
    lines.sort(key=_draw_key)
    counts: Counter[tuple[Any, ...]] = Counter()
    chosen = []
    for line in lines:
        group = tuple(line[name] for name in ("source", "kind", "part", "folder", "unseen"))
        counts[group] += 1
        if most is None or counts[group] <= (most if line["unseen"] else most // 2):
            chosen.append(line)
    return chosen


def _draw_key(line: Mapping[str, Any]) -> str:
    name = f"{line['source']} {line['document']} {line['page']} {line['number']}"
    return hashlib.sha256(name.encode()).hexdigest()


def provenance(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the weights come from: sources with licence and counts of lines, and every page that was trained on."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    pages: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        counts[line["source"]][line["part"]] += 1
        if line["part"] == TRAIN:
            pages[line["source"]].add(line["page"])
    known = {row["source"]: row for folder in corpora() for row in _sources(folder)}
    sources = [
        {
            "source": source,
            **{key: known[source][key] for key in ("commit", "licence")},
            "authors": ESCAPE.sub(lambda code: chr(int(code[1], 16)), known[source]["authors"]),
            **{part: count[part] for part in PARTS},
        }
        for source, count in sorted(counts.items(), key=lambda item: -item[1].total())
    ]
    return {
        "sources": sources,
        "pages": {source: sorted(of_source) for source, of_source in sorted(pages.items())},
    }


def _sources(folder: Path) -> list[dict[str, str]]:
    with (folder / "sources.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
