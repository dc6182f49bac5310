"""The writes of branches: make one, propose it, turn parts of it down, delete it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from armarium.api import (
    ActionContext,
    Conductor,
    Engine,
    Library,
    Outcome,
    Route,
    action,
    copy_project,
    merging,
    new_id,
    raw_of,
)
from armarium.api import branches as packages
from armarium_agents.branches import errors
from armarium_agents.branches.groups import compare, parts_of
from armarium_agents.branches.making import (
    chosen_groups,
    look_at_branch,
    pages_of,
    refuse_making,
    remove_package,
    row_of,
    seen_by,
    whose,
)
from armarium_agents.branches.queries import (
    BRANCHES,
    project_of,
    refuse_partial,
    refuse_untold,
    require_open,
    show_branch,
)
from armarium_agents.branches.records import (
    Branch,
    BranchCreate,
    BranchDeleted,
    BranchDetails,
    BranchId,
    Propose,
    Reject,
    RejectedGroups,
    RejectedPart,
    SettledPart,
    branches,
)
from armarium_documents.api import require_document

CREATE = "branches.create"


def _make(conductor: Conductor, p: BranchCreate) -> Outcome:
    """Copy the project before the writer is taken, so that nobody waits for the copy."""
    assert conductor.library is not None
    project, principal = conductor.library, conductor.principal
    refuse_making(project)
    branch_id = new_id()
    with copy_project(
        conductor.engine,
        project,
        p.name,
        branch_id,
        principal,
        seen_by(conductor.engine, principal, p.for_token),
        _folders(project, p),
        action_name=CREATE,
    ) as temporary:
        copied = p.model_copy()
        copied._copied = (branch_id, temporary)
        return conductor.step(copied)


def _folders(project: Library, p: BranchCreate) -> list[str]:
    """Return the folders that a branch is of; raises NotFound for one that is not there."""
    with project.db.read() as conn:
        for folder_id in p.scope or ():
            require_document(conn, folder_id)
    return list(p.scope or ())


@action(
    CREATE,
    result=Branch,
    summary="Make a branch: a copy of the project in which to propose changes; its undo leaves the package.",
    route=Route("POST", "/api/branches"),
    words="Made a branch",
    conduct=_make,
)
def create(ctx: ActionContext, p: BranchCreate) -> dict[str, Any]:
    """Raises Conflict for a branch of a branch, Unavailable where the disk refuses. A branch holds only what its maker may see, and the token it is for."""
    if p._copied is None:
        refuse_making(ctx.project)
        branch_id = new_id()
        with copy_project(
            ctx.engine,
            ctx.project,
            p.name,
            branch_id,
            ctx.principal,
            seen_by(ctx.engine, ctx.principal, p.for_token),
            _folders(ctx.project, p),
            action_name=CREATE,
        ) as temporary:
            return _keep(ctx, p, branch_id, temporary)
    return _keep(ctx, p, *p._copied)


def _keep(ctx: ActionContext, p: BranchCreate, branch_id: str, temporary: Path) -> dict[str, Any]:
    card = packages.BranchCard(**packages.read_card(temporary)["branch"])
    place = packages.place_of_branch(ctx.project.path, p.name, branch_id)
    packages.keep(temporary, place)
    ctx.target(branch_id)
    relative = str(place.relative_to(ctx.project.path.parent))
    return {
        **BRANCHES.insert(
            ctx.conn,
            row_of(ctx, card, p.name, p.made_for, relative, whose(ctx.principal, p.for_token), p.scope),
        ),
        "library_path": str(place),
    }


def _propose_in_project(conductor: Conductor, p: Propose) -> Outcome:
    """In a branch itself, write the proposal where those who review it look: in its project."""
    library = conductor.library
    if library is None or not library.is_branch:
        return conductor.step(p)
    project, card = project_of(conductor.engine, library)
    params = {"branch_id": p.branch_id or card.id, "summary": p.summary}
    return conductor.engine.run(project, "branches.propose", params, conductor.principal)


@action(
    "branches.propose",
    result=BranchDetails,
    summary="Propose a finished branch: say what it brings, for whoever reviews it.",
    route=Route("POST", "/api/branches/{branch_id}/propose"),
    words="Proposed a branch",
    conduct=_propose_in_project,
)
def propose(ctx: ActionContext, p: Propose) -> dict[str, Any]:
    """In a branch, `branch_id` may be left out. Raises NotFound, Invalid for a project where no branch is named."""
    if p.branch_id is None:
        raise errors.not_a_branch(ctx.project.name)
    refuse_untold(ctx.conn, ctx.project, p.branch_id)
    ctx.conn.execute(
        branches.update().where(branches.c.id == p.branch_id).values(summary=p.summary, proposed_at=ctx.now)
    )
    ctx.target(p.branch_id)
    return show_branch(ctx.conn, ctx.project, p.branch_id)


@action(
    "branches.reject",
    result=RejectedGroups,
    summary="Turn down changes of a branch, with the reason; they are not offered again.",
    route=Route("POST", "/api/branches/{branch_id}/reject"),
    words="Turned down changes of a branch",
    person_only=True,
    prepare=look_at_branch,
)
def reject(ctx: ActionContext, p: Reject) -> dict[str, Any]:
    """What the branch changes there later is offered again. Raises NotFound, Invalid for an unknown group."""
    branch, card = require_open(ctx.conn, ctx.engine, ctx.project, p.branch_id)
    refuse_partial(ctx.principal, ctx.project, branch)
    with branch.db.read_all() as branch_conn:
        comparison = compare(raw_of(ctx.conn), raw_of(branch_conn), ctx.project, card, "project")
        head = merging.head(raw_of(branch_conn))
    groups = chosen_groups(comparison, p.groups)
    provenance = ctx.provenance()
    chosen_ids = {group.id for group in groups}
    ctx.bulk_insert(
        RejectedPart.table,
        ("id", "branch_id", "group_id", "document_id", "branch_seq", "reason", *provenance),
        [
            (
                new_id(),
                card.id,
                part_id,
                page,
                head.seq,
                p.reason if part_id in chosen_ids else "",
                *provenance.values(),
            )
            for part_id, page in parts_of(groups)
        ],
    )
    ctx.target(card.id, *pages_of(groups))
    return {"branch_id": card.id, "groups": len(groups)}


def _is_untouched(engine: Engine, place: Path) -> bool:
    """Return whether nothing was done in the branch at *place* since it was made."""
    branch = engine.libraries.open_only(place)
    card = packages.card_of(branch)
    with branch.db.read_all() as conn:
        return card is not None and merging.head(raw_of(conn)).seq == card.begun_seq


@action(
    "branches.delete",
    result=BranchDeleted,
    summary="Delete a branch with its package; what was merged of it stays. This cannot be undone.",
    route=Route("DELETE", "/api/branches/{branch_id}"),
    words="Deleted a branch",
    undoable=False,
    spends=False,
)
def delete(ctx: ActionContext, p: BranchId) -> dict[str, Any]:
    """A machine deletes a branch of its own in which nothing was done. Raises NotFound, Forbidden, Conflict while work goes on
    in it.
    """
    row = BRANCHES.row(ctx.conn, p.branch_id)
    place = packages.find_package(ctx.project.path, row.place, p.branch_id)
    engine = ctx.engine
    if ctx.principal.kind != "person" and (
        place is None or row.for_token not in ctx.principal.reader_ids or not _is_untouched(engine, place)
    ):
        raise errors.person_deletes()
    opened = None if place is None else engine.libraries.open_at(str(place))
    if opened is not None and (busy := engine.jobs.holding(opened)):
        raise errors.busy_branch(opened.name, "; ".join(busy))
    for table in (SettledPart.table, RejectedPart.table):
        ctx.conn.execute(table.delete().where(table.c.branch_id == p.branch_id))
    ctx.conn.execute(branches.delete().where(branches.c.id == p.branch_id))
    ctx.target(p.branch_id)
    if place is not None:
        ctx.on_commit(lambda: remove_package(engine, place))
    return {"status": "deleted", "id": p.branch_id}
