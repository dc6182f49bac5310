"""What measuring candidates on pages is, whatever is measured: each candidate on each page once, on the lines and the
picture that were there when the measurement began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armarium.api import Engine, JobContext, Library, ServiceError, Use, find_withheld
from armarium_documents.api import PageImage, page_image, primary_row, require_live
from armarium_training.frozen_lines import freeze, place_of
from armarium_training.queries.job_rows import cancelled_job

Measured = dict[str, Any]
"""What a candidate made of a page; {error} if it could not be measured there."""


def measure_all(
    job: JobContext,
    key: str,
    candidates: int,
    pages: Sequence[str],
    take: Callable[[], dict[str, Any]],
    measure: Callable[[int, str, Any], Measured],
) -> dict[str, Any]:
    """Measure candidate by candidate and page by page; after a kill it resumes with what is left. Return the checkpoint,
    with what each measured under *key*.

    *take* records the pages as they are when it begins; *measure* is given a candidate's number, a page and what was
    recorded of it (None: nothing).
    """
    unread: dict[str, Any] = {key: [{} for _ in range(candidates)]}
    progress: dict[str, Any] = {**unread, **job.checkpoint}
    total = candidates * len(pages)
    frozen, is_new = freeze(job, take)
    if is_new and any(progress[key]):
        # What an earlier try recorded is lost: everything is measured again, on the same lines.
        progress = unread
        job.save(progress, done=0, total=total)
    for number in range(candidates):
        for page in pages:
            if page in progress[key][number]:
                continue
            job.check()
            measured = [dict(by_page) for by_page in progress[key]]
            measured[number][page] = measure(number, page, frozen.get(page))
            progress = {**progress, key: measured}
            job.save(progress, done=sum(map(len, measured)), total=total)
    job.check()
    return progress


def measure_page(
    job: JobContext,
    page: str,
    use: Use,
    frozen: Mapping[str, Any] | None,
    measure: Callable[[PageImage], Measured],
) -> Measured:
    """Return what *measure* makes of the picture of a page; {error} if the page may not be used so, or is no longer what was
    recorded of it, or the candidate refuses it.
    """
    why = find_withheld(job.library, job.principal, [page], use).get(page)
    if why is not None:
        return {"error": why}
    if frozen is None:
        return {"error": "Its checked text no longer exists."}
    try:
        with job.library.db.read_all() as conn:
            require_live(conn, page)
            picture = page_image(job.library, conn, page)
            if primary_row(conn, page).checksum != frozen["checksum"]:
                return {"error": "Its picture was changed during the measurement."}
        return measure(picture)
    except ServiceError as error:
        if error.code == "engine_stopping":
            raise
        job.log("warning", error.detail, document_id=page)
        return {"error": error.detail}


def end_evaluation(engine: Engine, library: Library | None, job_id: str) -> None:
    """After a measurement was cancelled: if it was not running, remove what was recorded for it."""
    if library is not None and cancelled_job(library, job_id) is not None:
        place_of(library, job_id).unlink(missing_ok=True)


def measuring(run: Callable[[JobContext], dict[str, Any]]) -> Callable[[JobContext], dict[str, Any]]:
    """Return the body of a measurement that forgets its lines when it has ended, and when it was cancelled."""

    def body(job: JobContext) -> dict[str, Any]:
        try:
            outcome = run(job)
        except BaseException:
            if job.stop == "cancel":
                place_of(job.library, job.job_id).unlink(missing_ok=True)
            raise
        place_of(job.library, job.job_id).unlink(missing_ok=True)
        return outcome

    return body
