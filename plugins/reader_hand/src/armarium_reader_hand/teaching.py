"""What a trainer of the hand reader's models asks its worker: lines cut as they are read, and the model to begin with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from armarium_reader_hand import WEIGHTS
from armarium_reader_hand.crops import cut_line
from armarium_reader_hand.model import LineModel, shipped_card
from armarium_reader_hand.picture import line_picture
from armarium_worker import Call, Reader
from armarium_worker.shapes import unpack_shape


def line_pictures(call: Call) -> dict[str, Any]:
    """Params: image, lines[] as for `read_lines`, max_pixels. Result: widths[] in pixels; the pictures as bytes.

    Each picture is (48, width) of ink, 0 to 255, row by row; one follows the other.
    """
    page = Reader.open_page(Reader(), Path(str(call.params["image"])), int(call.params["max_pixels"]))
    grey = np.asarray(page.image.convert("L"))
    pictures = []
    for number, line in enumerate(call.params["lines"]):
        call.check()
        pictures.append(line_picture(cut_line(grey, unpack_shape(line))))
        call.progress(number + 1, len(call.params["lines"]))
    call.answer_binary = b"".join(picture.tobytes() for picture in pictures)
    return {"widths": [int(picture.shape[1]) for picture in pictures]}


def base(call: Call) -> dict[str, Any]:
    """Params: path? (none: the shipped model). Result: path, alphabet, calibration."""
    path = call.params.get("path")
    if path is None:
        card = shipped_card()
        shipped = str(files("armarium_reader_hand").joinpath(WEIGHTS))
        return {"path": shipped, "alphabet": card["alphabet"], "calibration": card["calibration"]}
    model = LineModel.of_file(Path(str(path)), threads=1)
    return {"path": str(path), "alphabet": model.alphabet, "calibration": model.calibration}
