"""The job of a bake-off of line finders: each finds the lines of the same pages; no pass is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from armarium.api import JobContext, JobKind, NameOrMaterialPath
from armarium_documents.api import PageImage, primary_row, still_image
from armarium_reading.api import choose, lines_of
from armarium_recipes.bakeoffs.following import keep_outcome
from armarium_recipes.bakeoffs.matching import Outline, count_lines, outline
from armarium_recipes.schemas.comparing import CompareFindersArgs, Finder
from armarium_source_model.api import segments
from armarium_training.api import (
    checked_lines,
    end_evaluation,
    measure_all,
    measure_page,
    measuring,
    rated_in_common,
)

KIND = "compare-line-finders"


@measuring
def compare(job: JobContext) -> dict[str, Any]:
    """Run the finders one after the other, page by page."""
    args: CompareFindersArgs = job.args
    checkpoint = measure_all(
        job,
        "found",
        len(args.finders),
        args.page_ids,
        lambda: _take_lines(job),
        lambda number, page, frozen: measure_page(
            job,
            page,
            "local-model",
            frozen,
            lambda picture: _find(job, args.finders[number], picture, frozen),
        ),
    )
    keep_outcome(job, checkpoint, {"rows": _rows(args, checkpoint["found"]), "comparison": None, "hands": []})
    return {"finders": len(args.finders), "pages": len(args.page_ids)}


def _take_lines(job: JobContext) -> dict[str, Any]:
    """Return for each page its lines as they are: shapes (fractions of the picture), which of them are checked, and the
    checksum of the picture.
    """
    by_page: dict[str, Any] = {}
    with job.library.db.read_all() as conn:
        for page in job.args.page_ids:
            lines, _ = checked_lines(conn, page, None)
            if not lines:
                continue
            checked = {line.segment_id for line in lines}
            query = select(segments.c.pass_id).where(segments.c.id == lines[0].segment_id)
            ids, shapes = lines_of(conn, conn.execute(query).scalar_one(), 1, 1)
            by_page[page] = {
                "shapes": shapes,
                "checked": [segment_id in checked for segment_id in ids],
                "checksum": primary_row(conn, page).checksum,
            }
    return by_page


def _find(job: JobContext, finder: Finder, picture: PageImage, frozen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a finder found of a page's lines, and how long it took."""
    model = None if finder.model is None else NameOrMaterialPath(finder.model)
    choice = choose(job.engine, job.library, reader=finder.reader, method="find_lines", model=model)
    params = choice.params(None, job.engine.settings.max_image_pixels)
    # Loading the model does not count as finding.
    job.call_worker(choice.runtime, choice.target, "load", params)
    with still_image(job.library, picture) as path:
        request = {"image": str(path), "width": picture.width, "height": picture.height, **params}
        answer = job.call_worker(choice.runtime, choice.target, "find_lines", request)
    scale = (picture.width / float(answer["width"]), picture.height / float(answer["height"]))
    outlines = [_outline(line, *scale) for line in answer["lines"] if line.get("kind", "line") == "line"]
    ours = [_outline(shape, picture.width, picture.height) for shape in frozen["shapes"]]
    counted = count_lines(ours, frozen["checked"], outlines)
    return {**counted, "seconds": round(float(answer["seconds"]), 4)}


def _outline(shape: Mapping[str, Any], across: float, down: float) -> Outline:
    """Return a shape in pixels of the picture: lengths are compared, and pictures are rarely square."""
    x, y, w, h = shape["rect"]
    scaled = {**shape, "rect": [x * across, y * down, w * across, h * down]}
    if shape.get("polygon"):
        scaled["polygon"] = [[px * across, py * down] for px, py in shape["polygon"]]
    return outline(scaled)


def _rows(args: CompareFindersArgs, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is added to the row of each finder: sums over the pages that all measured finders processed."""
    looked = [{page for page, result in by_page.items() if "error" not in result} for by_page in results]
    enough, common = rated_in_common(args.page_ids, looked)
    rows: dict[str, Any] = {}
    for finder, by_page, pages, is_enough in zip(args.finders, results, looked, enough, strict=True):
        if not is_enough or not common:
            first = next((result["error"] for result in by_page.values() if "error" in result), "")
            why = f"It processed {len(pages)} of {len(args.page_ids)} pages. {first}".strip()
            rows[finder.card] = {"not_scored": why}
            continue
        counted = [by_page[page] for page in sorted(common)]
        seconds = sum(by_page[page]["seconds"] for page in pages)
        sums = {
            key: sum(counts[key] for counts in counted)
            for key in ("lines_found", "lines_checked", "extra_lines")
        }
        rows[finder.card] = {
            **sums,
            "pages_per_hour": round(3600 * len(pages) / seconds, 1) if seconds else None,
        }
    return rows


COMPARE_FINDERS = JobKind(
    name=KIND,
    lane="local-model",
    summary="Compare line finders on checked pages.",
    run=compare,
    args=CompareFindersArgs,
    heavy=True,
    on_cancel=end_evaluation,
)
