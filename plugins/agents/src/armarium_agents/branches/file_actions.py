"""A branch as one file: written for a colleague, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from armarium.api import (
    ActionContext,
    Conductor,
    Engine,
    Library,
    Outcome,
    Route,
    action,
    branch_files,
    exchange,
)
from armarium.api import branches as packages
from armarium_agents.branches import errors
from armarium_agents.branches.making import (
    refuse_making,
    release_package,
    row_of,
)
from armarium_agents.branches.queries import BRANCHES, refuse_partial, refuse_untold, require_open
from armarium_agents.branches.records import (
    Branch,
    Pack,
    Packed,
    Take,
    branches,
)


def _branch_meant(
    engine: Engine, library: Library, conn: Connection, branch_id: str | None
) -> tuple[Library, packages.BranchCard]:
    """Return the branch that a project names, or that *library* is."""
    if branch_id is not None:
        refuse_untold(conn, library, branch_id)
        return require_open(conn, engine, library, branch_id)
    card = packages.card_of(library)
    if card is None:
        raise errors.not_a_branch(library.name)
    return library, card


@action(
    "branches.pack",
    result=Packed,
    summary="Write a branch as one file, for a colleague without a network.",
    route=Route("POST", "/api/branches/pack", refusals=(403, 404, 409, 422)),
    words="Wrote a branch to a file",
    undoable=False,
)
def pack(ctx: ActionContext, p: Pack) -> dict[str, Any]:
    """Raises NotFound, Conflict where the file exists, Unavailable when the disk refuses."""
    branch, card = _branch_meant(ctx.engine, ctx.project, ctx.conn, p.branch_id)
    refuse_partial(ctx.principal, ctx.project, branch)
    if p.path.real.suffix != ".zip":
        raise errors.not_a_zip(p.path.real.name)
    ctx.target(card.id)
    made_for = branch.owner_name
    if p.branch_id is not None:
        made_for = BRANCHES.require(ctx.conn, card.id)["made_for"]
    size = branch_files.pack(branch, card, p.path.real, p.pictures, made_for)
    return {"path": str(p.path.real), "bytes": size}


def _unpack(conductor: Conductor, p: Take) -> Outcome:
    assert conductor.library is not None
    refuse_making(conductor.library)
    refuse_partial(conductor.principal, conductor.library)
    with branch_files.unpack_branch(conductor.engine, conductor.library, p.path.real) as unpacked:
        params = p.model_copy()
        params._taken = unpacked
        return conductor.step(params)


@action(
    "branches.take",
    result=Branch,
    summary="Take back a branch from the file in which a colleague worked on it.",
    route=Route("POST", "/api/branches/take", refusals=(403, 404, 409, 422)),
    words="Took a branch from a file",
    undoable=False,
    conduct=_unpack,
)
def take(ctx: ActionContext, p: Take) -> dict[str, Any]:
    """Replaces the package of the branch where that holds nothing more. Raises Invalid for what is not a branch, Conflict for
    another project's, one changed by hand, and one that was worked on here too.
    """
    if p._taken is None:
        with branch_files.unpack_branch(ctx.engine, ctx.project, p.path.real) as unpacked:
            return _put(ctx, *unpacked)
    return _put(ctx, *p._taken)


def _put(ctx: ActionContext, temporary: Path, card: packages.BranchCard) -> dict[str, Any]:
    row = ctx.conn.execute(branches.select().where(branches.c.id == card.id)).first()
    name = row.name if row is not None else f"Branch {card.id[-8:]}"
    place = packages.place_of_branch(ctx.project.path, name, card.id)
    relative = row.place if row is not None else str(place.relative_to(ctx.project.path.parent))
    package = packages.find_package(ctx.project.path, relative, card.id)
    if package is None:
        packages.keep(temporary, place)
    else:
        here = ctx.engine.libraries.open_only(package)
        if busy := ctx.engine.jobs.holding(here):
            raise errors.busy_branch(here.name, "; ".join(busy))
        branch_files.refuse_diverged(here, temporary)
        release_package(ctx.engine, package)
        # In a project that was renamed it comes to lie in the folder of that name, with those made since.
        place = package if package.parent == place.parent else place
        # What lay there is removed with the temporary folder; at no moment is there none, where the disk can do that.
        if place != package or not exchange(temporary, package):
            package.rename(temporary.with_suffix(".old"))
            packages.keep(temporary, place)
            temporary.with_suffix(".old").rename(temporary)
    relative = str(place.relative_to(ctx.project.path.parent))
    ctx.target(card.id)
    # What a colleague sends back waits to be looked through, as what an agent proposes does.
    file_fields = {"place": relative, "proposed_at": ctx.now}
    if row is not None:
        ctx.conn.execute(branches.update().where(branches.c.id == card.id).values(**file_fields))
        return {**BRANCHES.require(ctx.conn, card.id), "library_path": str(place)}
    branch = BRANCHES.insert(ctx.conn, row_of(ctx, card, name, None, relative) | file_fields)
    return {**branch, "library_path": str(place)}
