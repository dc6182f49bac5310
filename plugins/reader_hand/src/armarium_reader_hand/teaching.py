"""What a trainer of the hand reader's models requests from its worker: lines cut as for reading, and the base model."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from armarium_reader_hand import WEIGHTS
from armarium_reader_hand.cards import shipped_card
from armarium_reader_hand.crops import cut_line
from armarium_reader_hand.model import SPELLING, LineModel
from armarium_reader_hand.onnx_bytes import onnx_property
from armarium_reader_hand.picture import HEIGHT, line_picture
from armarium_reader_hand.project_text import fit
from armarium_worker import Call, Reader, replacing
from armarium_worker.shapes import unpack_shape


def line_pictures(call: Call) -> dict[str, Any]:
    """Params: image, lines[] as for `read_lines`, max_pixels. Result: widths[] in pixels; the pictures as
    bytes.

    Each picture is (HEIGHT, width) of ink, 0 to 255, row by row, one after the other.
    """
    page = Reader.open_page(Reader(), Path(str(call.params["image"])), int(call.params["max_pixels"]))
    grey = np.asarray(page.image.convert("L"))
    pictures = []
    for number, line in enumerate(call.params["lines"]):
        call.check()
        pictures.append(line_picture(cut_line(grey, unpack_shape(line))))
        call.progress(number + 1, len(call.params["lines"]), unit="lines")
    call.answer_binary = b"".join(picture.tobytes() for picture in pictures)
    return {"widths": [int(picture.shape[1]) for picture in pictures]}


def fit_text(call: Call) -> dict[str, Any]:
    """Params: folder of a training, model (a path in it). Writes the spelling with which the checked lines
    are read best into the model's file.

    Result: {lines, cer_without, cer_with {"shipped" | "project": rate}, chosen}; chosen None: none helps, and
    the file is unchanged.
    """
    folder, path = Path(str(call.params["folder"])), Path(str(call.params["model"]))
    model = LineModel.of_file(path, threads=1)
    taught, checked = [], []
    with (folder / "pictures.bin").open("rb") as pictures:
        for line in json.loads((folder / "lines.json").read_text("utf-8"))["lines"]:
            ink = pictures.read(HEIGHT * int(line["width"]))
            if line["for_validation"]:
                checked.append((np.frombuffer(ink, np.uint8).reshape(HEIGHT, -1), line["text"]))
            else:
                taught.append(line["text"])
    call.check()
    spelling, measured = fit(model, taught, checked)
    if spelling is not None:
        with replacing(path) as beside:
            beside.write_bytes(path.read_bytes() + onnx_property(SPELLING, json.dumps(spelling)))
    return measured


def base(call: Call) -> dict[str, Any]:
    """Params: path? (default: the shipped model). Result: path, alphabet, calibration."""
    path = call.params.get("path")
    if path is None:
        card = shipped_card()
        shipped = str(files("armarium_reader_hand").joinpath(WEIGHTS))
        return {"path": shipped, "alphabet": card["alphabet"], "calibration": card["calibration"]}
    model = LineModel.of_file(Path(str(path)), threads=1)
    return {"path": str(path), "alphabet": model.alphabet, "calibration": model.calibration}
