"""What a merge of a branch must leave, worked out in plain Python from three versions of all rows, each a dictionary.

It knows nothing of histories, SQL or plans: it compares the rows as they were with those of either side, cell by cell, and
repairs what would then refer to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from armarium.history.capture import quote_name
from armarium.history.schema import Schema
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import rules_of
from armarium_testing.merge_rivals import Place, Rivalry, Row, Rows

WHO = ("provenance_kind", "created_by", "run_id")


def read_rows(library: Library) -> Rows:
    """Return every row that a merge may carry, without the columns that only grow."""
    with library.db.read_all() as conn:
        raw = raw_of(conn)
        return {
            (table, tuple([row[at] for at in keys])): dict(zip(names, row, strict=True))
            for table, names, keys, query in _statements(library.schema)
            for row in raw.execute(query)
            if row[keys[0]] not in rules_of(library.schema.by_name[table]).own_keys
        }


@lru_cache(maxsize=8)
def _statements(schema: Schema) -> list[tuple[str, list[str], list[int], str]]:
    """Return of each table whose rows a merge may carry its columns, the places of its keys, and what reads its rows."""
    statements = []
    for table in schema.tracked:
        if not rules_of(table).stays_here:
            names = [column.name for column in table.columns if column.name not in rules_of(table).monotonic]
            keys = [names.index(column.name) for column in table.primary_key.columns]
            query = f"SELECT {', '.join(map(quote_name, names))} FROM {quote_name(table.name)}"
            statements.append((table.name, names, keys, query))
    return statements


def _when(name: str, left: Any, right: Any) -> bool:
    return name.endswith(("_at", "_by")) and left is not None and right is not None


@dataclass
class ThreeVersions:
    """The rows as both sides last agreed on them, and as each has them now."""

    schema: Schema
    base: Rows
    theirs: Rows
    ours: Rows
    left_out: Rows = field(default_factory=dict)
    """Rows that the target never had, as they were when a merge left them out."""
    came: dict[Place, int] = field(default_factory=dict)
    """When a row came to the target, counted on by each merge; those that it had from the first are not named."""
    conflicts: dict[Place, str] = field(default_factory=dict)
    same: set[Place] = field(default_factory=set)
    rows_beside: dict[Place, list[Place]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._keys = {t.name: [c.name for c in t.primary_key.columns] for t in self.schema.tracked}
        self._references = {
            t.name: [
                (key.parent.name, key.column.table.name)
                for key in t.foreign_keys
                if key.column.table.name in self._keys
                and [key.column.name] == self._keys[key.column.table.name]
            ]
            for t in self.schema.tracked
        }
        chosen = {
            parent: table.name
            for table in self.schema.tracked
            for name, parent in self._references[table.name]
            if (choice := rules_of(table).choice) is not None and choice.of == name
        }
        self._rivalries = {
            table.name: chosen.get(table.name)
            for table in self.schema.tracked
            if rules_of(table).rivals and rules_of(table).choice is None
        }
        self._uses = [(user.name, column, used.name) for used, user, column in self.schema.uses]
        self.changed = sorted(
            place
            for place in self.base.keys() | self.theirs.keys()
            if self.base.get(place) != self.theirs.get(place) and not self._is_left_out(place)
        )
        # What was left out comes again with what refers to it.
        for place in self.changed:
            for name, parent in self._references[place[0]]:
                target = (parent, (self.theirs.get(place, {}).get(name),))
                if target in self.left_out and target not in self.changed and target in self.theirs:
                    self.changed.append(target)
        self.changed.sort()
        self._classify()

    def _is_left_out(self, place: Place) -> bool:
        return place in self.left_out and self.left_out[place] == self.theirs.get(place)

    def merge(self, on_conflict: Literal["refuse", "keep_ours", "take_theirs"], now: str = "") -> Rows | None:
        """Return the rows that a merge of everything leaves *now*, or None where it is refused."""
        if self.conflicts and on_conflict == "refuse":
            return None
        if on_conflict == "take_theirs" and any(
            self._is_final(*conflict) for conflict in self.conflicts.items()
        ):
            return None
        merged = {place: dict(row) for place, row in self.ours.items()}
        for place in self.changed:
            self._take(merged, place, on_conflict)
        for place, why in self.conflicts.items():
            if on_conflict == "take_theirs" and why == "taken":
                for other in self.rows_beside[place]:
                    merged.pop(other, None)
        while self._repair(merged):
            pass
        for place, why in self.conflicts.items():
            rules = rules_of(self.schema.by_name[place[0]])
            if on_conflict == "take_theirs" and why == "rival" and rules.ended and not rules.choice:
                for other in self.rows_beside[place] if place in merged else ():
                    merged[other][rules.ended] = now
        return merged

    def is_torn(self, merged: Rows) -> bool:
        """Return whether a row of *merged* refers to one that is not there: what was decided cannot be had."""
        return any(
            row[name] is not None and (parent, (row[name],)) not in merged
            for (table, _), row in merged.items()
            for name, parent in self._references[table]
        )

    def _is_final(self, place: Place, why: str) -> bool:
        """Return whether theirs cannot be taken: what was split or joined here, and a document that was removed here for good."""
        removed = why == "deleted_here" and rules_of(self.schema.by_name[place[0]]).tree is not None
        return removed or why == "remade"

    def _take(self, merged: Rows, place: Place, on_conflict: str) -> None:
        why, theirs, ours, base = (
            self.conflicts.get(place), self.theirs.get(place), self.ours.get(place), self.base.get(place)
        )  # fmt: skip
        if place in self.same or (why is not None and on_conflict == "keep_ours" and why != "both_changed"):
            return
        if theirs is None:
            merged.pop(place, None)
        elif ours is None:
            merged[place] = dict(theirs)
        else:
            both = set(self._both(place)) if why in ("both_changed", "restructured") else set()
            for name, value in theirs.items():
                if base is not None and base[name] == value:
                    continue
                if name in both:
                    merged[place][name] = value if on_conflict == "take_theirs" else ours[name]
                elif base is None or ours[name] == base[name]:
                    merged[place][name] = (
                        value if base is not None or on_conflict == "take_theirs" else ours[name]
                    )

    def _both(self, place: Place) -> Iterator[str]:
        theirs, ours, base = self.theirs[place], self.ours[place], self.base.get(place)
        for name, value in theirs.items():
            moved = base is None or (value != base[name] and ours[name] != base[name])
            if moved and value != ours[name] and not _when(name, value, ours[name]):
                yield name

    def _classify(self) -> None:
        for place in self.changed:
            theirs, ours, base = self.theirs.get(place), self.ours.get(place), self.base.get(place)
            if theirs == ours:
                self.same.add(place)
            elif theirs is None:
                if ours != base:
                    self.conflicts[place] = "deleted_there"
            elif ours is None:
                if base is not None:
                    self.conflicts[place] = "deleted_here"
            elif any(self._both(place)):
                self.conflicts[place] = "both_changed"
            elif all(
                theirs[name] == ours[name]
                or (base is not None and theirs[name] == base[name])
                or (base is None or ours[name] != base[name])
                for name in theirs
            ):
                self.same.add(place)
        for made, choices in self._rivalries.items():
            Rivalry(self, made, choices).judge()
        for place in self.changed:
            self._find_taken(place)
        self._find_restructured()
        for place in self.changed:
            if self.is_open(place) and self.theirs.get(place) is not None and self._is_gone(place):
                self.conflicts[place] = "gone"
        changed = set(self.changed)
        for place in self.changed:
            deleted = self.is_open(place) and place not in self.theirs
            if deleted and any(user not in changed for user in self._users(self.ours, place)):
                self.conflicts[place] = "used"

    def _find_restructured(self) -> None:
        """What one side withdrew, joined or split, the other changed, or something that hangs on it."""
        ours_moved = {
            place
            for place, row in self.ours.items()
            if self._is_moved(place, self.base.get(place), row)
            and (place not in self.theirs or self._is_moved(place, self.theirs[place], row))
        }
        remade = {place for place in ours_moved if self._new_step(place, self.ours)}
        apart = {(place[0], self._step(place, self.theirs)) for place in remade if place in self.theirs}
        for place in self.changed:
            above = self._above((self.theirs, self.ours), place, self.base) if ours_moved else set()
            torn = self._new_step(place, self.theirs)
            if (above & remade or (torn and torn[1] and torn in apart)) and place not in self.same:
                self.conflicts[place] = "remade"
            elif above & ours_moved and self.is_open(place):
                self.conflicts[place] = "restructured"
        moved = {
            place
            for place in self.changed
            if place not in self.same and self._is_moved(place, self.base.get(place), self.theirs.get(place))
        }
        clashing: set[Place] = set()
        for place in self.base.keys() | self.ours.keys() if moved else ():
            if self.ours.get(place) not in (self.base.get(place), self.theirs.get(place)):
                clashing |= moved & self._above((self.ours, self.theirs), place, self.base)
        steps = {self._new_step(place, self.theirs) for place in clashing} - {None}
        clashing |= {place for place in self.changed if self._new_step(place, self.theirs) in steps}
        for place in self.changed if clashing else ():
            if place in self.same or self.conflicts.get(place) == "remade":
                continue
            hangs = self.is_open(place) and clashing & self._above((self.theirs, self.ours), place, self.base)
            if place in clashing or hangs:
                self.conflicts[place] = "restructured"

    def _is_moved(self, place: Place, before: Row | None, after: Row | None) -> bool:
        structure = rules_of(self.schema.by_name[place[0]]).structure
        return (
            structure is not None
            and before is not None
            and after is not None
            and any(
                before[name] != after[name] and not _when(name, before[name], after[name])
                for name in structure.columns
            )
        )

    def _new_step(self, place: Place, side: Rows) -> tuple[str, str] | None:
        if side.get(place) is None:
            return None
        step = self._step(place, side)
        return None if step == self._step(place, self.base) else (place[0], step)

    def _step(self, place: Place, side: Rows) -> Any:
        structure = rules_of(self.schema.by_name[place[0]]).structure
        return side.get(place, {}).get(structure.step) if structure and structure.step else None

    def _above(self, sides: tuple[Rows, Rows], place: Place, last: Rows) -> set[Place]:
        """Return *place* and all rows that it refers to, through whichever side has them; *place* itself as its side has it."""
        reached, open_places = {place}, [place]
        while open_places:
            current = open_places.pop()
            first = (sides[0], last) if current == place else sides
            row = next((rows[current] for rows in first if current in rows), {})
            beneath = [
                (parent, (row[name],)) for name, parent in self._references[current[0]] if row.get(name)
            ]
            open_places += [other for other in beneath if other not in reached]
            reached |= set(beneath)
        return reached

    def is_open(self, place: Place) -> bool:
        """Return whether nothing has been found about a change so far."""
        return place not in self.same and place not in self.conflicts

    def _find_taken(self, place: Place) -> None:
        """Find another row of ours with the same unique values."""
        theirs, before = self.theirs.get(place), self.base.get(place)
        if theirs is None:
            return
        table = self.schema.by_name[place[0]]
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            names = [column.name for column in index.columns]
            values = [theirs[name] for name in names]
            if not index.unique or None in values or not self.is_open(place):
                continue
            if before is not None and [before[name] for name in names] == values:
                continue
            holders = [
                other
                for other, row in self.ours.items()
                if other[0] == place[0] and other != place and other not in self.changed
                and [row[name] for name in names] == values
            ]  # fmt: skip
            if holders:
                self.rows_beside[place] = holders
                same = before is None and any(
                    self.is_alike(theirs, self.ours[other], place[0]) for other in holders
                )
                if same:
                    self.same.add(place)
                else:
                    self.conflicts[place] = "taken"

    def is_alike(self, left: Row, right: Row, table: str) -> bool:
        """Return whether two rows of *table* differ at most in who made them and when."""
        return all(
            left[name] == right[name]
            or name in WHO
            or name in self._keys[table]
            or _when(name, left[name], right[name])
            for name in left
        )

    def _is_gone(self, place: Place) -> bool:
        theirs, base = self.theirs[place], self.base.get(place)
        for name, parent in self._references[place[0]]:
            value = theirs[name]
            if value is None or (base is not None and base[name] == value):
                continue
            target = (parent, (value,))
            if target not in self.ours and (target in self.base or target not in self.theirs):
                return True
        return False

    def _users(self, rows: Mapping[Place, Row], parent: Place) -> Iterator[Place]:
        named = [
            (t, c) for t, references in self._references.items() for c, p in references if p == parent[0]
        ]
        named += [(user, column) for user, column, used in self._uses if used == parent[0]]
        for place, row in rows.items():
            if place != parent and any(place[0] == t and row[c] == parent[1][0] for t, c in named):
                yield place

    def _repair(self, merged: Rows) -> bool:
        """Take back what would refer to nothing, or remove what is still referred to; return whether anything was."""
        for place, row in list(merged.items()):
            ours = self.ours.get(place)
            for name, parent in self._references[place[0]]:
                target = (parent, (row[name],))
                if row[name] is None or target in merged or (ours is not None and ours[name] == row[name]):
                    continue
                if target in self.same and target in self.theirs:
                    merged[target] = dict(self.theirs[target])
                elif ours is None:
                    del merged[place]
                else:
                    merged[place] = dict(ours)
                return True
        for place in self.changed:
            deleted = place in self.ours and place not in merged and place not in self.conflicts
            if deleted and any(True for _ in self._users(merged, place)):
                merged[place] = dict(self.ours[place])
                return True
        return False
