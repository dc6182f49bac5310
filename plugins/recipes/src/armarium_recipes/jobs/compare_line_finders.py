"""The job of a bake-off of line finders: each finds the lines of the same pages; no pass is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from armarium.api import JobContext, JobKind, NameOrMaterialPath, ServiceError, find_withheld, replacing
from armarium_documents.api import page_image, primary_row, require_live, still_image
from armarium_reading.api import choose, lines_of
from armarium_recipes.bakeoffs.following import keep_outcome
from armarium_recipes.bakeoffs.matching import Outline, count_lines, outline
from armarium_recipes.schemas.comparing import CompareFindersArgs, Finder
from armarium_source_model.api import segments
from armarium_training.api import checked_lines

KIND = "compare-line-finders"
SHARE_FOUND = 0.8
"""The least share of the pages for a finder to count as measured."""

Reference = dict[str, dict[str, Any]]
"""For each page its lines as they were: shapes (fractions of the picture), which of them are checked, and the
picture they belong to.
"""


def compare(job: JobContext) -> dict[str, Any]:
    """Run the finders one after the other, page by page; after a kill the job continues with what is left."""
    args: CompareFindersArgs = job.args
    reference = _reference(job)
    kept: dict[str, Any] = {"found": [{} for _ in args.finders], **job.checkpoint}
    total = len(args.finders) * len(args.page_ids)
    for number, finder in enumerate(args.finders):
        for page in args.page_ids:
            if page in kept["found"][number]:
                continue
            job.check()
            found = [dict(one) for one in kept["found"]]
            found[number][page] = _page(job, finder, page, reference)
            kept = {**kept, "found": found}
            job.save(kept, done=sum(map(len, found)), total=total)
    rows = _rows(args, kept["found"])
    keep_outcome(job, kept, {"rows": rows, "comparison": None, "hands": []})
    _place(job).unlink(missing_ok=True)
    return {"finders": len(args.finders), "pages": len(args.page_ids)}


def _place(job: JobContext) -> Any:
    return job.library.derived_folder / "bakeoffs" / f"{job.job_id}.json"


def _reference(job: JobContext) -> Reference:
    """Return the lines of all pages as they were when the job began, saved in a derived file of the project."""
    place = _place(job)
    try:
        kept: Reference = json.loads(place.read_text("utf-8"))
        return kept
    except (OSError, ValueError):
        # An earlier try measured against lines that are lost: everything is measured again.
        if job.checkpoint:
            job.save({"found": [{} for _ in job.args.finders]}, done=0)
    taken: Reference = {}
    with job.library.db.read_all() as conn:
        for page in job.args.page_ids:
            lines, _ = checked_lines(conn, page, None)
            if not lines:
                continue
            checked = {line.segment_id for line in lines}
            asked = select(segments.c.pass_id).where(segments.c.id == lines[0].segment_id)
            ids, shapes = lines_of(conn, conn.execute(asked).scalar_one(), 1, 1)
            taken[page] = {
                "shapes": shapes,
                "checked": [one in checked for one in ids],
                "checksum": primary_row(conn, page).checksum,
            }
    with replacing(place) as beside:
        beside.write_text(json.dumps(taken), "utf-8")
    return taken


def _page(job: JobContext, finder: Finder, page: str, reference: Reference) -> dict[str, Any]:
    """Return what a finder found of a page's lines, and how long it took; {error} if the page could not be
    processed.
    """
    why = find_withheld(job.library, job.principal, [page], "local-model").get(page)
    if why is not None:
        return {"error": why}
    there = reference.get(page)
    if there is None:
        return {"error": "Its checked lines no longer exist."}
    try:
        with job.library.db.read_all() as conn:
            require_live(conn, page)
            picture = page_image(job.library, conn, page)
            if primary_row(conn, page).checksum != there["checksum"]:
                return {"error": "Its picture changed while it was being measured."}
        given = None if finder.model is None else NameOrMaterialPath(finder.model)
        choice = choose(job.engine, job.library, reader=finder.reader, method="find_lines", model=given)
        params = choice.params(None, job.engine.settings.max_image_pixels)
        # Loading the model does not count as finding.
        job.call_worker(choice.runtime, choice.target, "load", params)
        with still_image(job.library, picture) as path:
            asked = {"image": str(path), "width": picture.width, "height": picture.height, **params}
            answer = job.call_worker(choice.runtime, choice.target, "find_lines", asked)
    except ServiceError as error:
        if error.code == "engine_stopping":
            raise
        job.log("warning", error.detail, document_id=page)
        return {"error": error.detail}
    scale = (picture.width / float(answer["width"]), picture.height / float(answer["height"]))
    outlines = [_outline(line, *scale) for line in answer["lines"] if line.get("kind", "line") == "line"]
    ours = [_outline(shape, picture.width, picture.height) for shape in there["shapes"]]
    counted = count_lines(ours, there["checked"], outlines)
    return {**counted, "seconds": round(float(answer["seconds"]), 4)}


def _outline(shape: Mapping[str, Any], across: float, down: float) -> Outline:
    """Return a shape in pixels of the picture: lengths are compared, and pictures are rarely square."""
    x, y, w, h = shape["rect"]
    scaled = {**shape, "rect": [x * across, y * down, w * across, h * down]}
    if shape.get("polygon"):
        scaled["polygon"] = [[px * across, py * down] for px, py in shape["polygon"]]
    return outline(scaled)


def _rows(args: CompareFindersArgs, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is added to the row of each finder: sums over the pages that all measured finders processed."""
    looked = [{page for page, one in by_page.items() if "error" not in one} for by_page in found]
    enough = [len(pages) >= SHARE_FOUND * len(args.page_ids) and bool(pages) for pages in looked]
    common = set(args.page_ids).intersection(
        *(pages for pages, is_enough in zip(looked, enough, strict=True) if is_enough)
    )
    rows: dict[str, Any] = {}
    for finder, by_page, pages, is_enough in zip(args.finders, found, looked, enough, strict=True):
        if not is_enough or not common:
            first = next((one["error"] for one in by_page.values() if "error" in one), "")
            why = f"It processed {len(pages)} of {len(args.page_ids)} pages. {first}".strip()
            rows[finder.card] = {"not_scored": why}
            continue
        counted = [by_page[page] for page in sorted(common)]
        seconds = sum(by_page[page]["seconds"] for page in pages)
        sums = {
            key: sum(one[key] for one in counted) for key in ("lines_found", "lines_checked", "extra_lines")
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
)
