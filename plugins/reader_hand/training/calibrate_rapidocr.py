"""The table that makes RapidOCR's confidence comparable with the hand reader's: `python -m training.calibrate_rapidocr`.

Fitted on as many lines by hand, of documents held out of the hand reader's training, as lines of print and typescript;
run in the project's own environment. What it prints stands in RapidOCR's reader.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from training.calibrate import accuracy, calibration_error, fit
from training.convention import to_convention
from training.corpus import TEST, held_out_documents, rows
from training.evaluate import by_rapidocr
from training.settings import settings

LINES = 400
"""Of each kind."""


def main() -> None:
    """Print the table and how far off the confidence is with it and without."""
    wanted = settings().corpus
    hands = [row for row in rows(wanted) if row["split"] != TEST]
    held_out = held_out_documents(Counter(row["document"] for row in hands), wanted)
    kinds = replace(wanted, kinds=("print", "typed"))
    prints = [row for row in rows(kinds) if row["split"] != TEST]
    chance = np.random.default_rng(0)
    drawn = [
        lines[int(at)]
        for lines in ([row for row in hands if row["document"] in held_out], prints)
        for at in chance.permutation(len(lines))[:LINES]
    ]
    read = by_rapidocr(drawn)
    stated = [line.confidence for line in read]
    right = [accuracy(line.reference, to_convention(line.text)) for line in read]
    table = fit(stated, right)
    put_right = np.interp(stated, *np.array(table).T).tolist()
    print(table)
    print("hands: right", np.mean(right[:LINES]), "expected", np.mean(put_right[:LINES]))
    print("print: right", np.mean(right[LINES:]), "expected", np.mean(put_right[LINES:]))
    print(
        "calibration error",
        calibration_error(stated, right),
        "with the table",
        calibration_error(put_right, right),
    )


if __name__ == "__main__":
    main()
