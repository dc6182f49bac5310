"""Merging: changes of a branch into the project, and the project's later work into a branch."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import (
    ActionContext,
    Conductor,
    Conflict,
    Engine,
    Invalid,
    Library,
    MergePlan,
    NotFound,
    Outcome,
    Route,
    RowRule,
    action,
    cancel_with_undo,
    merging,
    new_id,
    plan_merge,
    raw_of,
    write_merge,
)
from armarium.api import branches as packages
from armarium_agents.branches import errors
from armarium_agents.branches.groups import (
    PAGE,
    Comparison,
    Group,
    Toward,
    compare,
    comparison_of,
    held_comparison,
    lines_in,
    parts_of,
)
from armarium_agents.branches.making import (
    chosen_groups,
    look_at_branch,
    pages_of,
)
from armarium_agents.branches.queries import CORRECTS, project_of, refuse_partial, require_open
from armarium_agents.branches.records import (
    BranchId,
    BringIn,
    Merge,
    Merged,
    SettledPart,
    Update,
)
from armarium_source_model.api import counting_of_segments, forward_undo, reading_rule, retire_choices

_PERSON_MERGES: RowRule[Any] = RowRule(
    SettledPart.table.name,
    "person",
    when=lambda before, after: (after or before or {}).get("merged_into") == "project",
)
"""Whatever writes into the project what a branch proposes, or takes it back, is a person's."""

LONG = 2_000
"""From how many rows on a merge is a job; those of a page take a moment."""

JOB = "branch-merge"


def _merge_or_queue(conductor: Conductor, p: Merge | Update) -> Outcome:
    """Carry out the merge, or where it is long, queue the job that does the same."""
    assert conductor.library is not None
    started = {"branch_id": p.branch_id, "groups": p.groups, "on_conflict": p.on_conflict}
    if (
        conductor.principal.token_kind == "run"
        or len(_changes_in(conductor.engine, conductor.library, p)) < LONG
    ):
        return conductor.step(p)
    return conductor.engine.run(conductor.library, "branches.start_merge", started, conductor.principal)


def _changes_in(engine: Engine, library: Library, p: Merge | Update) -> list[merging.Change]:
    """Return the changes that *p* is about; none where the merge itself will say what is wrong."""
    comparison = comparison_meant(engine, library, p.branch_id)
    with suppress(Invalid):
        return [change for group in chosen_groups(comparison, p.groups) for change in group.changes]
    return []


def comparison_meant(engine: Engine, library: Library, branch_id: str | None) -> Comparison:
    """Return what would be merged into *library*: of its branch, or where it is one itself, of its project."""
    if branch_id is None:
        project, card = project_of(engine, library)
        return comparison_of(project, library, card, "branch")
    with library.db.read_all() as conn:
        branch, card = require_open(conn, engine, library, branch_id)
    return comparison_of(library, branch, card, "project")


@action(
    "branches.merge",
    result=Merged,
    summary="Take changes of a branch into the project, in one step that is undone as one.",
    route=Route("POST", "/api/branches/{branch_id}/merge"),
    words="Merged a branch",
    person_only=True,
    rules=(_PERSON_MERGES,),
    prepare=look_at_branch,
    conduct=_merge_or_queue,
    after_undo=forward_undo,
)
def merge(ctx: ActionContext, p: Merge) -> dict[str, Any]:
    """All or nothing. Raises Conflict where both sides changed the same and nobody has decided, or something that was not
    chosen is needed; what a direct write would raise; NotFound, and Conflict for a branch that was changed by hand.
    """
    branch, card = require_open(ctx.conn, ctx.engine, ctx.project, p.branch_id)
    with branch.db.read_all() as branch_conn:
        return _bring_in(ctx, p, card, branch_conn, branch, "project")


def _look_at_other_side(engine: Engine, library: Library | None, p: Update) -> None:
    assert library is not None
    if p.branch_id is not None:
        look_at_branch(engine, library, BranchId(branch_id=p.branch_id))
    else:
        project_of(engine, library)


@action(
    "branches.update",
    result=Merged,
    summary="Bring the project's later work into this branch, in one step that is undone as one.",
    route=Route("POST", "/api/branches/update"),
    words="Brought the project's later work into the branch",
    rules=(_PERSON_MERGES,),
    prepare=_look_at_other_side,
    conduct=_merge_or_queue,
    after_undo=forward_undo,
)
def update(ctx: ActionContext, p: Update) -> dict[str, Any]:
    """As branches.merge, the other way: the request names the branch as its project. In a project it takes the work of
    the branch that is named, as branches.merge does. Raises Conflict for a project where none is named.
    """
    if p.branch_id is not None:
        return merge.perform(ctx, Merge(branch_id=p.branch_id, **p.model_dump(exclude={"branch_id"})))  # type: ignore[no-any-return]
    project, card = project_of(ctx.engine, ctx.project)
    with project.db.read_all() as project_conn:
        return _bring_in(ctx, p, card, project_conn, project, "branch")


@action(
    "branches.start_merge",
    result=Merged,
    summary="Merge in the background, as a merge of many rows does by itself; undo it while it waits, and nothing was merged.",
    route=Route("POST", "/api/branches/merge-jobs"),
    words="Started to merge a branch",
    rules=(RowRule(SettledPart.table.name, "person", sent=lambda p: p.branch_id is not None),),
    prepare=_look_at_other_side,
    after_undo=cancel_with_undo,
)
def start_merge(ctx: ActionContext, p: Update) -> dict[str, Any]:
    """What would be refused is refused now. Raises what branches.merge and branches.update raise."""
    comparison = comparison_meant(ctx.engine, ctx.project, p.branch_id)
    changes = [change for group in chosen_groups(comparison, p.groups) for change in group.changes]
    places = {change.place for change in changes}
    plan = plan_merge(ctx.schema, comparison.changes, places, p.on_conflict, raw_of(ctx.conn))
    _refuse_unfinished(comparison, plan)
    title = f"Merge {len(changes):,} rows"
    job_id = ctx.enqueue(JOB, p.model_dump(mode="json"), title=title, total=len(changes))
    ctx.target(*([p.branch_id] if p.branch_id else []), job_id)
    nothing = dict.fromkeys(("groups", "inserted", "updated", "deleted", "left_out", "files"), 0)
    return {**nothing, "branch_id": p.branch_id or ctx.project.uuid, "job_id": job_id}


def _bring_in(
    ctx: ActionContext,
    p: BringIn,
    card: packages.BranchCard,
    source_conn: Connection,
    from_: Library,
    toward: Toward,
) -> dict[str, Any]:
    refuse_partial(ctx.principal, ctx.project, from_)
    if toward == "branch" and card.partial:
        raise errors.partial_branch(ctx.project.name)
    own, source = raw_of(ctx.conn), raw_of(source_conn)
    sides = (own, source) if toward == "project" else (source, own)
    # Within a step that did something else before, the rows are no longer those that its log ends with.
    compared = held_comparison if len(ctx.ran) == 1 else compare
    comparison = compared(*sides, ctx.project, card, toward)
    groups = chosen_groups(comparison, p.groups)
    if not groups:
        raise errors.nothing_to_merge(from_.name)
    changes = [change for group in groups for change in group.changes]
    places = {change.place for change in changes}
    plan = plan_merge(ctx.schema, comparison.changes, places, p.on_conflict, own)
    _refuse_unfinished(comparison, plan)
    _refuse_removed(groups, p.on_conflict)
    files = packages.take_files(from_.objects, ctx.project.objects, plan.files)
    write_merge(ctx, plan, source, changes, pages_of(groups))
    _retire_choices(ctx, card, plan)
    _note_settled(ctx, card, groups, source, toward)
    _prefer(ctx, source_conn, plan)
    _tell(ctx, card, groups, changes)
    return {
        "branch_id": card.id,
        "groups": len(groups),
        "inserted": len(plan.inserts),
        "updated": len(plan.updates) + len(plan.endings),
        "deleted": len(plan.deletes),
        "left_out": len(plan.left_out),
        "files": files,
    }


def _refuse_unfinished(comparison: Comparison, plan: MergePlan) -> None:
    remade = all(change.why == "remade" for change in plan.undecided)
    conflicting = errors.remade if remade else errors.conflicting
    for changes, refuse in ((plan.undecided, conflicting), (plan.needs, errors.needs_groups)):
        if changes:
            places = {change.place for change in changes}
            ids = [
                group.id
                for group in comparison.groups.values()
                if any(change.place in places for change in group.changes)
            ]
            counted = () if refuse is errors.needs_groups else (len(ids),)
            raise refuse(ids[0], *counted, ids[:1000])


def _refuse_removed(groups: list[Group], on_conflict: str) -> None:
    """Refuse to take what the branch says of a document that is gone here: what stood on it is not a change of the branch."""
    if on_conflict != "take_theirs":
        return
    removed = [
        group.id
        for group in groups
        if group.about == PAGE and any(change.why == "deleted_here" for change in group.changes)
    ]
    if removed:
        raise errors.removed_here(removed[0], removed[:1000])


def _note_settled(
    ctx: ActionContext,
    card: packages.BranchCard,
    groups: list[Group],
    source: sqlite3.Connection,
    toward: Toward,
) -> None:
    """Remember for each group, and for each row that may leave it, as of which step of either side it was merged; undone with
    the merge itself.
    """
    head = merging.head(source)
    seqs = (ctx.audit_seq, head.seq) if toward == "project" else (head.seq, ctx.audit_seq)
    columns = (
        "id",
        "branch_id",
        "group_id",
        "document_id",
        "merged_into",
        "project_seq",
        "branch_seq",
        "other_digest",
        "created_at",
    )
    ctx.bulk_insert(
        SettledPart.table,
        columns,
        [(new_id(), card.id, *part, toward, *seqs, head.row_hash, ctx.now) for part in parts_of(groups)],
    )


def _retire_choices(ctx: ActionContext, card: packages.BranchCard, plan: MergePlan) -> None:
    """Let the corrections that people made of what a former merge of this branch preferred count in its place."""
    corrected = set()
    for table, values in plan.inserts.values():
        at = merging.places(table)
        if CORRECTS in at and values[at["provenance_kind"]] == "human":
            corrected.add(values[at[CORRECTS]])
    settled = SettledPart.table
    merged_at = ctx.conn.execute(
        select(settled.c.created_at).where(settled.c.branch_id == card.id).distinct()
    ).scalars()
    retire_choices(ctx, corrected - {None}, list(merged_at))


def _prefer(ctx: ActionContext, source: Connection, plan: MergePlan) -> None:
    """Let count what counts in the *source* on the lines where its readings or choices were taken although others stand there."""
    lines_by_kind: dict[str, set[str]] = {}
    for change in plan.preferred:
        row = {} if change.theirs is None else merging.named_values(change.table, change.theirs)
        if row.get("segment_id") is not None and "kind" in row:
            lines_by_kind.setdefault(row["kind"], set()).add(row["segment_id"])
    for kind, lines in sorted(lines_by_kind.items()):
        counting = counting_of_segments(source, sorted(lines), reading_rule(source), kind)
        for line, counted in counting.items():
            # One that was retracted here or not taken, or is of a line that was deleted, cannot count.
            with suppress(Conflict, Invalid, NotFound):
                ctx.run(
                    "reading.choose",
                    {"segment_id": line, "kind": kind, "representation_id": counted.representation_id},
                )


def _tell(
    ctx: ActionContext, card: packages.BranchCard, groups: list[Group], changes: list[merging.Change]
) -> None:
    pages = pages_of(groups)
    ctx.target(card.id, *pages)
    ctx.note_changes(document_ids=pages, segment_ids=sorted(map(str, lines_in(changes))))
