"""The lines of a measurement as they were when it started: all candidates are measured on the same ones,
whatever is edited meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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


def freeze(job: JobContext, take: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Return the pages of a measurement by id, as *take* returned them when they were recorded, and whether that was now."""
    place = place_of(job.library, job.job_id)
    try:
        return dict(json.loads(place.read_text("utf-8"))), False
    except (OSError, ValueError, TypeError):
        pages = take()
        write_whole(place, json.dumps(pages).encode())
        return pages, True


def frozen_lines(job: JobContext) -> dict[str, Any]:
    """Return the checked lines of each page of an evaluation, each as a `FrozenPage` in JSON; a page without any is absent."""
    pages = {}
    with job.library.db.read_all() as conn:
        for page in (page["document_id"] for page in job.args.plan["pages"]):
            lines, makers = checked_lines(conn, page, job.args.checked)
            if not lines:
                continue
            segment_ids = [line.segment_id for line in lines]
            pass_id = conn.execute(segments.select().where(segments.c.id == segment_ids[0])).one().pass_id
            shapes = dict(zip(*lines_of(conn, pass_id, 1, 1), strict=True))
            texts, stood = [line.text for line in lines], [shapes[segment_id] for segment_id in segment_ids]
            pages[page] = asdict(
                FrozenPage(segment_ids, texts, stood, primary_row(conn, page).checksum, makers)
            )
    return pages
