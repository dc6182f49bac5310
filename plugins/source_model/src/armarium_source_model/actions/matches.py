"""Matches segments of rival passes, and copies what belongs to one across to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, select

from armarium.api import ActionContext, Conflict, Route, RowRule, action, new_id
from armarium_documents.api import add_representations, representations
from armarium_source_model.actions.edits import editable
from armarium_source_model.actions.spans import Hanging, carry_annotations
from armarium_source_model.counting import HUMAN
from armarium_source_model.errors import OtherPage, match_needs_a_person, refuse_provisional
from armarium_source_model.hookspecs import (
    ReadingChange,
    armarium_source_model_carriers,
    armarium_source_model_copy_reading,
)
from armarium_source_model.models import carries, matches
from armarium_source_model.queries.matches import get_match, is_one_to_one, match_between
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.readings import counting_of_segments
from armarium_source_model.schemas.fields import Id
from armarium_source_model.schemas.joins import Carried, Carry, MatchOut, MatchPropose

Image = Mapping[str, Any] | None


@action(
    "segment.match_propose",
    result=MatchOut,
    summary="Propose that two segments of rival passes are the same thing on the page.",
    route=Route("POST", "/api/segments/matches"),
    words="Proposed a match of {from_segment_id|a page}",
)
def propose(ctx: ActionContext, p: MatchPropose) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Conflict for another page, the same pass or an existing match."""
    old, new = editable(ctx, p.from_segment_id, None), editable(ctx, p.to_segment_id, None)
    if old.document_id != new.document_id:
        raise OtherPage(
            f"Segment {old.id} is on document {old.document_id}, {new.id} on {new.document_id}; "
            "a match is between two passes of one page.",
            code="other_document",
        )
    if old.pass_id == new.pass_id:
        raise Conflict(
            f"Both segments are of pass {old.pass_id}; a match is between two passes (merge them instead).",
            code="same_pass",
        )
    standing = match_between(ctx.conn, old.id, new.id)
    if standing is not None:
        raise Conflict("These two segments are already matched.", code="already_exists", id=standing.id)
    match_id = new_id()
    provenance = ctx.provenance()
    ctx.conn.execute(
        matches.insert().values(
            id=match_id,
            document_id=old.document_id,
            **p.model_dump(),
            state="proposed",
            proposed_by_kind=provenance["provenance_kind"],
            proposed_by=provenance["created_by"],
            created_at=ctx.now,
        )
    )
    return _answer(ctx, get_match(ctx.conn, match_id))


def _answer(ctx: ActionContext, row: Row[Any]) -> dict[str, Any]:
    ctx.target(row.id)
    ctx.note_changes(document_ids=[row.document_id], segment_ids=[row.from_segment_id, row.to_segment_id])
    return row._asdict()


def _was_rejected(before: Image, after: Image) -> bool:
    return before is not None and before["state"] == "rejected"


_DECIDED: RowRule[Any] = RowRule("segment_match", "person", when=_was_rejected, refusal=match_needs_a_person)
"""A machine may reject a match; it takes no rejection back, since a person may have made it."""


def _decide(ctx: ActionContext, match_id: str, state: str) -> dict[str, Any]:
    refuse_provisional(match_id)
    row = get_match(ctx.conn, match_id)
    if row.state != "proposed":
        raise Conflict(
            f"Match {match_id} is already {row.state}; undo that step to decide again.",
            code="already_decided",
        )
    accepted = state == "accepted"
    ctx.conn.execute(
        matches.update()
        .where(matches.c.id == match_id)
        .values(
            state=state,
            accepted_by=ctx.principal.name if accepted else None,
            accepted_at=ctx.now if accepted else None,
        )
    )
    return _answer(ctx, get_match(ctx.conn, match_id))


@action(
    "segment.match_accept",
    result=MatchOut,
    summary="Accept a proposed match; only a person may.",
    route=Route("POST", "/api/segments/matches/{match_id}/accept"),
    words="Accepted a match of {match_id|a page}",
    person_only=match_needs_a_person,
)
def accept(ctx: ActionContext, match_id: Id) -> dict[str, Any]:
    """Raises MatchNeedsAPerson (422) for a machine, NotFound, Conflict if it is already decided."""
    return _decide(ctx, match_id, "accepted")


@action(
    "segment.match_reject",
    result=MatchOut,
    summary="Reject a proposed match.",
    route=Route("POST", "/api/segments/matches/{match_id}/reject"),
    words="Rejected a match of {match_id|a page}",
    rules=(_DECIDED,),
)
def reject(ctx: ActionContext, match_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it is already decided."""
    return _decide(ctx, match_id, "rejected")


@action(
    "segment.match_withdraw",
    result=MatchOut,
    summary="Withdraw a proposed match.",
    route=Route("POST", "/api/segments/matches/{match_id}/withdraw"),
    words="Withdrew a proposed match of {match_id|a page}",
)
def withdraw(ctx: ActionContext, match_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it is already decided."""
    refuse_provisional(match_id)
    row = get_match(ctx.conn, match_id)
    if row.state != "proposed":
        raise Conflict(f"Match {match_id} is {row.state} and no longer a proposal.", code="already_decided")
    ctx.conn.execute(matches.update().where(matches.c.id == row.id).values(withdrawn_at=ctx.now))
    return _answer(ctx, row)


@action(
    "segment.carry",
    result=Carried,
    summary="Copy readings, annotations and evidence across an accepted match; the originals stay.",
    route=Route("POST", "/api/segments/carry"),
    words="Carried readings across a match of {match_id|a page}",
    undo_name="segment.uncarry",
)
def carry(ctx: ActionContext, p: Carry) -> dict[str, Any]:
    """Raises NotFound, Conflict for a match that is not accepted. Reports what cannot be carried, with the
    reason.
    """
    refuse_provisional(p.match_id)
    match = get_match(ctx.conn, p.match_id)
    if match.state != "accepted":
        raise Conflict(
            f"Match {p.match_id} is {match.state}; only an accepted match carries readings across.",
            code="match_not_accepted",
        )
    editable(ctx, match.from_segment_id, None)
    editable(ctx, match.to_segment_id, None)
    carriers = {
        segment_carrier.kind: segment_carrier
        for segment_carrier in ctx.engine.points.collect(armarium_source_model_carriers)
    }
    carried: list[dict[str, Any]] = []
    not_carried: list[dict[str, Any]] = []
    for kind in dict.fromkeys(p.kinds):
        if kind == "reading":
            copies, reasons = _carry_readings(ctx, match)
        elif kind == "annotation":
            copies, reasons = carry_annotations(ctx, _load_hanging(ctx, match))
        elif kind in carriers:
            copies, reasons = carriers[kind].carry(ctx, match.from_segment_id, match.to_segment_id)
        else:
            copies, reasons = [], [(None, f"No plugin of this engine provides the kind {kind}.")]
        carried += [{"kind": kind, "original_id": old, "copy_id": new} for old, new in copies]
        not_carried += [{"kind": kind, "original_id": old, "why": why} for old, why in reasons]
    ctx.bulk_insert(
        carries,
        ("id", "match_id", "carried_kind", "original_id", "copy_id", "audit_id"),
        [
            (new_id(), match.id, copy["kind"], copy["original_id"], copy["copy_id"], ctx.audit_id)
            for copy in carried
        ],
    )
    _answer(ctx, match)
    return {"carried": carried, "not_carried": not_carried}


def _carried_before(ctx: ActionContext, match: Row[Any]) -> frozenset[str]:
    """Return the originals that were carried across this match before."""
    rows = ctx.conn.execute(select(carries.c.original_id).where(carries.c.match_id == match.id))
    return frozenset(row[0] for row in rows)


def _load_hanging(ctx: ActionContext, match: Row[Any]) -> Hanging:
    """Return the match with the counting transcription of each of its ends."""
    from_id, to_id = match.from_segment_id, match.to_segment_id
    texts = counting_of_segments(ctx.conn, (from_id, to_id), rule=reading_rule(ctx.conn))
    return Hanging(
        match.document_id,
        from_id,
        to_id,
        texts[from_id].text if from_id in texts else "",
        texts[to_id].text if to_id in texts else "",
        _carried_before(ctx, match),
    )


def _carry_readings(
    ctx: ActionContext, match: Row[Any]
) -> tuple[list[tuple[str, str]], list[tuple[str | None, str]]]:
    table = representations
    live = list(
        ctx.conn.execute(
            select(table)
            .where(table.c.segment_id == match.from_segment_id, table.c.retracted.is_(False))
            .order_by(table.c.created_at, table.c.id)
        )
    )
    if not is_one_to_one(ctx.conn, match):
        why = "Several segments are matched with one; a reading is carried only from one to one."
        return [], [(row.id, why) for row in live] or [(None, why)]
    carried = _carried_before(ctx, match)
    copies: dict[str, str] = {}
    new: list[dict[str, Any]] = []
    reasons: list[tuple[str | None, str]] = []
    for row in live:
        if row.id in carried:
            reasons.append((row.id, "It has already been carried across this match."))
            continue
        copies[row.id] = new_id()
        maker = row.provenance_kind
        if maker == HUMAN and not ctx.principal.restates_persons:
            # A machine that copies a person's words is not thereby their author.
            maker = ctx.provenance()["provenance_kind"]
        new.append(
            dict(row._mapping)
            | {
                "id": copies[row.id],
                "segment_id": match.to_segment_id,
                "source_anchor": None,
                "derived_from_representation_id": row.id,
                "corrects_representation_id": copies.get(row.corrects_representation_id or ""),
                "provenance_kind": maker,
                "created_by": ctx.principal.name,
                "created_at": ctx.now,
            }
        )
    if new:
        add_representations(ctx, tuple(new[0]), [tuple(row.values()) for row in new])
    for copy in new:
        old_id, text = copy["derived_from_representation_id"], copy["content"] or ""
        copied = ReadingChange(match.document_id, match.to_segment_id, old_id, copy["id"], text, text)
        ctx.engine.points.ask(armarium_source_model_copy_reading, ctx, copied)
    ctx.note_changes(representation_ids=copies.values())
    return list(copies.items()), reasons
