"""The only writes of rights: set a record, withdraw one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import ActionContext, Route, RowRule, action, new_id
from armarium_rights.errors import already_withdrawn, withdrawn_in_project
from armarium_rights.queries import as_answer, lend_project, target
from armarium_rights.records import Record, SetParams, WithdrawParams, records

Image = Mapping[str, Any] | None


def _in_force(image: Image) -> bool:
    return image is not None and image["withdrawn_at"] is None


def _loosens(before: Image, after: Image) -> bool:
    """A record that was in force no longer is."""
    return _in_force(before) and not _in_force(after)


TIGHTENS_ONLY: RowRule[Any] = RowRule("rights_record", "person", when=_loosens)
"""A machine may set a record; only a person may withdraw it, or undo its setting or withdrawal."""


@action(
    "rights.set",
    result=Record,
    summary="Set rights on the project, a document or a segment.",
    route=Route("POST", "/api/rights", name="set_rights", refusals=(404, 409)),
    rules=(TIGHTENS_ONLY,),
    words="Set rights on {target_id|the project}",
)
def set_rights(ctx: ActionContext, p: SetParams) -> dict[str, Any]:
    """The record is added to the existing ones: together they only tighten. A machine may also set one."""
    document_id, segment_id = target(ctx.conn, p.target_kind, p.target_id)
    fields = p.model_dump(mode="json", exclude={"target_id"})
    row = {"id": new_id(), "document_id": document_id, "segment_id": segment_id, **fields, **ctx.provenance()}
    ctx.conn.execute(records.insert().values(row))
    _tell(ctx, row)
    return as_answer({**row, "withdrawn_at": None})


@action(
    "rights.withdraw",
    result=Record,
    summary="Withdraw a rights record.",
    route=Route("POST", "/api/rights/{record_id}/withdraw", name="withdraw_rights"),
    rules=(TIGHTENS_ONLY,),
    person_only=True,
    words="Withdrew rights",
)
def withdraw(ctx: ActionContext, p: WithdrawParams) -> dict[str, Any]:
    """The record is kept but no longer counts; undoing this step puts it in force again. Only a person may do
    this. In a branch, Conflict for one that holds because its project has it.
    """
    row = Record.rows.get(ctx.conn, p.record_id)
    if row is None or row["withdrawn_at"] is not None:
        with lend_project(ctx.engine, ctx.project) as project:
            of_project = None if project is None else Record.rows.get(project, p.record_id)
        if of_project is not None and of_project["withdrawn_at"] is None:
            raise withdrawn_in_project(p.record_id)
    row = Record.rows.row(ctx.conn, p.record_id)._asdict()
    if row["withdrawn_at"] is not None:
        raise already_withdrawn(p.record_id)
    Record.rows.change(ctx.conn, p.record_id, {"withdrawn_at": ctx.now})
    _tell(ctx, row)
    return as_answer({**row, "withdrawn_at": ctx.now})


def _tell(ctx: ActionContext, row: Mapping[str, Any]) -> None:
    about = [target_id for target_id in (row["document_id"], row["segment_id"]) if target_id is not None]
    ctx.target(row["id"], *about)
    if row["document_id"] is not None:
        ctx.note_changes(document_ids=[row["document_id"]])
    if row["segment_id"] is not None:
        ctx.note_changes(segment_ids=[row["segment_id"]])
