"""Reads of branches: which there are, one with what was turned down, and what one changed, page by page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, Table, select

from armarium.api import (
    Engine,
    Library,
    Principal,
    caller,
    is_among,
    merging,
    query,
    raw_of,
    rules_of,
    steps_of,
)
from armarium.api import branches as packages
from armarium_agents.branches import errors
from armarium_agents.branches.groups import Group, Toward, comparison_of, lines_in
from armarium_agents.branches.records import (
    Branch,
    BranchChanges,
    BranchDetails,
    Branches,
    Kind,
    RejectedPart,
    SettledPart,
    Status,
    branches,
)
from armarium_documents.api import documents

BRANCHES, REJECTED = Branch.rows, RejectedPart.rows
MOST_ROWS = 200
"""How many rows of a group are shown; all are counted."""
NEWEST_STEPS = 20
CORRECTS = "corrects_representation_id"

Makers = Callable[[tuple[int, ...]], list[dict[str, Any]]]


def project_of(engine: Engine, branch: Library) -> tuple[Library, packages.BranchCard]:
    card = packages.card_of(branch)
    if card is None:
        raise errors.not_a_branch(branch.name)
    registered_paths = [
        entry["path"]
        for entry in engine.libraries.list_registered()
        if entry["library_uuid"] == card.project_uuid
    ]
    for place in (packages.project_beside(branch.path), *registered_paths):
        if Path(place).is_dir():
            project = engine.libraries.open_only(place)
            if project.uuid == card.project_uuid:
                return project, card
    raise errors.no_project()


@contextmanager
def _project(conn: Connection, engine: Engine, library: Library) -> Iterator[tuple[Connection, Library]]:
    """Lend the project whose branches are meant: *library*, or where that is a branch itself, its project."""
    if not library.is_branch:
        yield conn, library
        return
    project, _ = project_of(engine, library)
    with project.db.read() as project_conn:
        yield project_conn, project


@query("/api/branches", summary="The branches of a project", answer=Branches, refusals=())
def list_branches(conn: Connection, engine: Engine, library: Library) -> dict[str, Any]:
    """Return the oldest first, each with the path of its package. In a branch, those of its project."""
    with _project(conn, engine, library) as (of, project):
        return _list(of, project)


def _list(conn: Connection, library: Library) -> dict[str, Any]:
    page = BRANCHES.list_all(conn, order=(branches.c.created_at, branches.c.id))
    places = {row.id: row.place for row in conn.execute(select(branches.c.id, branches.c.place))}
    reviewed = _find_reviewed(conn)
    for item in page["items"]:
        item["library_path"] = _path_of(library, places[item["id"]], item["id"])
        item["reviewed"] = item["id"] in reviewed
    items = [branch for item in page["items"] if (branch := _tell_of(conn, library, item)) is not None]
    return {**page, "items": items, "count": len(items)}


def _tell_of(conn: Connection, library: Library, branch: dict[str, Any]) -> dict[str, Any] | None:
    """Return what whoever is asking is told of *branch*. What people call it and say of it may tell of what is withheld:
    where something is, it is not shown to anybody but the token that it is for. Nor is it to viewers, who are shown what was
    accepted. An editor who sees everything may look through it; an agent is told of the branches of others that they are there.
    """
    asks = caller()
    if asks is None or asks.principal.may("owner"):
        return branch
    principal, visibility = asks.principal, library.db.visibility
    limited = visibility is not None and visibility.limits(principal)
    if branch["for_token"] in principal.reader_ids:
        visible_ids = set(
            conn.execute(
                select(documents.c.id).where(is_among(documents.c.id, branch["scope"] or ()))
            ).scalars()
        )
        return {
            **branch,
            "scope": branch["scope"]
            and [document_id for document_id in branch["scope"] if document_id in visible_ids],
        }
    if limited or not principal.may("editor"):
        return None
    if principal.kind == "person":
        return branch
    untold = dict.fromkeys(("made_for", "for_token", "scope", "summary", "library_path"))
    return {**branch, **untold, "name": f"Branch {branch['id'][-8:]}"}


def _find_reviewed(conn: Connection) -> set[str]:
    """Return the branches of which something was merged or turned down."""
    return {
        branch_id
        for part in (SettledPart.table, RejectedPart.table)
        for branch_id in conn.execute(select(part.c.branch_id).distinct()).scalars()
    }


def _path_of(library: Library, place: str, branch_id: str) -> str | None:
    package = packages.find_package(library.path, place, branch_id)
    return None if package is None else str(package)


@query("/api/branches/{branch_id}", summary="A branch, and what of it was turned down", answer=BranchDetails)
def read_branch(conn: Connection, engine: Engine, library: Library, branch_id: str) -> dict[str, Any]:
    """Return it with the reasons for which changes were turned down. A branch may ask for itself."""
    with _project(conn, engine, library) as (of, project):
        return show_branch(of, project, branch_id)


def show_branch(conn: Connection, library: Library, branch_id: str) -> dict[str, Any]:
    """Return a branch as it is answered."""
    row = BRANCHES.row(conn, branch_id)
    turned_down = REJECTED.all(
        conn,
        RejectedPart.table.c.branch_id == branch_id,
        order=(RejectedPart.table.c.created_at, RejectedPart.table.c.id),
    )
    branch = {
        **BRANCHES.require(conn, branch_id),
        "library_path": _path_of(library, row.place, branch_id),
        "reviewed": branch_id in _find_reviewed(conn),
        "rejected": turned_down,
    }
    view = _tell_of(conn, library, branch)
    if view is None:
        raise errors.unknown_branch(branch_id)
    return view


@query(
    "/api/branches/{branch_id}/changes",
    summary="What a branch changed, page by page, beside what the project has now",
    answer=BranchChanges,
    refusals=(404, 409),
    name="list_branch_changes",
    counts_withheld=False,
)
def list_changes(
    conn: Connection,
    engine: Engine,
    library: Library,
    principal: Principal,
    branch_id: str,
    incoming: Annotated[
        bool, Query(description="What the project changed since, to be brought into the branch")
    ] = False,
    status: Status | None = None,
    kind: Kind | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> dict[str, Any]:
    """Return the net changes since both sides last agreed; what they did and took back is not a change. A branch may ask for
    its own.
    """
    with _project(conn, engine, library) as (of, project):
        return _changes(of, engine, project, principal, branch_id, incoming, status, kind, limit, offset)


def _changes(
    conn: Connection,
    engine: Engine,
    library: Library,
    principal: Principal,
    branch_id: str,
    incoming: bool,
    status: Status | None,
    kind: Kind | None,
    limit: int,
    offset: int,
) -> dict[str, Any]:
    refuse_untold(conn, library, branch_id)
    branch, card = require_open(conn, engine, library, branch_id)
    refuse_partial(principal, library, branch)
    toward: Toward = "branch" if incoming else "project"
    if incoming and card.partial:
        raise errors.partial_branch(branch.name)
    comparison = comparison_of(library, branch, card, toward)
    chosen = [
        group
        for group in comparison.groups.values()
        if (status is None or group.status == status) and (kind is None or group.kind == kind)
    ]
    groups = chosen[offset : offset + limit]
    with branch.db.read_all() as branch_conn:
        sides = (raw_of(conn), raw_of(branch_conn)) if incoming else (raw_of(branch_conn), raw_of(conn))
        names = _names(groups, conn, branch_conn)
        # Many rows were made by the same steps: each is looked up once.
        makers = cache(partial(_makers, sides[0]))
        corrected = _corrected_texts(groups, sides[0])
        target = merging.Side(sides[1], comparison.target_since)
        items = [_group(group, names, corrected, makers, target) for group in groups]
    of_all = [group.status for group in comparison.groups.values()]
    return {
        "items": items,
        "count": len(items),
        "total": len(chosen),
        "limit": limit,
        "offset": offset,
        "pages": len({group.document_id for group in comparison.groups.values()} - {None}),
        "lines": len(lines_in(comparison.changes)),
        "kinds": dict(Counter(group.kind for group in comparison.groups.values())),
        **{name: of_all.count(name) for name in ("clean", "same", "conflict")},
    }


def require_open(
    conn: Connection, engine: Engine, library: Library, branch_id: str
) -> tuple[Library, packages.BranchCard]:
    """Return the branch, opened, with its card; raises NotFound, and Conflict where it is another project's."""
    return packages.open_branch(engine, library, BRANCHES.row(conn, branch_id).place, branch_id)


def refuse_untold(conn: Connection, library: Library, branch_id: str) -> None:
    """Raise NotFound where whoever is asking is not told what the branch brings."""
    about = BRANCHES.require(conn, branch_id)
    view = _tell_of(conn, library, dict(about))
    if view is None or view["name"] != about["name"]:
        raise errors.unknown_branch(branch_id)


def refuse_partial(principal: Principal, *sides: Library) -> None:
    """Raise Forbidden where something on one of *sides* is withheld from *principal*: a change could tell of it."""
    for side in sides:
        if side.db.visibility is not None and side.db.visibility.limits(principal):
            raise errors.withheld_here(principal.name, "look through the branch")


def _names(groups: list[Group], *sides: Connection) -> dict[str, str]:
    ids = [group.document_id for group in groups if group.document_id is not None]
    names: dict[str, str] = {}
    for side in reversed(sides):
        statement = select(documents.c.id, documents.c.name).where(is_among(documents.c.id, ids))
        names |= {row.id: row.name for row in side.execute(statement)}
    return names


def _group(
    group: Group, names: dict[str, str], corrected: dict[Any, Any], makers: Makers, target: merging.Side
) -> dict[str, Any]:
    return {
        "id": group.id,
        "kind": group.kind,
        "document_id": group.document_id,
        "document_name": names.get(group.document_id or ""),
        "status": group.status,
        "row_count": len(group.changes),
        "rows": [_row(change, group, corrected, makers, target) for change in group.changes[:MOST_ROWS]],
    }


def _row(
    change: merging.Change,
    group: Group,
    corrected: dict[Any, Any],
    makers: Makers,
    target: merging.Side,
) -> dict[str, Any]:
    base, theirs, ours = (_named_row(change, row) for row in (change.base, change.theirs, change.ours))
    any_of = theirs or base or {}
    beside = ours
    if change.rivals and ours is None:
        beside = _rival_values(target.raw, change)
    places = list(change.changed_columns) or list(any_of)
    segment_id = any_of.get("segment_id")
    before, there, here = base or {}, theirs or {}, beside or {}
    choosing = rules_of(change.table).choice
    chosen = {choosing.of} if choosing is not None and change.status == "conflict" else set()
    values = [
        {
            "column": name,
            "base": before.get(name),
            "theirs": there.get(name),
            "ours": here.get(name),
            "conflict": name in change.conflicting | chosen,
        }
        for name in places
    ]
    ours_by: list[dict[str, Any]] = []
    for table, key in (change.rivals or [(change.table, change.key)]) if change.status != "clean" else ():
        ours_by += _makers(target.raw, steps_of(target.raw, table, key, target.since))
    return {
        "table": change.table.name,
        "label": rules_of(change.table).label or change.table.name,
        "id": ":".join(map(str, change.key)),
        "change": "insert" if change.base is None else "delete" if change.theirs is None else "update",
        "status": change.status,
        "why": change.why if change.status == "conflict" else None,
        "segment_id": None if segment_id is None else str(segment_id),
        "values": values,
        "words": _words(theirs, base, corrected) if group.kind == "readings" else None,
        "theirs_by": makers(change.steps[-NEWEST_STEPS:]),
        "ours_by": ours_by,
    }


def _named_row(change: merging.Change, row: tuple[Any, ...] | None) -> dict[str, Any] | None:
    return None if row is None else merging.named_values(change.table, row)


def _rival_values(raw: sqlite3.Connection, change: merging.Change) -> dict[str, Any] | None:
    """Return what stands in the place of what is new: the first row beside it, or what that chose, or that it was made."""
    table, key = change.rivals[0]
    chosen, choosing = rules_of(table).choice, rules_of(change.table).choice
    if table is not change.table and choosing is not None:
        return {choosing.of: key[0]}
    row = merging.live_rows(raw, table, [key]).get(key)
    if row is not None and table is not change.table and chosen is not None:
        key = (row[merging.places(table)[chosen.of]],)
        row = merging.live_rows(raw, change.table, [key]).get(key)
    return _named_row(change, row)


def _makers(raw: sqlite3.Connection, steps: Sequence[int]) -> list[dict[str, Any]]:
    """Return who made the newest of *steps* that is in effect, by the log of that side."""
    return merging.makers_of(raw, steps[-NEWEST_STEPS:])


def _corrected_texts(groups: list[Group], source: sqlite3.Connection) -> dict[Any, Any]:
    """Return the texts of the readings that those among the shown rows of *groups* correct, by their ids."""
    corrected: dict[Table, set[Any]] = {}
    for group in groups:
        for change in group.changes[:MOST_ROWS]:
            if CORRECTS in change.table.columns and change.theirs is not None:
                at = change.table.columns.keys().index(CORRECTS)
                corrected.setdefault(change.table, set()).add(change.theirs[at])
    texts: dict[Any, Any] = {}
    for table, ids in corrected.items():
        at = table.columns.keys().index("content")
        rows = merging.live_rows(source, table, [(identity,) for identity in ids - {None}])
        texts |= {key[0]: row[at] for key, row in rows.items()}
    return texts


def _words(
    theirs: dict[str, Any] | None, base: dict[str, Any] | None, corrected: dict[Any, Any]
) -> list[dict[str, str]] | None:
    """Return the new text word by word, beside the one that it replaces: its own former, or that of what it corrects."""
    new = (theirs or {}).get("content")
    if theirs is None or not isinstance(new, str):
        return None
    old = corrected.get(theirs.get(CORRECTS)) if base is None else base.get("content")
    return compare_words(str(old or ""), new)


def compare_words(old: str, new: str) -> list[dict[str, str]]:
    """Return what stayed, went and came, from *old* to *new*, in runs of words."""
    left, right = old.split(), new.split()
    runs: list[dict[str, str]] = []
    for tag, left_start, left_end, right_start, right_end in SequenceMatcher(
        None, left, right, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            runs.append({"change": "same", "text": " ".join(left[left_start:left_end])})
            continue
        if left_end > left_start:
            runs.append({"change": "removed", "text": " ".join(left[left_start:left_end])})
        if right_end > right_start:
            runs.append({"change": "added", "text": " ".join(right[right_start:right_end])})
    return runs
