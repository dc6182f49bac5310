"""The recipe job of searching: vectors for what was read, so that pages are also found by similarity."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from armarium.api import Example, JobContext, JobKind, RecipeJob
from armarium_search.schemas import EmbedParams
from armarium_source_model.api import sample_page


class VectorArgs(EmbedParams):
    """The settings, and the pages that were read."""

    page_ids: list[str] = Field(max_length=100_000)


def make_vectors(job: JobContext) -> dict[str, Any]:
    """Start the work on vectors, once, however often this is run.

    It covers all pages at once, since those whose text is unchanged keep their vectors: the given pages, and
    any others corrected since.
    """
    kept = dict(job.checkpoint)
    if "job_id" not in kept:
        given = {name: getattr(job.args, name) for name in EmbedParams.model_fields}
        outcome = job.act(
            "search.embed",
            given,
            checkpoint=lambda answer: {"job_id": answer["job_id"]},
            done=len(job.args.page_ids),
        )
        kept = {"job_id": (outcome.result or {})["job_id"]}
    return {"pages": len(job.args.page_ids), "output": kept}


def _example(ex: Example) -> dict[str, Any]:
    return {"page_id": sample_page(ex, ["Dear Sir, the convent is sold"]).document_id}


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
    example=_example,
)
