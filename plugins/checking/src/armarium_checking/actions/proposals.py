"""Accept and reject what is proposed after corrections: many at once, in one step."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from armarium.api import ActionContext, Route, action, new_id
from armarium_checking import errors
from armarium_checking.records.proposals import Decide, Decided, ProposalItem, Rejection
from armarium_source_model.api import counting_of_segments, get_segment


@action(
    "proposal.decide",
    result=Decided,
    summary="Say which of the proposed errors are errors.",
    route=Route("POST", "/api/check/proposals", name="decide_proposals", refusals=(404, 409)),
    words="Decided about proposed errors",
    person_only=True,
)
def decide(ctx: ActionContext, p: Decide) -> dict[str, Any]:
    """Lines are corrected as by representation.create_many, all or none; what is rejected is not offered again. Refused
    where another reading counts by now than the one that was shown.
    """
    if not p.accepted and not p.rejected:
        raise errors.nothing_decided()
    counting = counting_of_segments(ctx.conn, {item.segment_id for item in (*p.accepted, *p.rejected)})
    by_line: dict[str, list[ProposalItem]] = defaultdict(list)
    for item in (*p.accepted, *p.rejected):
        reading = counting.get(item.segment_id)
        if reading is None or reading.representation_id != item.reading_id:
            raise errors.other_text(item.segment_id)
        if reading.text[item.char_start : item.char_end] != item.read:
            raise errors.other_text(item.segment_id)
    for item in p.accepted:
        by_line[item.segment_id].append(item)
    corrections = []
    for segment_id, items in by_line.items():
        text = counting[segment_id].text
        last = len(text) + 1
        for item in sorted(items, key=lambda item: -item.char_start):
            if item.char_end > last:
                raise errors.overlapping(segment_id)
            text = text[: item.char_start] + item.proposed + text[item.char_end :]
            last = item.char_start
        corrections.append(
            {"segment_id": segment_id, "text": text, "expected_counting_id": items[0].reading_id}
        )
    readings = (
        ctx.run("representation.create_many", {"corrections": corrections})["items"] if corrections else []
    )
    for item in p.rejected:
        segment = get_segment(ctx.conn, item.segment_id)
        decision = {"id": new_id(), "document_id": segment.document_id, **ctx.provenance()}
        decision |= item.model_dump(include={"segment_id", "read", "proposed"})
        Rejection.rows.insert(ctx.conn, decision)
        ctx.target(item.segment_id)
        ctx.note_changes(document_ids=[segment.document_id])
    return {"representation_ids": [written["id"] for written in readings], "rejected": len(p.rejected)}
