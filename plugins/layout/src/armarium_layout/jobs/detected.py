"""The regions that a trained detector finds on a page, with the lines in them."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, PageSkipped, PageWithheld, PageWork, find_withheld
from armarium_documents.api import page_image, still_image
from armarium_layout.detectors import detector_of
from armarium_layout.jobs.looking import taking
from armarium_layout.queries import PageShapes
from armarium_layout.schemas import fractions
from armarium_source_model.api import rect_of


def detect_regions(job: JobContext, page_id: str, shapes: PageShapes) -> PageWork:
    """Return the regions found by the model in the job's settings; a line belongs to the region that contains
    most of it, if that is at least half.
    """
    detector, config, name = detector_of(job.engine, job.library, job.args.model)
    if why := find_withheld(job.library, job.principal, [page_id], "local-model").get(page_id):
        raise PageWithheld(why)
    with job.library.db.read() as conn:
        picture = page_image(job.library, conn, page_id)
    with still_image(job.library, picture) as path:
        answer = job.call_worker(
            detector.runtime.name if detector.runtime else None,
            detector.worker,
            "find_regions",
            {
                "model": str(config),
                "image": str(path),
                "max_pixels": job.engine.settings.max_image_pixels,
                "at_least": job.args.at_least,
            },
        )
    regions = [
        {"key": f"region-{number}", "kind_raw": str(region["class"])[:200], "rect": fractions(region["rect"])}
        for number, region in enumerate(answer["regions"])
    ]
    if not regions:
        raise PageSkipped(
            f"{name} is not confident of any region on the page; a lower at_least, or training on "
            "more pages, finds more."
        )
    proposed = []
    for line in shapes.lines:
        if line.parent_segment_id is None and (key := _holder(rect_of(line), regions)) is not None:
            proposed.append({"segment_id": line.id, "expected_version": line.version, "inside": key})
    return taking(page_id, shapes, f"Regions by {name}"[:200], regions, proposed)


def _holder(rect: tuple[float, float, float, float], regions: list[dict[str, Any]]) -> str | None:
    x, y, w, h = rect
    best, most = None, 0.5 * w * h
    for region in regions:
        left, top, width, height = region["rect"]
        across = min(x + w, left + width) - max(x, left)
        down = min(y + h, top + height) - max(y, top)
        if across > 0 and down > 0 and across * down >= most:
            best, most = region["key"], across * down
    return best
