"""The writes of branches: make one, propose it, merge it or turn parts of it down, bring the project's later work in."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from armarium.api import (
    ActionContext,
    Conductor,
    Conflict,
    Engine,
    Example,
    Invalid,
    Library,
    MergePlan,
    NotFound,
    Outcome,
    Route,
    RowRule,
    action,
    merging,
    new_id,
    plan_merge,
    raw_of,
    write_merge,
)
from armarium.api import branches as packages
from armarium_agents.branches import errors
from armarium_agents.branches.groups import Comparison, Group, Toward, compare, lines_in
from armarium_agents.branches.queries import BRANCHES, read_branch, refuse_partial, require_open
from armarium_agents.branches.records import (
    Branch,
    BranchCreate,
    BranchDeleted,
    BranchDetails,
    BranchId,
    BringIn,
    Merge,
    Merged,
    Propose,
    Reject,
    Rejected,
    RejectedGroups,
    Settled,
    Update,
    branches,
)


def _make(conductor: Conductor, p: BranchCreate) -> Outcome:
    """Copy the project before the writer is taken, so that nobody waits for the copy."""
    assert conductor.library is not None
    project, principal = conductor.library, conductor.principal
    _refuse_making(project, principal)
    branch_id = new_id()
    with packages.copied(conductor.engine, project, p.name, branch_id, principal) as temporary:
        copied = p.model_copy()
        copied._copied = (branch_id, temporary)
        return conductor.step(copied)


def _refuse_making(project: Library, principal: Any) -> None:
    if project.is_branch:
        raise errors.is_a_branch(project.name)
    if project.db.visibility is not None and project.db.visibility.limits(principal):
        raise errors.withheld_here(principal.name, "make the branch")


@action(
    "branches.create",
    params=BranchCreate,
    result=Branch,
    summary="Make a branch: a copy of the project in which to propose changes; its undo leaves the package.",
    route=Route("POST", "/api/branches"),
    words="Made a branch",
    conduct=_make,
    example=lambda ex: {"name": "Corrections", "made_for": "the agent"},
)
def create(ctx: ActionContext, p: BranchCreate) -> dict[str, Any]:
    """Raises Conflict for a branch of a branch, Forbidden where something is withheld from the caller, Unavailable."""
    if p._copied is None:
        _refuse_making(ctx.project, ctx.principal)
        branch_id = new_id()
        with packages.copied(ctx.engine, ctx.project, p.name, branch_id, ctx.principal) as temporary:
            return _keep(ctx, p, branch_id, temporary)
    return _keep(ctx, p, *p._copied)


def _keep(ctx: ActionContext, p: BranchCreate, branch_id: str, temporary: Path) -> dict[str, Any]:
    card = packages.BranchCard(**packages.read_card(temporary)["branch"])
    place = packages.place_of_branch(ctx.project.path, p.name, branch_id)
    packages.keep(temporary, place)
    ctx.target(branch_id)
    row = {
        "id": branch_id,
        **p.model_dump(),
        "summary": None,
        "place": str(place.relative_to(ctx.project.path.parent)),
        "base_seq": card.base_seq,
        "base_audit_id": card.base_id,
        "base_digest": card.base_digest,
        "proposed_at": None,
        **ctx.provenance(),
    }
    return {**BRANCHES.insert(ctx.conn, row), "path": str(place)}


def _made(ex: Example) -> str:
    return str(ex.run("branches.create", {"name": "Corrections"})["id"])


def _changed(ex: Example) -> str:
    """Return a branch with a change in it."""
    assert ex.library is not None
    made = ex.run("branches.create", {"name": "Corrections"})
    branch = ex.engine.libraries.open_only(made["path"])
    ex.engine.run(branch, "document.create", {"name": "Found", "doc_type": "page"}, ex.principal)
    return str(made["id"])


@action(
    "branches.propose",
    params=Propose,
    result=BranchDetails,
    summary="Propose a finished branch: say what it brings, for whoever reviews it.",
    route=Route("POST", "/api/branches/{branch_id}/propose"),
    words="Proposed a branch",
    example=lambda ex: {"branch_id": _made(ex), "summary": "12 pages corrected"},
)
def propose(ctx: ActionContext, p: Propose) -> dict[str, Any]:
    """Raises NotFound."""
    BRANCHES.require(ctx.conn, p.branch_id)
    ctx.conn.execute(
        branches.update().where(branches.c.id == p.branch_id).values(summary=p.summary, proposed_at=ctx.now)
    )
    ctx.target(p.branch_id)
    return read_branch(ctx.conn, ctx.project, p.branch_id)


def _look_at_branch(engine: Engine, library: Library | None, p: BranchId) -> None:
    """Open the branch and check its log before the writer is taken."""
    assert library is not None
    with library.db.read() as conn:
        branch, card = require_open(conn, engine, library, p.branch_id)
    packages.refuse_tampered(branch, card)


_PERSON_MERGES: RowRule[BringIn] = RowRule(
    Settled.table.name,
    "person",
    when=lambda before, after: (after or before or {}).get("merged_into") == "project",
)
"""Whatever writes into the project what a branch proposes, or takes it back, is a person's."""


@action(
    "branches.merge",
    params=Merge,
    result=Merged,
    summary="Take changes of a branch into the project, in one step that is undone as one.",
    route=Route("POST", "/api/branches/{branch_id}/merge"),
    words="Merged a branch",
    person_only=True,
    rules=(_PERSON_MERGES,),
    prepare=_look_at_branch,
    example=lambda ex: {"branch_id": _changed(ex)},
)
def merge(ctx: ActionContext, p: Merge) -> dict[str, Any]:
    """All or nothing. Raises Conflict where both sides changed the same and nobody has decided, or something that was not
    chosen is needed; what a direct write would raise; NotFound, and Conflict for a branch that was changed by hand.
    """
    branch, card = require_open(ctx.conn, ctx.engine, ctx.project, p.branch_id)
    with branch.db.read_all() as there:
        return _bring_in(ctx, p, card, raw_of(there), branch, "project")


def _project_of(engine: Engine, branch: Library) -> tuple[Library, packages.BranchCard]:
    card = packages.card_of(branch)
    if card is None:
        raise errors.not_a_branch(branch.name)
    known = [
        one["path"] for one in engine.libraries.list_registered() if one["library_uuid"] == card.project_uuid
    ]
    for place in (packages.project_beside(branch.path), *known):
        if Path(place).is_dir():
            project = engine.libraries.open_only(place)
            if project.uuid == card.project_uuid:
                return project, card
    raise errors.no_project()


def _look_at_other_side(engine: Engine, library: Library | None, p: Update) -> None:
    assert library is not None
    if p.branch_id is not None:
        _look_at_branch(engine, library, BranchId(branch_id=p.branch_id))
    else:
        _project_of(engine, library)


@action(
    "branches.update",
    params=Update,
    result=Merged,
    summary="Bring the project's later work into this branch, in one step that is undone as one.",
    route=Route("POST", "/api/branches/update"),
    words="Brought the project's later work into the branch",
    rules=(_PERSON_MERGES,),
    prepare=_look_at_other_side,
    example=lambda ex: {"branch_id": _changed(ex)},
)
def update(ctx: ActionContext, p: Update) -> dict[str, Any]:
    """As branches.merge, the other way: the request names the branch as its project. In a project it takes the work of
    the branch that is named, as branches.merge does. Raises Conflict for a project where none is named.
    """
    if p.branch_id is not None:
        return merge.perform(ctx, Merge(branch_id=p.branch_id, **p.model_dump(exclude={"branch_id"})))  # type: ignore[no-any-return]
    project, card = _project_of(ctx.engine, ctx.project)
    with project.db.read_all() as there:
        return _bring_in(ctx, p, card, raw_of(there), project, "branch")


def _bring_in(
    ctx: ActionContext,
    p: BringIn,
    card: packages.BranchCard,
    source: sqlite3.Connection,
    from_: Library,
    toward: Toward,
) -> dict[str, Any]:
    refuse_partial(ctx.principal, ctx.project, from_)
    own = raw_of(ctx.conn)
    sides = (own, source) if toward == "project" else (source, own)
    comparison = compare(*sides, ctx.project, card, toward)
    groups = _chosen(comparison, p.groups)
    if not groups:
        raise errors.nothing_to_merge(from_.name)
    changes = [change for group in groups for change in group.changes]
    places = {change.place for change in changes}
    plan = plan_merge(ctx.schema, comparison.changes, places, p.on_conflict, own)
    _refuse_unfinished(comparison, plan)
    files = packages.take_files(from_.objects, ctx.project.objects, plan.files)
    write_merge(ctx, plan, source, {step for change in changes for step in change.steps})
    _note_settled(ctx, card, groups, source, toward)
    for change in plan.preferred:
        _prefer(ctx, change)
    _tell(ctx, card, groups, changes)
    return {
        "branch_id": card.id,
        "groups": len(groups),
        "inserted": len(plan.inserts),
        "updated": len(plan.updates),
        "deleted": len(plan.deletes),
        "left_out": len(plan.left_out),
        "files": files,
    }


def _chosen(comparison: Comparison, wanted: list[str] | None) -> list[Group]:
    if wanted is None:
        return list(comparison.groups.values())
    unknown = [one for one in dict.fromkeys(wanted) if one not in comparison.groups]
    if unknown:
        raise errors.unknown_groups(unknown[:20])
    return [comparison.groups[one] for one in dict.fromkeys(wanted)]


def _refuse_unfinished(comparison: Comparison, plan: MergePlan) -> None:
    for left, refuse in ((plan.undecided, _conflicting), (plan.needs, errors.needs_groups)):
        if left:
            places = {change.place for change in left}
            ids = [
                group.id
                for group in comparison.groups.values()
                if any(change.place in places for change in group.changes)
            ]
            raise refuse(ids[0], ids[:1000])


def _conflicting(first: str, ids: list[str]) -> Exception:
    return errors.conflicting(len(ids), first, ids)


def _note_settled(
    ctx: ActionContext,
    card: packages.BranchCard,
    groups: list[Group],
    source: sqlite3.Connection,
    toward: Toward,
) -> None:
    """Remember for each group as of which step of either side it was merged; undone with the merge itself."""
    head = merging.head(source)
    seqs = (ctx.audit_seq, head.seq) if toward == "project" else (head.seq, ctx.audit_seq)
    columns = (
        "id",
        "branch_id",
        "group_id",
        "merged_into",
        "project_seq",
        "branch_seq",
        "other_digest",
        "created_at",
    )
    ctx.bulk_insert(
        Settled.table,
        columns,
        [(new_id(), card.id, group.id, toward, *seqs, head.row_hash, ctx.now) for group in groups],
    )


def _prefer(ctx: ActionContext, change: merging.Change) -> None:
    """Let a reading count that was taken although another stands beside it."""
    if change.theirs is None:
        return
    row = merging.named_values(change.table, change.theirs)
    if row.get("segment_id") is not None and "content" in row:
        # One that was retracted, or is of a line that was deleted, cannot count.
        with suppress(Conflict, Invalid, NotFound):
            ctx.run(
                "reading.choose",
                {"segment_id": row["segment_id"], "kind": row["kind"], "representation_id": change.key[0]},
            )


def _tell(
    ctx: ActionContext, card: packages.BranchCard, groups: list[Group], changes: list[merging.Change]
) -> None:
    pages = {group.document_id: None for group in groups if group.document_id is not None}
    ctx.target(card.id, *pages)
    ctx.note_changes(document_ids=pages, segment_ids=sorted(map(str, lines_in(changes))))


@action(
    "branches.reject",
    params=Reject,
    result=RejectedGroups,
    summary="Turn down changes of a branch, with the reason; they are not offered again.",
    route=Route("POST", "/api/branches/{branch_id}/reject"),
    words="Turned down changes of a branch",
    person_only=True,
    prepare=_look_at_branch,
    example=lambda ex: _reject_example(ex),
)
def reject(ctx: ActionContext, p: Reject) -> dict[str, Any]:
    """What the branch changes there later is offered again. Raises NotFound, Invalid for an unknown group."""
    branch, card = require_open(ctx.conn, ctx.engine, ctx.project, p.branch_id)
    refuse_partial(ctx.principal, ctx.project, branch)
    with branch.db.read_all() as there:
        comparison = compare(raw_of(ctx.conn), raw_of(there), ctx.project, card, "project")
        head = merging.head(raw_of(there))
    for group in _chosen(comparison, p.groups):
        ctx.conn.execute(
            Rejected.table.insert().values(
                id=new_id(),
                branch_id=card.id,
                group_id=group.id,
                branch_seq=head.seq,
                reason=p.reason,
                **ctx.provenance(),
            )
        )
    ctx.target(card.id)
    return {"branch_id": card.id, "groups": len(set(p.groups))}


def _reject_example(ex: Example) -> dict[str, Any]:
    branch_id = _changed(ex)
    assert ex.library is not None
    with ex.library.db.read() as conn:
        branch, card = require_open(conn, ex.engine, ex.library, branch_id)
        with branch.db.read() as there:
            found = compare(raw_of(conn), raw_of(there), ex.library, card, "project")
    return {"branch_id": branch_id, "groups": list(found.groups), "reason": "It was there already"}


@action(
    "branches.delete",
    params=BranchId,
    result=BranchDeleted,
    summary="Delete a branch with its package; what was merged of it stays. This cannot be undone.",
    route=Route("DELETE", "/api/branches/{branch_id}"),
    words="Deleted a branch",
    person_only=True,
    undoable=False,
    example=lambda ex: {"branch_id": _made(ex)},
)
def delete(ctx: ActionContext, p: BranchId) -> dict[str, Any]:
    """Raises NotFound, Conflict while work goes on in it."""
    row = BRANCHES.row(ctx.conn, p.branch_id)
    place = packages.find_package(ctx.project.path, row.place, p.branch_id)
    engine = ctx.engine
    opened = None if place is None else engine.libraries.open_at(str(place))
    if opened is not None and (busy := engine.jobs.holding(opened)):
        raise errors.busy_branch(opened.name, "; ".join(busy))
    for table in (Settled.table, Rejected.table):
        ctx.conn.execute(table.delete().where(table.c.branch_id == p.branch_id))
    ctx.conn.execute(branches.delete().where(branches.c.id == p.branch_id))
    ctx.target(p.branch_id)
    if place is not None:
        ctx.on_commit(lambda: _remove(engine, place))
    return {"status": "deleted", "id": p.branch_id}


def _remove(engine: Engine, place: Path) -> None:
    opened = engine.libraries.open_at(str(place))
    if opened is not None:
        engine.jobs.detach(opened)
        engine.libraries.release(place)
    shutil.rmtree(place, ignore_errors=True)
