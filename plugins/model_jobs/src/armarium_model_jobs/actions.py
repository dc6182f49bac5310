"""What a model says signs are, written in one step: a description of each, and that it is an instance of the
declared sign of that name.
"""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, action
from armarium_model_jobs.queries import DESCRIPTION
from armarium_model_jobs.schemas import TakenSigns, TakeSigns


@action(
    "model_jobs.take_signs",
    result=TakenSigns,
    summary="Record what a model identified the signs of a page as, in one step.",
    words="Identified signs of {document_id|a page}",
)
def take_signs(ctx: ActionContext, p: TakeSigns) -> dict[str, Any]:
    """Raises what `reading.take` and `sign.take` raise. If no family declares signs, only the descriptions
    are written.
    """
    settings = {"document_id": p.document_id, "pass_id": p.pass_id, "provider": p.provider, "model": p.model}
    readings = [{"segment_id": sign.segment_id, "text": sign.is_a} for sign in p.signs]
    taken_readings = ctx.run("reading.take", {**settings, "kind": DESCRIPTION, "readings": readings})
    answer: dict[str, list[str]] = {"declared": [], "instance_ids": []}
    if ctx.engine.actions.find("sign.take") is not None:
        answer = ctx.run(
            "sign.take", {"signs": [{"segment_id": sign.segment_id, "name": sign.is_a} for sign in p.signs]}
        )
    return {"representation_ids": taken_readings["representation_ids"], **answer}
