"""What a trainer of kraken's models requests from its reader's worker: lines as kraken cuts them, and the
base model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from armarium_reader_kraken.reader import _baseline
from armarium_worker import Call, Reader, Refused
from armarium_worker.shapes import unpack_shape

HEIGHT = 120
"""Pixels of every line's picture: the height at which kraken's own networks look at lines."""
WIDEST = 12_000
"""Pixels; a longer line is laid out smaller along its length."""


def line_pictures(call: Call) -> dict[str, Any]:
    """Params: image, lines[] as for `read_lines`, max_pixels. Result: widths[] in pixels; the pictures as
    bytes.

    Each picture is (120, width) of grey, 0 to 255, row by row, one after the other.
    """
    from kraken.containers import Segmentation
    from kraken.lib.segmentation import extract_polygons

    page = Reader.open_page(Reader(), Path(str(call.params["image"])), int(call.params["max_pixels"]))
    pictures, widths = [], []
    for number, line in enumerate(call.params["lines"]):
        call.check()
        segmentation = Segmentation(
            type="baselines",
            imagename=str(page.path),
            text_direction="horizontal-lr",
            script_detection=False,
            lines=[_baseline(str(number), unpack_shape(line), page)],
            regions={},
            line_orders=[],
        )
        try:
            ((cut, _),) = extract_polygons(page.image, segmentation)
        except (ValueError, IndexError) as error:
            raise Refused(
                f"kraken cannot cut line {number + 1} of the page out of its picture; check its shape."
            ) from error
        width = min(WIDEST, max(1, round(cut.width * HEIGHT / max(1, cut.height))))
        pictures.append(cut.convert("L").resize((width, HEIGHT)).tobytes())
        widths.append(width)
        call.progress(number + 1, len(call.params["lines"]), unit="lines")
    call.answer_binary = b"".join(pictures)
    return {"widths": widths}


def base(call: Call) -> dict[str, Any]:
    """Params: path. Result: path; whether it can read is found out when it is loaded."""
    path = call.params.get("path")
    if path is None:
        raise Refused(
            "kraken comes without a recognition model, so there is none to train further; leave the base out."
        )
    return {"path": str(path)}
