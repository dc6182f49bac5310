"""The table that makes RapidOCR's confidence comparable with the hand reader's: `python -m training.calibrate_rapidocr`.

Fitted on as many lines by hand as of print and typescript, none of which the hand reader was trained on; run in the project's
own environment. What it prints stands in RapidOCR's reader.
"""

from __future__ import annotations

import numpy as np

from training.calibrate import calibration_error, fit
from training.evaluate import by_rapidocr
from training.held_out import lines_held_out

LINES = 400
"""By hand, and as many of print and typescript together."""
GROUPS = 24
"""Finer than for the hand reader: on clean print, the last percent decides between the two."""


def main() -> None:
    """Print the table and how far off the confidence is with it and without."""
    lines = lines_held_out()
    hands = [line for line in lines if line["kind"] == "hand"][:LINES]
    prints = [line for line in lines if line["kind"] != "hand"][:LINES]
    read = by_rapidocr([*hands, *prints])
    expected, right = [line.confidence for line in read], [line.right for line in read]
    table = fit(expected, right, groups=GROUPS)
    put_right = np.interp(expected, *np.array(table).T).tolist()
    print(table)
    print("hands: right", np.mean(right[: len(hands)]), "expected", np.mean(put_right[: len(hands)]))
    print("print: right", np.mean(right[len(hands) :]), "expected", np.mean(put_right[len(hands) :]))
    print(
        "calibration error",
        calibration_error(expected, right),
        "with the table",
        calibration_error(put_right, right),
    )


if __name__ == "__main__":
    main()
