"""Prepares what a trainer's worker is given: lines cut as their reader cuts them, or pages with their regions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from armarium.api import WORKER_GONE, JobContext, NotFound, ServiceError
from armarium_documents.api import page_image, still_image
from armarium_reading.api import lines_of, load_reader, worker_of
from armarium_training import errors
from armarium_training.line_sets import LineSet, line_set
from armarium_training.regions import regions_of
from armarium_training.schemas.training import TrainArgs
from armarium_training.staging import LINES, PICTURES
from armarium_training.trainers import Trainer
from armarium_training.whole_files import write_whole, writing

EVERY = 10
"""One line in this many is used for validation: it shows when the reader stops improving."""
VALIDATED = 5
"""With this many pages of regions, one of them is used for validation."""


def lay_out_lines(job: JobContext, args: TrainArgs, trainer: type[Trainer], folder: Path) -> LineSet:
    """Write the training set of a job, its pictures and texts, to *folder*; `lines.json` is written last.

    Every tenth line is for validation, if there are ten. A page whose lines cannot be cut is listed as
    missing, with the reason.
    """
    with job.library.db.read_all() as conn:
        training_set = line_set(
            conn,
            job.library,
            job.principal,
            teacher=args.teacher,
            page_ids=args.page_ids,
            held_out_ids=args.held_out_ids,
            use="local-model" if args.place is None else "cloud-model",
        )
    texts: dict[str, dict[str, str]] = {}
    for line in training_set.lines:
        texts.setdefault(line.document_id, {})[line.segment_id] = line.text
    entries: list[dict[str, Any]] = []
    lost: set[str] = set()
    with writing(folder / PICTURES) as beside, beside.open("wb") as out:
        for page, line_texts in texts.items():
            job.check()
            try:
                widths, pictures = _pictures(job, trainer, page, training_set.pages[page], line_texts)
            except ServiceError as error:
                if error.code in WORKER_GONE:
                    raise
                training_set.missing.append({"document_id": page, "why": error.detail})
                lost.add(page)
                continue
            out.write(pictures)
            entries += [
                {"text": text, "width": width}
                for (_, text), width in zip(line_texts.items(), widths, strict=True)
            ]
    training_set.lines = [line for line in training_set.lines if line.document_id not in lost]
    training_set.pages = {page: pass_id for page, pass_id in training_set.pages.items() if page not in lost}
    if not entries:
        raise errors.nothing_to_teach(args.teacher or "the working pass")
    for number, entry in enumerate(entries):
        entry["for_validation"] = len(entries) >= EVERY and number % EVERY == EVERY - 1
    write_whole(folder / LINES, json.dumps({"lines": entries}, ensure_ascii=False).encode())
    return training_set


def _pictures(
    job: JobContext, trainer: type[Trainer], page: str, pass_id: str, segment_ids: Iterable[str]
) -> tuple[list[int], bytes]:
    """Return the pictures of the lines of *segment_ids*, as the trainer's reader cuts them: widths, and all bytes."""
    reader = load_reader(job.engine, trainer.reader)
    with job.library.db.read_all() as conn:
        picture = page_image(job.library, conn, page)
        ids, shapes = lines_of(conn, pass_id, picture.width, picture.height)
    by_id = dict(zip(ids, shapes, strict=True))
    missing = [segment_id for segment_id in segment_ids if segment_id not in by_id]
    if missing:
        raise NotFound(
            "Some of its lines were deleted while the training was being prepared.", code="lines_gone"
        )
    with still_image(job.library, picture) as path:
        shapes = [by_id[segment_id] for segment_id in segment_ids]
        limit = job.engine.settings.max_image_pixels
        params = {"image": str(path), "lines": shapes, "max_pixels": limit}
        answer = job.call_worker(*worker_of(reader), "line_pictures", params)
    return answer["widths"], answer.get("binary", b"")


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
