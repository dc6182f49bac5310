"""What a branch changed, grouped by page and by kind: found anew from the rows whenever either side has changed since.

A group is merged or turned down as a whole. For each is remembered at which steps the two sides last agreed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from sqlalchemy import Table

from armarium.api import Belonging, Library, merging, offer_again, raw_of, rules_of
from armarium.api import branches as packages
from armarium_agents.branches.records import Kind, RejectedPart, SettledPart, Status

Place = tuple[str, tuple[object, ...]]
Toward = Literal["project", "branch"]

KINDS: Mapping[str, Kind] = {
    "representation": "readings",
    "revision": "readings",
    "choice of a reading": "readings",
    "kind of reading": "settings",
    "segment": "shapes",
    "pass": "shapes",
    "choice of the working pass": "shapes",
    "crop": "shapes",
    "control point": "shapes",
    "reading order": "orders",
    "order entry": "orders",
    "entity": "names",
    "mention": "names",
    "refused mention": "names",
    "match of entities": "names",
    "interpretation": "names",
    "statement": "statements",
    "entity of a statement": "statements",
    "evidence": "statements",
    "review of a prediction": "statements",
    "rendition": "files",
    "artifact": "files",
    "imported file": "files",
    "METS file": "files",
    "setting": "settings",
    "source setting": "settings",
}
"""The kind of a change by the word for a row; a family that is not named here is found under `metadata` or `other`."""

ROW = "row:"
"""What the id of a part begins with that is one row."""

PAGE: Literal["page"] = "page"
"""The group of a page's own row."""

IN_TREE = frozenset(
    {"parent_id", "name", "sort_order", "deleted_at", "deleted_by", "trash_root_id", "trash_info"}
)


@dataclass
class Group:
    """The changes on one page in one respect."""

    id: str
    about: Kind | Literal["page"]
    document_id: str | None
    changes: list[merging.Change] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """What the changes are about; those of a page itself are of the tree where it was made, moved, renamed or removed."""
        if self.about != PAGE:
            return self.about
        moved = any(
            change.base is None or change.theirs is None or not IN_TREE.isdisjoint(change.changed_columns)
            for change in self.changes
        )
        return "tree" if moved else "metadata"

    @property
    def status(self) -> Status:
        """Conflict where any change is one; same where both sides made all of them."""
        statuses = {change.status for change in self.changes}
        return "conflict" if "conflict" in statuses else "clean" if "clean" in statuses else "same"


@dataclass
class Comparison:
    """All changes of one side, in groups, page by page."""

    groups: dict[str, Group]
    changes: list[merging.Change]
    target_since: int
    """The step of the side merged into at which both parted."""


def compare(
    project: sqlite3.Connection,
    branch: sqlite3.Connection,
    library: Library,
    card: packages.BranchCard,
    toward: Toward,
) -> Comparison:
    """Return what is to be merged *toward* the project or the branch; *library* is the one merged into."""
    into_project = toward == "project"
    source, target = (branch, project) if into_project else (project, branch)
    begun = (card.begun_seq, card.base_seq) if into_project else (card.base_seq, card.begun_seq)
    parting = merging.Parting(
        merging.Side(source, begun[0]),
        merging.Side(target, begun[1]),
        _find_meetings(project, branch, card, toward),
    )
    turned_down = _turned_down(project, card.id) if into_project else {}
    belonging = Belonging(library.schema, (source, target))
    groups: dict[str, Group] = {}

    held_back: dict[str, list[merging.Change]] = {}

    def put(change: merging.Change, again: bool = False) -> None:
        about, document_id = _group_of(belonging, change)
        group_id = f"{about}:{document_id}" if document_id else about
        refused_at = -1
        if turned_down:
            refused_at = turned_down.get(row_id_of(change.table, change.key) or group_id, -1)
        if again or max(change.steps) > refused_at:
            groups.setdefault(group_id, Group(group_id, about, document_id)).changes.append(change)
        else:
            held_back.setdefault(group_id, []).append(change)

    for change in merging.find_changes(library.schema, parting, part_of):
        put(change)
    for group_id, group in groups.items():
        group.changes += _parts_of_new_rows(library, group.changes, held_back.get(group_id, []))
    if parting.meetings or turned_down:
        offered = [change for group in groups.values() for change in group.changes]
        for change in offer_again(library.schema, offered, parting):
            put(change, again=True)
    ordered = dict(sorted(groups.items(), key=lambda item: (item[1].document_id or "~", item[0])))
    changes = [change for group in ordered.values() for change in group.changes]
    merging.judge(library.schema, changes, parting)
    return Comparison(ordered, changes, begun[1])


def _parts_of_new_rows(
    library: Library, offered: Iterable[merging.Change], held_back: Iterable[merging.Change]
) -> list[merging.Change]:
    """Return which of the turned down changes *held_back* belong to rows among *offered* that are new to the target: what was
    changed after it was turned down is offered whole.
    """
    references = merging.references(library.schema)
    new_rows = {change.place for change in offered if change.ours is None and change.theirs is not None}
    waiting = {change.place: change for change in held_back if change.theirs is not None}
    parts: list[merging.Change] = []
    while found := [
        change
        for change in waiting.values()
        if change.theirs is not None
        and any(
            (parent.name, (change.theirs[at],)) in new_rows for _, at, parent in references[change.table.name]
        )
    ]:
        parts += found
        new_rows |= {waiting.pop(change.place).place for change in found}
    return parts


def _find_meetings(
    project: sqlite3.Connection, branch: sqlite3.Connection, card: packages.BranchCard, toward: Toward
) -> list[merging.Meeting]:
    """Return the former merges, either way, the earliest first."""
    merged_into: list[tuple[Toward, list[tuple[int, int, str]]]] = [
        ("project", _settled_parts(project, branch, card.id, "project")),
        ("branch", _settled_parts(branch, project, card.id, "branch")),
    ]
    parts: dict[tuple[int, int, Toward], set[str]] = {}
    for into, settled in merged_into:
        for project_seq, branch_seq, part in settled:
            parts.setdefault((project_seq, branch_seq, into), set()).add(part)
    return [
        merging.Meeting(
            into="target" if into == toward else "source",
            steps=(branch_seq, project_seq) if toward == "project" else (project_seq, branch_seq),
            parts=its,
        )
        for (project_seq, branch_seq, into), its in sorted(parts.items(), key=lambda item: item[0])
    ]


def _settled_parts(
    own: sqlite3.Connection, other: sqlite3.Connection, branch_id: str, into: Toward
) -> list[tuple[int, int, str]]:
    """Return what was merged into the side *own*; what its *other* side no longer knows of does not count."""
    column = "branch_seq" if into == "project" else "project_seq"
    return [
        (project_seq, branch_seq, group_id)
        for project_seq, branch_seq, group_id, seq, digest in own.execute(
            f"SELECT project_seq, branch_seq, group_id, {column}, other_digest FROM {SettledPart.table}"
            " WHERE branch_id = ?",
            (branch_id,),
        ).fetchall()
        if merging.digest_at(other, seq) == digest
    ]


def _turned_down(project: sqlite3.Connection, branch_id: str) -> dict[str, int]:
    """Return, for each group and `row_id_of` that was turned down, the step of the branch up to which it was."""
    return dict(
        project.execute(
            f"SELECT group_id, max(branch_seq) FROM {RejectedPart.table} WHERE branch_id = ? GROUP BY group_id",
            (branch_id,),
        ).fetchall()
    )


def row_id_of(table: Table, key: merging.Key) -> str | None:
    """Return under which id what was decided on a row is remembered by itself, or None where it is remembered with its group: a row
    that may belong to a page through other rows comes into another group when these change.
    """
    return f"{ROW}{table.name}:{','.join(map(str, key))}" if _may_change_page(table) else None


@cache
def _may_change_page(table: Table) -> bool:
    document = rules_of(table).document
    return document is None or bool(table.c[document].nullable)


def part_of(table: Table, key: merging.Key, row: merging.Values) -> str:
    """Return under which id what was decided on a row is remembered: its own or that of its group."""
    about, at = _about(table)
    return row_id_of(table, key) or f"{about or 'metadata'}:{row[at or 0]}"


def parts_of(groups: Iterable[Group]) -> list[tuple[str, str | None]]:
    """Return under which ids a decision on *groups* is remembered, each with its page: of the groups, and of each row that may
    leave its group.
    """
    parts: list[tuple[str, str | None]] = [(group.id, group.document_id) for group in groups]
    rows = [row_id_of(change.table, change.key) for group in groups for change in group.changes]
    return [*parts, *((row_id, None) for row_id in rows if row_id is not None)]


def _group_of(belonging: Belonging, change: merging.Change) -> tuple[Kind | Literal["page"], str | None]:
    """Return in which group a change is, as of now."""
    row = change.theirs or change.ours or change.base
    assert row is not None
    about, at = _about(change.table)
    if at is not None and row[at] is not None:
        document_id: str | None = str(row[at])
    else:
        document_id = belonging.document_of(
            change.table, dict(zip(merging.places(change.table), row, strict=True))
        )
    return about or ("metadata" if document_id else "other"), document_id


@cache
def _about(table: Table) -> tuple[Kind | Literal["page"] | None, int | None]:
    """Return what changes of rows of *table* are about, and the position of the column that names their page."""
    rules = rules_of(table)
    at = None if rules.document is None else merging.places(table)[rules.document]
    return PAGE if rules.tree is not None else KINDS.get(rules.label or ""), at


def comparison_of(project: Library, branch: Library, card: packages.BranchCard, toward: Toward) -> Comparison:
    """Return the comparison as of now."""
    library = project if toward == "project" else branch
    with project.db.read_all() as here, branch.db.read_all() as there:
        return held_comparison(raw_of(here), raw_of(there), library, card, toward)


def held_comparison(
    project: sqlite3.Connection,
    branch: sqlite3.Connection,
    library: Library,
    card: packages.BranchCard,
    toward: Toward,
) -> Comparison:
    """Return what `compare` does, worked out once for the steps that either side ends with."""
    key, state = f"agents_branch:{card.id}:{toward}", (merging.head(project), merging.head(branch))
    cached = library.held.get(key)
    if cached is None or cached[0] != state:
        cached = library.held[key] = (state, compare(project, branch, library, card, toward))
    return cached[1]


def lines_in(changes: Iterable[merging.Change]) -> set[object]:
    """Return the lines that *changes* are about."""
    lines: set[object] = set()
    by_table: dict[Table, list[merging.Change]] = {}
    for change in changes:
        by_table.setdefault(change.table, []).append(change)
    for table, its in by_table.items():
        if (at := merging.places(table).get("segment_id")) is not None:
            lines |= {row[at] for change in its if (row := change.theirs or change.base) is not None}
        elif rules_of(table).label == "segment":
            lines |= {change.key[0] for change in its}
    return lines - {None}
