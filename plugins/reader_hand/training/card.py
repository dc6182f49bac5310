"""The model card: `python -m training.card` writes MODEL_CARD.md from what was trained, and from card.json where it is."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.corpus import HELD_OUT, TEST, TRAIN, Line, PreparedCorpus
from training.settings import HERE, PACKAGE, Settings, settings

CARD = HERE.parent / "MODEL_CARD.md"
POINTS = 12
"""Points of the learning curve that are shown."""

ESCAPE = re.compile(r"\\\\?[xu](?:00)?([0-9A-Fa-f]{2})")
"""Letters that some repositories name their authors with."""

INTRODUCTION = """# Model card: hand-base

A line reader for handwriting in Latin script, the weights of `armarium-reader-hand`: convolutions to a quarter of the width,
two bidirectional LSTM layers, CTC; {weights}. Lines are scaled to 48 pixels of height. It reads one line at a time and finds
none. Texts are weighed with n-grams of six letters (`spelling.npz`), counted in the lines of the training alone; their weight was
chosen on the documents held out. In a language they were not counted in they do some harm: without the Spanish and Italian lines,
143 held-out lines in these languages had 3.8 % of the letters wrong, with them 3.2 %, and without any n-grams 3.5 %.

**Meant for** first readings of western manuscripts, charters, registers and letters, to be corrected by people and to
be trained further on a hand. **Not for** print, other scripts, German Kurrent (none was in the corpus) or any use in which a
wrong letter does harm. English hands are hardly in the corpus.

**Writes** what stands on the line (graphemic): abbreviation signs are kept and nothing is expanded. u and v, i and j follow the
line's own tradition: levelled in medieval scripts, as written in modern hands. The table of the convention is in
`training/convention.py`; texts of training, references and readings all pass through it.

**States** for each line the share of letters that it expects to be right, by a table fitted on the documents held out.

## Data

Line images of the corpus `hand-lines`, cut from openly licensed ground truth; only lines by hand, and none under a
share-alike licence. Of `train` and `valid` of that corpus, 5 % of the lines were held out by whole documents (drawn by a hash of
their names) for validation and for the table of confidence. `test` is whole documents that nothing was chosen by.
"""


def provenance(lines: Sequence[Line], folder: Path) -> dict[str, Any]:
    """What the weights come from: sources with licence and counts of lines, and every page that was trained on."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    pages: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        counts[line.source][line.split] += 1
        if line.split == TRAIN:
            pages[line.source].add(line.page)
    with (folder / "sources.csv").open(encoding="utf-8", newline="") as file:
        known = {row["source"]: row for row in csv.DictReader(file)}
    sources = [
        {
            "source": source,
            **{key: known[source][key] for key in ("commit", "licence")},
            "authors": ESCAPE.sub(lambda code: chr(int(code[1], 16)), known[source]["authors"]),
            **{split: count[split] for split in (TRAIN, HELD_OUT, TEST)},
        }
        for source, count in sorted(counts.items(), key=lambda item: -item[1].total())
    ]
    return {"sources": sources, "pages": {source: sorted(found) for source, found in sorted(pages.items())}}


def markdown(
    data: Mapping[str, Any], curve: Sequence[Mapping[str, float]], card: Mapping[str, Any] | None
) -> str:
    """The card for people."""
    weights = "16-bit weights, computed with as 32-bit numbers" if card else "weights are not shipped yet"
    parts = [INTRODUCTION.format(weights=weights), _table_of_sources(data["sources"]), _training(curve)]
    parts.append(_evaluation(card["evaluation"]) if card and "evaluation" in card else NOT_YET)
    return "\n".join(parts)


NOT_YET = """## Evaluation

There is none yet: no weights are shipped until they read the handwriting of the test documents clearly better than RapidOCR.
`make evaluate-base` evaluates weights that lie in the package.
"""


def _table_of_sources(sources: Sequence[Mapping[str, Any]]) -> str:
    rows = ["| source | licence | authors | trained on | held out | test |", "|---|---|---|---|---|---|"]
    for row in sources:
        numbers = " | ".join(str(row[split]) for split in (TRAIN, HELD_OUT, TEST))
        rows.append(
            f"| {row['source']} {row['commit'][:10]} | {row['licence']} | {row['authors']} | {numbers} |"
        )
    totals = " | ".join(str(sum(row[split] for row in sources)) for split in (TRAIN, HELD_OUT, TEST))
    return "\n".join([*rows, f"| all | | | {totals} |", ""])


def _training(curve: Sequence[Mapping[str, float]]) -> str:
    step = max(1, len(curve) // POINTS)
    shown = [*curve[::step], *([] if not curve or (len(curve) - 1) % step == 0 else [curve[-1]])]
    rows = [
        f"| {point['samples']:,} | {point['seconds'] / 60:.0f} | {point['loss']:.2f} | {point['cer']:.3f} |"
        for point in shown
    ]
    head = ["## Training", "", "`training/hand.toml` on two shared cores, without a graphics card.", ""]
    columns = ["| samples | minutes | loss per letter | CER on held-out lines |", "|---|---|---|---|"]
    return "\n".join([*head, *columns, *rows, ""])


def _evaluation(found: Mapping[str, Any]) -> str:
    low, high = found["interval"]
    part = "" if found["every"] == 1 else f" (each {found['every']}th)"
    said = [
        "## Evaluation",
        "",
        f"{found['lines']} lines by hand of the test documents{part}: CER {found['cer']:.1%} ({low:.1%} to {high:.1%}, drawing "
        f"documents), unmapped {found['cer_unmapped']:.1%}; total distance over total characters, policy diplomatic. Expected "
        f"calibration error {found['calibration_error']:.1%}. {found['lines_per_second']} lines a second on two cores.",
    ]
    if "rapidocr" in found:
        same, other = found["same_lines"], found["rapidocr"]
        said.append(
            f"On {same['lines']} of these lines: CER {same['cer']:.1%}, RapidOCR {other['cer']:.1%} "
            f"(unmapped {same['cer_unmapped']:.1%} and {other['cer_unmapped']:.1%})."
        )
    for by in ("by_source", "by_century", "by_document"):
        said += ["", f"| {by.removeprefix('by_')} | lines | CER | 95 % | unmapped |", "|---|---|---|---|---|"]
        said += [
            f"| {name} | {row['lines']} | {row['cer']:.1%} | {row['interval'][0]:.1%} to {row['interval'][1]:.1%} "
            f"| {row['cer_unmapped']:.1%} |"
            for name, row in found[by].items()
        ]
    return "\n".join([*said, ""])


def curve_of(wanted: Settings) -> list[dict[str, float]]:
    """The learning curve of the last checkpoint."""
    path = Path(wanted.training.folder) / "checkpoint.curve.json"
    curve: list[dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return curve


def main() -> None:
    """Write the card."""
    wanted = settings()
    stored = PACKAGE / "card.json"
    card = json.loads(stored.read_text(encoding="utf-8")) if stored.is_file() else None
    data = card or provenance(
        PreparedCorpus(Path(wanted.training.folder) / "corpus").lines, wanted.corpus.folder
    )
    curve = card["training"]["curve"] if card else curve_of(wanted)
    CARD.write_text(markdown(data, curve, card), encoding="utf-8")


if __name__ == "__main__":
    main()
