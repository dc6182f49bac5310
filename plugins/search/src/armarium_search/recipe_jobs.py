"""The recipe job of searching: vectors for what was read, so that pages are also found by similarity."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from armarium.api import JobContext, JobKind, RecipeJob
from armarium_search.schemas import EmbedParams


class VectorArgs(EmbedParams):
    """The settings, and the pages that were read."""

    page_ids: list[str] = Field(max_length=100_000)


def make_vectors(job: JobContext) -> dict[str, Any]:
    """Start the work on vectors, once, however often this is run.

    It covers all pages at once, since those whose text is unchanged keep their vectors: the given pages, and
    any others corrected since.
    """
    progress = dict(job.checkpoint)
    if "job_id" not in progress:
        settings = {name: getattr(job.args, name) for name in EmbedParams.model_fields}
        outcome = job.act(
            "search.embed",
            settings,
            checkpoint=lambda answer: {"job_id": answer["job_id"]},
            done=len(job.args.page_ids),
        )
        progress = {"job_id": (outcome.result or {})["job_id"]}
    return {"pages": len(job.args.page_ids), "output": progress}


VECTORS = RecipeJob(
    kind=JobKind(
        name="make-a-vector",
        lane="database",
        summary="Compute vectors of passages",
        run=make_vectors,
        args=VectorArgs,
    ),
    name="Make a vector",
    description="Gives the passages of pages vectors, so that pages are found by likeness, misread words among them.",
    layer="vectors",
    takes=("page_reading",),
    gives=("vectors",),
    settings=EmbedParams,
    writes=("search.embed",),
    each="scope",
)
