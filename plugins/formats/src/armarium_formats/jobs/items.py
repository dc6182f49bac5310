"""The job `ingest-items`: imports the items that another program exported, some of them a step."""

from __future__ import annotations

from collections import Counter
from typing import Any

from armarium.api import JobContext, JobKind
from armarium_formats.actions.items import COUNTED, open_export, take_files
from armarium_formats.items.parts import ItemExport
from armarium_formats.schemas.items import ImportItems

BATCH_FILES = 50
MOST_LISTED = 1_000


def run_items(ctx: JobContext) -> dict[str, Any]:
    """Import batch after batch; a kill repeats at most the batch in hand. Invalid for a file that is not an export."""
    args: ImportItems = ctx.args
    export = open_export(args)
    total = len(export.items)
    answer: dict[str, Any] = ctx.checkpoint.get("answer") or {
        **dict.fromkeys(("items", *COUNTED), 0), "program": export.program, "document_ids": [], "refused": [], "losses": [],
    }  # fmt: skip
    while answer["items"] < total:
        ctx.check()
        at, batch = answer["items"], ItemExport(export.program, [])
        if at == 0:
            batch.losses = export.losses
        for item in export.items[at : at + BATCH_FILES]:
            if (
                batch.items
                and sum(len(batched.parts) for batched in batch.items) + len(item.parts) > BATCH_FILES
            ):
                break
            batch.items.append(item)
        params = args.model_copy()
        take_files(ctx.engine, ctx.library, params, batch, set(answer["document_ids"]))
        so_far = answer

        def more(step: dict[str, Any], so_far: dict[str, Any] = so_far) -> dict[str, Any]:
            return {"answer": _add_up(so_far, step)}

        ctx.act("ingest.items", params, checkpoint=more, done=at + len(batch.items), total=total)
        answer = ctx.checkpoint["answer"]
    return answer


def _add_up(answer: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with what one more step did."""
    counted = Counter({loss["what"]: loss["count"] for loss in answer["losses"]})
    counted.update({loss["what"]: loss["count"] for loss in step["losses"]})
    why = {loss["what"]: loss["why"] for loss in (*answer["losses"], *step["losses"])}
    return {
        **answer,
        **{name: answer[name] + step[name] for name in ("items", *COUNTED)},
        "document_ids": answer["document_ids"] + step["document_ids"],
        "refused": (answer["refused"] + step["refused"])[:MOST_LISTED],
        "losses": [
            {"what": what, "count": count, "why": why[what]} for what, count in sorted(counted.items())
        ],
    }


ingest_items = JobKind(
    name="ingest-items",
    lane="images",
    summary="Import the items that another program exported",
    run=run_items,
    args=ImportItems,
)
