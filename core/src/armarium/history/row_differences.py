"""How one row differs between two copies of a project, as a merge sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from sqlalchemy import Table

from armarium.history.capture import key_columns
from armarium.history.net_differences import Key, Values, compared_columns, places
from armarium.history.schema import Schema

Status = Literal["clean", "same", "conflict"]
Why = Literal[
    "both_changed",
    "deleted_here",
    "deleted_there",
    "rival",
    "taken",
    "gone",
    "used",
    "restructured",
    "remade",
]
"""Why a change is a conflict: both sides changed a column; it was deleted here and changed there, or the other way
round; both made a row of the same thing, or chose among such rows; another row here has its unique values; it refers to a row that is gone here; a
row made here refers to what it deletes; one side withdrew, joined or split what the other changed or what that hangs on; where it was joined or split here, theirs
cannot be taken: what it was made into would stay beside it.
"""


@dataclass(slots=True)
class Change:
    """What the source changed in one row, beside what the target has of it."""

    table: Table
    key: Key
    base: Values | None
    theirs: Values | None
    ours: Values | None
    steps: tuple[int, ...]
    """The steps of the source that touched it."""
    status: Status = "clean"
    why: Why | None = None
    conflicting: frozenset[str] = frozenset()
    """The columns that both sides changed."""
    rivals: list[tuple[Table, Key]] = field(default_factory=list)
    """Rows of the target that stand for the same, or chose among what does."""
    rests_on: frozenset[tuple[str, Key]] = frozenset()
    """What the source joined or split and this is of: without it, it would be of something else."""

    @property
    def place(self) -> tuple[str, Key]:
        """Its table and key."""
        return self.table.name, self.key

    @property
    def changed_columns(self) -> dict[str, int]:
        """The columns that the source changed, with their positions; of a row that it made, all of them."""
        return {
            name: at
            for at, name in compared_columns(self.table)
            if self.theirs is not None and (self.base is None or self.base[at] != self.theirs[at])
        }


@lru_cache(maxsize=8)
def references(schema: Schema) -> dict[str, list[tuple[str, int, Table]]]:
    """Return for each tracked table the columns that refer to a row of a tracked one by its key: name, position, that table."""
    columns_by_table: dict[str, list[tuple[str, int, Table]]] = {table.name: [] for table in schema.tracked}
    for table in schema.tracked:
        for key in sorted(table.foreign_keys, key=lambda reference: reference.parent.name):
            parent = schema.by_name.get(key.column.table.name)
            if (
                parent is not None
                and parent.name in columns_by_table
                and key_columns(parent) == [key.column.name]
            ):
                columns_by_table[table.name].append((key.parent.name, places(table)[key.parent.name], parent))
    return columns_by_table
