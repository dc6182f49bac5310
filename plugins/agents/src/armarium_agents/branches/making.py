"""What the writes of branches share: checks before the writer is taken, the row of a branch, its removal, examples."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from armarium.api import ActionContext, Engine, Library, Principal
from armarium.api import branches as packages
from armarium_agents.branches import errors
from armarium_agents.branches.groups import Comparison, Group
from armarium_agents.branches.queries import require_open
from armarium_agents.branches.records import BranchId


def refuse_making(project: Library) -> None:
    """Raise Conflict for a branch of a branch."""
    if project.is_branch:
        raise errors.is_a_branch(project.name)


def seen_by(engine: Engine, principal: Principal, token_id: str | None) -> Principal:
    """Return whose view of the project a branch holds: that of the token it is for, unless its maker sees less."""
    if token_id is None or not principal.may("owner"):
        return principal
    entry = engine.auth.book.by_id(token_id)
    if entry is None:
        raise errors.unknown_token(token_id)
    return entry.principal(None, None, "tcp")


def whose(principal: Principal, for_token: str | None) -> str | None:
    """Return the token that a branch is for: an agent works on its own, and who is not an owner is told of theirs."""
    own = principal.device_id or principal.token_id
    return (
        own
        if principal.token_kind == "agent" or (for_token is None and not principal.may("owner"))
        else for_token
    )


def row_of(
    ctx: ActionContext,
    card: packages.BranchCard,
    name: str,
    made_for: str | None,
    place: str,
    for_token: str | None = None,
    scope: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "id": card.id,
        "name": name,
        "made_for": made_for,
        "for_token": for_token,
        "scope": scope,
        "summary": None,
        "place": place,
        "base_seq": card.base_seq,
        "base_digest": card.base_digest,
        "proposed_at": None,
        **ctx.provenance(),
    }


def look_at_branch(engine: Engine, library: Library | None, p: BranchId) -> None:
    """Open the branch and check its log before the writer is taken."""
    assert library is not None
    with library.db.read() as conn:
        branch, card = require_open(conn, engine, library, p.branch_id)
    packages.refuse_tampered(branch, card)


def chosen_groups(comparison: Comparison, group_ids: list[str] | None) -> list[Group]:
    if group_ids is None:
        return list(comparison.groups.values())
    unknown = [group_id for group_id in dict.fromkeys(group_ids) if group_id not in comparison.groups]
    if unknown:
        raise errors.unknown_groups(unknown[:20])
    return [comparison.groups[group_id] for group_id in dict.fromkeys(group_ids)]


def pages_of(groups: list[Group]) -> list[str]:
    """Return the pages that *groups* are about."""
    return list(dict.fromkeys(group.document_id for group in groups if group.document_id is not None))


def release_package(engine: Engine, place: Path) -> None:
    """Close the branch at *place* where it is open."""
    opened = engine.libraries.open_at(str(place))
    if opened is not None:
        engine.jobs.detach(opened)
        engine.libraries.release(place)


def remove_package(engine: Engine, place: Path) -> None:
    """Close the branch at *place* and remove its package."""
    release_package(engine, place)
    shutil.rmtree(place, ignore_errors=True)
