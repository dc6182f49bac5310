"""Asks a model about one line of a page at a time: the picture, the question, and what happens when the model
is busy.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armarium.api import Engine, JobContext, Use, open_image
from armarium_documents.api import page_image, still_image
from armarium_reading.api import (
    ModelAnswer,
    ModelRequest,
    Picture,
    Subject,
    ask_in_job,
    lines_of,
    placed_with_provider,
)
from armarium_source_model.api import segments
from armarium_training.line_sets import TaughtLine

MARGIN = 0.25
"""How much of the surroundings is shown, as a share of the line's height."""


def line_pictures(
    job: JobContext,
    page: str,
    lines: Sequence[TaughtLine],
    shapes: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    margin: float = MARGIN,
    sides: bool = False,
) -> Iterator[tuple[TaughtLine, Picture]]:
    """Yield each of a page's lines with its picture; a line deleted meanwhile is skipped.

    *shapes*: where the lines were when they were recorded, by segment, in pixels; none: where they are now. A
    share *margin* of a line's height is shown above and below its box, with *sides* also left and right.
    """
    segment_ids = [line.segment_id for line in lines]
    with job.library.db.read_all() as conn:
        picture = page_image(job.library, conn, page)
        if shapes is None:
            pass_id = conn.execute(segments.select().where(segments.c.id == segment_ids[0])).one().pass_id
            shapes = dict(zip(*lines_of(conn, pass_id, picture.width, picture.height), strict=True))
    by_id = shapes
    with still_image(job.library, picture) as path:
        image = open_image(path, max_pixels=job.engine.settings.max_image_pixels).convert("RGB")
    for line in lines:
        if line.segment_id in by_id:
            yield line, _cut(image, by_id[line.segment_id], margin, sides)


def _cut(image: Any, shape: Mapping[str, Any], share: float, sides: bool) -> Picture:
    x, y, w, h = shape["rect"]
    margin = h * share
    beside = margin if sides else 0.0
    left, top = max(0, int(x - beside)), max(0, int(y - margin))
    right, bottom = min(image.width, int(x + w + beside) + 1), min(image.height, int(y + h + margin) + 1)
    file = io.BytesIO()
    image.crop((left, top, max(right, left + 1), max(bottom, top + 1))).save(file, "PNG")
    return Picture(file.getvalue(), "image/png")


def use_by(engine: Engine, models: Sequence[tuple[str, str]]) -> Use:
    """Return what lines are put to if these providers' models are asked about them, given as (provider, model)."""
    lanes = {
        placed_with_provider(engine, provider, model, pages_may_leave=True).lane for provider, model in models
    }
    return "local-model" if lanes == {"local-model"} else "cloud-model"


def ask_line(
    job: JobContext,
    line: TaughtLine,
    picture: Picture,
    prompt: str,
    *,
    provider: str,
    model: str,
    answer: Any = None,
) -> ModelAnswer[Any]:
    """Make one call about one line, an episode of the ledger. RetryLater if the provider is busy."""
    request = ModelRequest(
        provider=provider,
        model=model,
        prompt=prompt,
        subject=Subject(line.document_id, line.segment_id),
        use_case=job.kind.name,
        pictures=(picture,),
        pages_may_leave=job.args.pages_may_leave,
    )
    return ask_in_job(job, request, answer)
