"""Prepares what a trainer's worker is given: lines cut as their reader cuts them, or pages with their regions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from armarium.api import WORKER_GONE, JobContext, NotFound, ServiceError
from armarium_documents.api import page_image, still_image
from armarium_reading.api import lines_of, load_reader, worker_of
from armarium_training import errors
from armarium_training.line_sets import LineSet, TaughtLine, line_set
from armarium_training.regions import regions_of
from armarium_training.schemas.training import TrainArgs
from armarium_training.staging import LINES, PICTURES
from armarium_training.whole_files import write_whole, writing

EVERY = 10
"""One line in this many is used for validation: it shows when the reader stops improving."""
VALIDATED = 5
"""With this many pages of regions, one of them is used for validation."""


Cut = tuple[bytes, list[tuple[TaughtLine, dict[str, Any]]]]
"""The pictures of a page's lines, one after the other, and each line with what `lines.json` says of it."""


def lines_of_training(conn: Connection, job: JobContext, args: TrainArgs) -> LineSet:
    """Return the lines that a training is to use; *args* are its arguments, which hold out pages and no folders."""
    return line_set(
        conn,
        job.library,
        job.principal,
        teacher=args.teacher,
        page_ids=args.page_ids,
        held_out_ids=args.held_out_ids,
        use="local-model" if args.place is None else "cloud-model",
    )


def lay_out_lines(
    job: JobContext, folder: Path, training_set: LineSet, cut: Callable[[str, list[TaughtLine]], Cut]
) -> None:
    """Write the pictures and texts of a training set to *folder*, `lines.json` last; *cut* is given a page and its lines.

    Every tenth line is for validation, if there are ten. A page whose lines cannot be cut is listed as
    missing, with the reason; what could not be cut is left out of *training_set*. Invalid if nothing is left.
    """
    by_page: dict[str, list[TaughtLine]] = {}
    for line in training_set.lines:
        by_page.setdefault(line.document_id, []).append(line)
    entries: list[dict[str, Any]] = []
    training_set.lines = []
    with writing(folder / PICTURES) as beside, beside.open("wb") as out:
        for page, lines in by_page.items():
            job.check()
            try:
                pictures, described = cut(page, lines)
            except ServiceError as error:
                if error.code in WORKER_GONE:
                    raise
                training_set.missing.append({"document_id": page, "why": error.detail})
                continue
            out.write(pictures)
            training_set.lines += [line for line, _ in described]
            entries += [entry for _, entry in described]
    taught = {line.document_id for line in training_set.lines}
    training_set.pages = {page: pass_id for page, pass_id in training_set.pages.items() if page in taught}
    if not entries:
        raise errors.nothing_to_teach(job.args.teacher or "the working pass")
    for number, entry in enumerate(entries):
        entry["for_validation"] = len(entries) >= EVERY and number % EVERY == EVERY - 1
    write_whole(folder / LINES, json.dumps({"lines": entries}, ensure_ascii=False).encode())


def cut_by_reader(job: JobContext, reader_name: str, pass_id: str, page: str, lines: list[TaughtLine]) -> Cut:
    """Return the pictures of *lines* as their reader cuts them."""
    reader = load_reader(job.engine, reader_name)
    with job.library.db.read_all() as conn:
        picture = page_image(job.library, conn, page)
        ids, shapes = lines_of(conn, pass_id, picture.width, picture.height)
    by_id = dict(zip(ids, shapes, strict=True))
    if any(line.segment_id not in by_id for line in lines):
        raise NotFound(
            "Some of its lines were deleted while the training was being prepared.", code="lines_gone"
        )
    with still_image(job.library, picture) as path:
        shapes = [by_id[line.segment_id] for line in lines]
        limit = job.engine.settings.max_image_pixels
        params = {"image": str(path), "lines": shapes, "max_pixels": limit}
        answer = job.call_worker(*worker_of(reader), "line_pictures", params)
    widths = zip(lines, answer["widths"], strict=True)
    return answer.get("binary", b""), [(line, {"text": line.text, "width": width}) for line, width in widths]


def lay_out_regions(job: JobContext, args: TrainArgs, folder: Path) -> dict[str, Any]:
    """Write pages with their regions to *folder*: `lines.json` names pictures, regions and the part of each page.

    If there are five pages, every fifth is used to tell when the detector stops improving; held-out pages
    only score it.
    """
    with job.library.db.read_all() as conn:
        region_set = regions_of(
            conn, job.library, job.principal, args.page_ids, args.held_out_ids, args.classes
        )
        held_out = regions_of(conn, job.library, job.principal, args.held_out_ids, [], args.classes)
    entries = []
    for regions, is_held in ((region_set, False), (held_out, True)):
        several = not is_held and len(regions.regions) >= VALIDATED
        for number, (page, boxes) in enumerate(regions.regions.items()):
            job.check()
            with job.library.db.read_all() as conn:
                picture = page_image(job.library, conn, page)
            with still_image(job.library, picture) as path:
                write_whole(folder / f"{page}.image", path.read_bytes())
            validates = several and number % VALIDATED == VALIDATED - 1
            part = "held-out" if is_held else "validation" if validates else "taught"
            entries.append({"file": f"{page}.image", "regions": boxes, "part": part})
    count = sum(map(len, region_set.regions.values()))
    if not count:
        raise errors.no_such_regions(0, 0)
    write_whole(folder / LINES, json.dumps({"pages": entries}, ensure_ascii=False).encode())
    return {
        "pages": len(region_set.regions),
        "regions": count,
        "missing": region_set.missing,
        "documents": [
            {"document_id": page, "checksum": region_set.checksums[page]} for page in region_set.regions
        ],
        "held_out": [
            {"document_id": page, "checksum": held_out.checksums.get(page)} for page in args.held_out_ids
        ],
    }
