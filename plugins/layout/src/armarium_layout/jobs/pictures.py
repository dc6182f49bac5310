"""Pictures split in two, and prepared pictures."""

from __future__ import annotations

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_images.api import live_cuts, was_unsplit
from armarium_layout.jobs.looking import page_sheet
from armarium_source_model.api import pages_transcribed


def split_page(job: JobContext, page_id: str) -> PageWork | None:
    """Return both halves of a picture of an open book."""
    from armarium_layout.finding.gutter import LOOKED_AT, gutter_of

    with job.library.db.read() as conn:
        if live_cuts(conn, page_id, "split")[1]:
            raise PageSkipped("The picture is already split, or is part of a split.")
        if was_unsplit(conn, page_id):
            raise PageSkipped(
                "Somebody took a split of this picture back; split it yourself where it is to be split."
            )
        if pages_transcribed(conn, [page_id]):
            raise PageSkipped(
                "The picture was transcribed as it is, so it stays whole: its halves would begin without its lines."
            )
    _, sheet = page_sheet(job, page_id, LOOKED_AT)
    gutter = gutter_of(sheet)
    if gutter is None:
        raise PageSkipped("The picture shows one page.")
    at = round(gutter.x, 5)
    regions = [{"bbox": [0.0, 0.0, at, 1.0]}, {"bbox": [at, 0.0, 1.0 - at, 1.0]}]
    output = {"gutter": at, "score": round(gutter.score, 3)}
    return PageWork(
        "image.split", {"document_id": page_id, "regions": regions}, output, answers=("child_ids",)
    )


def prepare(job: JobContext, page_id: str) -> PageWork | None:
    """Return renditions of the page's picture; an existing one is not made again."""
    settings = {name: getattr(job.args, name) for name in ("deskew", "dewarp", "background")}
    if not any(settings.values()):
        raise PageSkipped("There is nothing to do: deskew, dewarp and background are all off.")
    return PageWork("layout.prepare_page", {"document_id": page_id, **settings}, answers=("renditions",))
