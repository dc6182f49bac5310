"""The lines of an evaluation as they were when it started: all candidates are measured on the same ones,
whatever is edited meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armarium.api import JobContext, Library
from armarium_documents.api import primary_row
from armarium_reading.api import lines_of
from armarium_source_model.api import segments
from armarium_training.line_sets import TaughtLine, checked_lines
from armarium_training.whole_files import write_whole


@dataclass(frozen=True)
class FrozenPage:
    """A page's checked lines: ids, texts and shapes (fractions of its picture), the picture's digest, who
    checked them.
    """

    segment_ids: list[str]
    texts: list[str]
    shapes: list[dict[str, Any]]
    checksum: str | None
    checked_by: str | None

    def lines(self, page: str) -> list[TaughtLine]:
        """Return the lines as they are used for training."""
        return [
            TaughtLine(page, segment_id, text, True)
            for segment_id, text in zip(self.segment_ids, self.texts, strict=True)
        ]

    def in_pixels(self, width: int, height: int) -> list[dict[str, Any]]:
        """Return the shapes in pixels of a picture of *width* x *height*."""
        return [_scale_shape(shape, width, height) for shape in self.shapes]


def _scale_shape(shape: Mapping[str, Any], width: int, height: int) -> dict[str, Any]:
    x, y, w, h = shape["rect"]
    scaled = {**shape, "rect": [x * width, y * height, w * width, h * height]}
    for name in ("polygon", "baseline"):
        if name in shape:
            scaled[name] = [[px * width, py * height] for px, py in shape[name]]
    return scaled


def place_of(library: Library, job_id: str) -> Path:
    """Return the file of the evaluation *job_id*, in the project's own derived files: pages never leave the project."""
    return library.derived_folder / "evaluation" / f"{job_id}.json"


def frozen_lines(job: JobContext, begun: bool) -> dict[str, FrozenPage] | None:
    """Return the pages of the evaluation by id, without those that have no checked lines.

    They are recorded once, from one snapshot of the project. None if an earlier attempt recorded them and had
    *begun* to measure, and the file is gone: then everything is measured again.
    """
    place = place_of(job.library, job.job_id)
    try:
        kept = json.loads(place.read_text("utf-8"))
        return {page: FrozenPage(**one) for page, one in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        if begun:
            return None
    taken = _taken_down(job)
    write_whole(place, json.dumps({page: asdict(one) for page, one in taken.items()}).encode())
    return taken


def _taken_down(job: JobContext) -> dict[str, FrozenPage]:
    taken = {}
    with job.library.db.read_all() as conn:
        for page in (page["document_id"] for page in job.args.plan["pages"]):
            lines, who = checked_lines(conn, page, job.args.checked)
            if not lines:
                continue
            wanted = [line.segment_id for line in lines]
            pass_id = conn.execute(segments.select().where(segments.c.id == wanted[0])).one().pass_id
            shapes = dict(zip(*lines_of(conn, pass_id, 1, 1), strict=True))
            taken[page] = FrozenPage(
                wanted,
                [line.text for line in lines],
                [shapes[one] for one in wanted],
                primary_row(conn, page).checksum,
                who,
            )
    return taken
