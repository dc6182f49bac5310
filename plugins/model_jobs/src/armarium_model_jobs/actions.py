"""What a model says signs are, written in one step: a description of each, and that it is an instance of the
declared sign of that name.
"""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Example, action
from armarium_model_jobs.queries import DESCRIPTION, signs_of
from armarium_model_jobs.samples import signed_page
from armarium_model_jobs.schemas import TakenSigns, TakeSigns


def _example(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    page_id = signed_page(ex)["page_id"]
    with ex.library.db.read() as conn:
        pass_id, rows = signs_of(conn, page_id)
    return {
        "document_id": page_id,
        "pass_id": pass_id,
        "provider": "sample-reader",
        "model": "sample",
        "signs": [{"segment_id": row.id, "is_a": "A notary's mark"} for row in rows],
    }


@action(
    "model_jobs.take_signs",
    params=TakeSigns,
    result=TakenSigns,
    summary="Record what a model identified the signs of a page as, in one step.",
    words="Identified signs of {document_id|a page}",
    example=_example,
)
def take_signs(ctx: ActionContext, p: TakeSigns) -> dict[str, Any]:
    """Raises what `reading.take` and `sign.take` raise. If no family declares signs, only the descriptions
    are written.
    """
    given = {"document_id": p.document_id, "pass_id": p.pass_id, "provider": p.provider, "model": p.model}
    readings = [{"segment_id": sign.segment_id, "text": sign.is_a} for sign in p.signs]
    made = ctx.run("reading.take", {**given, "kind": DESCRIPTION, "readings": readings})
    taken: dict[str, list[str]] = {"declared": [], "instance_ids": []}
    if ctx.engine.actions.find("sign.take") is not None:
        taken = ctx.run(
            "sign.take", {"signs": [{"segment_id": sign.segment_id, "name": sign.is_a} for sign in p.signs]}
        )
    return {"representation_ids": made["representation_ids"], **taken}
