"""What a branch changed, grouped by page and by kind: found anew from the rows whenever either side has changed since.

A group is merged or turned down as a whole. For each is remembered at which steps the two sides last agreed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Table

from armarium.api import Belonging, Library, merging, raw_of, rules_of
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

PAGE: Literal["page"] = "page"
"""The group of a page's own row."""

IN_TREE = frozenset(
    {"parent_id", "name", "sort_order", "deleted_at", "deleted_by", "trash_root_id", "trash_info"}
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Since when the changes of a group count."""

    source_since: int
    target_since: int
    base_in_source: bool = True


@dataclass
class Group:
    """The changes on one page in one respect."""

    id: str
    about: Kind | Literal["page"]
    document_id: str | None
    mark: Mark
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
        found = {change.status for change in self.changes}
        return "conflict" if "conflict" in found else "clean" if "clean" in found else "same"


@dataclass
class Comparison:
    """All changes of one side, in groups, page by page."""

    groups: dict[str, Group]
    changes: list[merging.Change]


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
    marks, default = _marks(project, branch, card, toward)
    turned_down = _turned_down(project, card.id) if into_project else {}
    belonging = Belonging(library.schema, (source, target))
    groups: dict[str, Group] = {}
    for mark in {default, *marks.values()}:
        sides = (merging.Side(source, mark.source_since), merging.Side(target, mark.target_since))
        for change in merging.find_changes(library.schema, *sides, base_in_source=mark.base_in_source):
            about, document_id = _group_of(belonging, change)
            group_id = f"{about}:{document_id}" if document_id else about
            if marks.get(group_id, default) != mark:
                continue
            if max(change.steps, default=0) <= turned_down.get(group_id, -1):
                continue
            groups.setdefault(group_id, Group(group_id, about, document_id, mark)).changes.append(change)
    ordered = dict(sorted(groups.items(), key=lambda one: (one[1].document_id or "~", one[0])))
    changes = [change for group in ordered.values() for change in group.changes]
    by_place = {change.place: change for change in changes}
    for mark in {group.mark for group in ordered.values()}:
        own = [change for group in ordered.values() if group.mark == mark for change in group.changes]
        sides = (merging.Side(source, mark.source_since), merging.Side(target, mark.target_since))
        merging.judge(library.schema, own, *sides, by_place)
    return Comparison(ordered, changes)


def _marks(
    project: sqlite3.Connection, branch: sqlite3.Connection, card: packages.BranchCard, toward: Toward
) -> tuple[dict[str, Mark], Mark]:
    """Return since when changes count: of each group that was merged before, and of all others."""
    settled = sorted(
        _settled_parts(project, branch, card.id, "project")
        + _settled_parts(branch, project, card.id, "branch")
    )
    newest: dict[str, tuple[int, int, str]] = {}
    given: dict[str, int] = {}
    for project_seq, branch_seq, group_id, merged_into in settled:
        newest[group_id] = (project_seq, branch_seq, merged_into)
        if merged_into == toward:
            given[group_id] = branch_seq if toward == "project" else project_seq
    begun = (card.begun_seq, card.base_seq) if toward == "project" else (card.base_seq, card.begun_seq)
    marks: dict[str, Mark] = {}
    for group_id, (project_seq, branch_seq, merged_into) in newest.items():
        since = (branch_seq, project_seq) if toward == "project" else (project_seq, branch_seq)
        if merged_into == toward:
            marks[group_id] = Mark(*since)
        else:
            marks[group_id] = Mark(given.get(group_id, begun[0]), since[1], base_in_source=False)
    return marks, Mark(*begun)


def _settled_parts(
    own: sqlite3.Connection, other: sqlite3.Connection, branch_id: str, into: Toward
) -> list[tuple[int, int, str, str]]:
    """Return what was merged into the side *own*; what its *other* side no longer knows of does not count."""
    found = []
    column = "branch_seq" if into == "project" else "project_seq"
    for project_seq, branch_seq, group_id, merged_into, seq, digest in own.execute(
        f"SELECT project_seq, branch_seq, group_id, merged_into, {column}, other_digest FROM {SettledPart.table}"
        " WHERE branch_id = ?",
        (branch_id,),
    ).fetchall():
        if merging.digest_at(other, seq) == digest:
            found.append((project_seq, branch_seq, group_id, merged_into))
    return found


def _turned_down(project: sqlite3.Connection, branch_id: str) -> dict[str, int]:
    """Return, for each group that was turned down, the step of the branch up to which it was."""
    return dict(
        project.execute(
            f"SELECT group_id, max(branch_seq) FROM {RejectedPart.table} WHERE branch_id = ? GROUP BY group_id",
            (branch_id,),
        ).fetchall()
    )


def _group_of(belonging: Belonging, change: merging.Change) -> tuple[Kind | Literal["page"], str | None]:
    """Return in which group a change is, by its row alone: a row is never in another one because of when it was changed."""
    row = change.theirs or change.ours or change.base
    assert row is not None
    rules, at = rules_of(change.table), merging.places(change.table)
    own = None if rules.document is None else row[at[rules.document]]
    document_id = (
        str(own) if own is not None else belonging.document_of(change.table, dict(zip(at, row, strict=True)))
    )
    if rules.tree is not None:
        return PAGE, document_id
    return KINDS.get(rules.label or "", "metadata" if document_id else "other"), document_id


def comparison_of(project: Library, branch: Library, card: packages.BranchCard, toward: Toward) -> Comparison:
    """Return the comparison, worked out once for the steps that either side ends with."""
    key = f"agents_branch:{card.id}:{toward}"
    target = project if toward == "project" else branch
    kept = target.held.get(key)
    with project.db.read_all() as here, branch.db.read_all() as there:
        sides = (raw_of(here), raw_of(there))
        state = tuple(map(merging.head, sides))
        if kept is None or kept[0] != state:
            kept = target.held[key] = (state, compare(*sides, target, card, toward))
    return kept[1]


def lines_in(changes: Iterable[merging.Change]) -> set[object]:
    """Return the lines that *changes* are about."""
    found: set[object] = set()
    by_table: dict[Table, list[merging.Change]] = {}
    for change in changes:
        by_table.setdefault(change.table, []).append(change)
    for table, its in by_table.items():
        if (at := merging.places(table).get("segment_id")) is not None:
            found |= {row[at] for one in its if (row := one.theirs or one.base) is not None}
        elif rules_of(table).label == "segment":
            found |= {one.key[0] for one in its}
    return found - {None}
