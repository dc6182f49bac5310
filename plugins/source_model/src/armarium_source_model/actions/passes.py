"""Creates, withdraws, restores, chooses and marks passes."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Conflict, Invalid, Route, RowRule, action
from armarium_documents.api import ARTIFACTS, require_live
from armarium_source_model.api import passes
from armarium_source_model.errors import ground_truth_needs_a_person, refuse_provisional
from armarium_source_model.models import pass_choices
from armarium_source_model.queries.passes import (
    ONE_PASS_A_FILE,
    chosen_pass,
    get_pass,
    get_pass_answer,
    reading_rule,
)
from armarium_source_model.schemas.fields import Id
from armarium_source_model.schemas.segments import DeletedPass, GroundTruth, PassChoose, PassCreate, PassOut
from armarium_source_model.writes import NewPass, create_pass, writable_pass


@action(
    "segment.pass_create",
    result=PassOut,
    summary="Create a new pass on a page.",
    route=Route("POST", "/api/segments/passes"),
    words="Created a pass of {document_id|a page}",
)
def create(ctx: ActionContext, p: PassCreate) -> dict[str, Any]:
    """Raises NotFound for an unknown page or artifact, Invalid for an artifact of another page or a provisional id."""
    refuse_provisional(p.source_artifact_id)
    pass_id = create_pass(ctx, NewPass(p.document_id, p.name, run_id=p.run_id))
    if p.source_artifact_id is not None:
        artifact = ARTIFACTS.require(ctx.conn, p.source_artifact_id)
        if artifact["document_id"] != p.document_id:
            raise Invalid(
                f"Artifact {p.source_artifact_id} belongs to document {artifact['document_id']}, not to {p.document_id}; "
                "a pass comes from an artifact of its own page.",
                code="foreign_artifact",
            )
        ctx.conn.execute(
            passes.update()
            .where(passes.c.id == pass_id)
            .values(source_artifact_id=p.source_artifact_id, artifact_type=artifact["artifact_type"])
        )
    return get_pass_answer(ctx.conn, pass_id, reading_rule(ctx.conn))


@action(
    "segment.pass_delete",
    result=DeletedPass,
    summary="Withdraw a pass: its segments stop appearing, and it can be restored.",
    route=Route("DELETE", "/api/segments/passes/{pass_id}"),
    words="Withdrew a pass of {pass_id|a page}",
    laws=(ONE_PASS_A_FILE,),
)
def delete(ctx: ActionContext, pass_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it is already withdrawn, Invalid for a provisional id."""
    row = writable_pass(ctx, pass_id)
    ctx.conn.execute(passes.update().where(passes.c.id == row.id).values(deleted_at=ctx.now))
    return {**_answer_change(ctx, row.id, row.document_id), "status": "deleted"}


@action(
    "segment.pass_restore",
    result=PassOut,
    summary="Restore a withdrawn pass.",
    route=Route("POST", "/api/segments/passes/{pass_id}/restore"),
    words="Restored a pass of {pass_id|a page}",
    laws=(ONE_PASS_A_FILE,),
)
def restore(ctx: ActionContext, pass_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it was not withdrawn or its file was imported again, Invalid for a
    provisional id.
    """
    refuse_provisional(pass_id)
    row = get_pass(ctx.conn, pass_id)
    if row.deleted_at is None:
        raise Conflict(
            f"Pass {pass_id} is not withdrawn, so there is nothing to restore.", code="not_deleted"
        )
    require_live(ctx.conn, row.document_id)
    ctx.conn.execute(passes.update().where(passes.c.id == row.id).values(deleted_at=None))
    return _answer_change(ctx, row.id, row.document_id)


@action(
    "segment.pass_choose",
    result=PassOut,
    summary="Choose the pass a page is worked on, or release the choice so that the rules decide.",
    route=Route("PUT", "/api/segments/passes/{pass_id}/working"),
    words="Chose the pass to work on for {pass_id|a page}",
    person_only=True,
)
def choose(ctx: ActionContext, p: PassChoose) -> dict[str, Any]:
    """Raises NotFound, Conflict for a withdrawn pass or for releasing one that is not chosen."""
    row = writable_pass(ctx, p.pass_id)
    chosen = chosen_pass(ctx.conn, row.document_id)
    table = pass_choices
    if not p.working:
        if chosen != row.id:
            raise Conflict(
                f"Pass {row.id} is not the chosen one, so there is no choice to release.", code="not_chosen"
            )
        ctx.conn.execute(table.delete().where(table.c.document_id == row.document_id))
    elif chosen is None:
        ctx.conn.execute(
            table.insert().values(document_id=row.document_id, pass_id=row.id, **ctx.provenance())
        )
    elif chosen != row.id:
        ctx.conn.execute(
            table.update()
            .where(table.c.document_id == row.document_id)
            .values(pass_id=row.id, **ctx.provenance())
        )
    return _answer_change(ctx, row.id, row.document_id)


_BY_A_PERSON: RowRule[GroundTruth] = RowRule(
    "segment_pass",
    "person",
    when=lambda before, after: (
        after is not None and after["ground_truth"] and not (before is not None and before["ground_truth"])
    ),
    refusal=ground_truth_needs_a_person,
    sent=lambda p: p.ground_truth,
)
"""A pass becomes ground truth by a person's word; the mark is taken back by anyone."""


@action(
    "segment.pass_ground_truth",
    result=PassOut,
    summary="Mark a pass as ground truth, or remove the mark; only a person may set it.",
    route=Route("PUT", "/api/segments/passes/{pass_id}/ground-truth"),
    words=lambda p: (
        "Marked a pass of {pass_id|a page} as ground truth"
        if p.get("ground_truth", True)
        else "Removed the ground truth mark from a pass of {pass_id|a page}"
    ),
    rules=(_BY_A_PERSON,),
)
def ground_truth(ctx: ActionContext, p: GroundTruth) -> dict[str, Any]:
    """Raises Invalid if a machine would set the mark, NotFound, Conflict for a withdrawn pass."""
    row = writable_pass(ctx, p.pass_id)
    ctx.conn.execute(passes.update().where(passes.c.id == row.id).values(ground_truth=p.ground_truth))
    return _answer_change(ctx, row.id, row.document_id)


def _answer_change(ctx: ActionContext, pass_id: str, document_id: str) -> dict[str, Any]:
    ctx.target(pass_id)
    ctx.note_changes(pass_ids=[pass_id], document_ids=[document_id])
    return get_pass_answer(ctx.conn, pass_id, reading_rule(ctx.conn))
