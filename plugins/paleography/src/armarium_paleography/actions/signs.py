"""Declare and withdraw signs; record and withdraw their instances."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, RowLaw, action
from armarium_paleography.actions.ground import (
    add,
    live_row,
    rests_on_live,
    standing_segment,
    withdraw_row,
    withdraw_where,
)
from armarium_paleography.errors import CodePointTaken, SaidAlready
from armarium_paleography.queries.live_segments import live
from armarium_paleography.queries.signs import INSTANCES, SIGNS, holder_of, shown_already, signs_by_name
from armarium_paleography.records.ground import Id
from armarium_paleography.records.marks import (
    AddInstance,
    Instance,
    Sign,
    SignCreate,
    TakenSigns,
    TakeSigns,
    instances,
    signs,
)

ONE_SIGN_A_CODE_POINT = RowLaw.one(
    "sign",
    ("code_point",),
    lambda row, other: CodePointTaken(row["code_point"], other),
    ended="withdrawn_at",
)
"""A code point belongs to at most one live sign, whatever is undone or redone."""


OF_A_LIVE_SIGN = rests_on_live("sign_instance", "sign_id", "sign")

SHOWN_ONCE = RowLaw.one(
    "sign_instance",
    ("sign_id", "segment_id"),
    lambda row, other: SaidAlready("sign", row["segment_id"], other, "changed"),
    ended="withdrawn_at",
)
"""A segment is at most once an instance of a sign, whatever is undone or redone."""


@action(
    "sign.create",
    result=Sign,
    summary="Declare a sign, with a segment as its picture.",
    route=Route("POST", "/api/signs", name="create_sign"),
    laws=(ONE_SIGN_A_CODE_POINT,),
    words="Declared a sign of {picture_segment_id|a page}",
)
def create(ctx: ActionContext, p: SignCreate) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Withdrawn for the sign it is a variant of, CodePointTaken."""
    standing_segment(ctx.conn, p.picture_segment_id)
    if p.variant_of is not None:
        live_row(SIGNS, "sign", ctx.conn, p.variant_of)
    if p.code_point is not None and (holder := holder_of(ctx.conn, p.code_point)) is not None:
        raise CodePointTaken(p.code_point, holder)
    return add(ctx, signs, p.model_dump())


@action(
    "sign.withdraw",
    result=Sign,
    summary="Withdraw a sign and its instances.",
    route=Route("POST", "/api/signs/{sign_id}/withdraw", name="withdraw_sign"),
    laws=(ONE_SIGN_A_CODE_POINT, *OF_A_LIVE_SIGN, SHOWN_ONCE),
    words="Withdrew a sign",
)
def withdraw(ctx: ActionContext, sign_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn. Its live instances are withdrawn with it. Its code point becomes free; undo
    is refused once another sign has it.
    """
    row = live_row(SIGNS, "sign", ctx.conn, sign_id)
    withdraw_where(ctx, instances, instances.c.sign_id == sign_id)
    return withdraw_row(ctx, signs, row)


@action(
    "sign.add_instance",
    result=Instance,
    summary="Record that a segment shows a sign.",
    route=Route("POST", "/api/signs/{sign_id}/instances", name="add_instance"),
    laws=(*OF_A_LIVE_SIGN, SHOWN_ONCE),
    words="Recorded a sign on {segment_id|a page}",
)
def add_instance(ctx: ActionContext, p: AddInstance) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Withdrawn, SaidAlready. A segment may show several signs."""
    live_row(SIGNS, "sign", ctx.conn, p.sign_id)
    segment = standing_segment(ctx.conn, p.segment_id)
    same_place = (instances.c.sign_id == p.sign_id, instances.c.segment_id == p.segment_id)
    for standing in INSTANCES.all(ctx.conn, live(instances), *same_place):
        raise SaidAlready("sign", p.segment_id, standing["id"])
    return add(ctx, instances, {**p.model_dump(), "document_id": segment.document_id})


@action(
    "sign.instance_withdraw",
    result=Instance,
    summary="Withdraw an instance of a sign.",
    route=Route("POST", "/api/signs/instances/{instance_id}/withdraw", name="withdraw_instance"),
    laws=(*OF_A_LIVE_SIGN, SHOWN_ONCE),
    words="Withdrew an instance of a sign on {instance_id|a page}",
)
def withdraw_instance(ctx: ActionContext, instance_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn."""
    return withdraw_row(ctx, instances, live_row(INSTANCES, "instance", ctx.conn, instance_id))


@action(
    "sign.take",
    result=TakenSigns,
    summary="Record signs that were seen on segments, in one step: declared ones by id, others by name.",
    laws=(ONE_SIGN_A_CODE_POINT, *OF_A_LIVE_SIGN, SHOWN_ONCE),
    words="Found signs",
)
def take(ctx: ActionContext, p: TakeSigns) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Withdrawn for a sign named by its id.

    A name refers to the live sign of that name, ignoring case; if there is none, one is declared with the
    segment as its picture. A segment that already shows the sign is skipped, so repeating the action adds
    nothing.
    """
    declared: list[str] = []
    instance_ids: list[str] = []
    by_name = signs_by_name(ctx.conn) if any(sign.name for sign in p.signs) else {}
    for sign in p.signs:
        name = sign.name or ""
        sign_id = sign.sign_id or by_name.get(name.casefold())
        if sign_id is None:
            sign_id = ctx.run("sign.create", {"name": name, "picture_segment_id": sign.segment_id})["id"]
            by_name[name.casefold()] = sign_id
            declared.append(sign_id)
        if not shown_already(ctx.conn, sign_id, sign.segment_id):
            instance_ids.append(
                ctx.run(
                    "sign.add_instance",
                    {"sign_id": sign_id, "segment_id": sign.segment_id, "certainty": sign.certainty},
                )["id"]
            )
    return {"declared": declared, "instance_ids": instance_ids}
