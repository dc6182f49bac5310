"""Names and statements as they are stored for comparison: folded, one form per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, literal, or_

from armarium.api import alter_tracked, raw_of
from armarium_source_model.api import fold_name as fold
from armarium_source_model.api import name_forms

if TYPE_CHECKING:
    from alembic.operations import Operations


def folded_names(names: Iterable[str]) -> str:
    """Return the names in the form that a search of names uses: the forms of each, one per line."""
    return "\n".join(dict.fromkeys(form for name in names for form in name_forms(name)))


def all_names(canonical_name: str, names: Iterable[Mapping[str, Any]]) -> str:
    """Return the names of an entity in the form that a search of names uses."""
    texts = [text for one in names for text in (one["text"], one["romanized"]) if text]
    return folded_names([canonical_name, *texts])


def has_name(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Return the condition that one of the names in a column of folded names is *name*."""
    lines = literal("\n") + column + "\n"
    return or_(False, *(lines.contains(f"\n{form}\n", autoescape=True) for form in name_forms(name)))


def refold(operations: Operations) -> None:
    """Fold the names and statements of a project again that were folded when a comma was part of a name."""
    raw = raw_of(operations.get_bind())
    raw.create_function("fold_names_again", 3, _fold_names_again, deterministic=True)
    raw.create_function(
        "fold_lines_again", 1, lambda text: "\n".join(map(fold, text.split("\n"))), deterministic=True
    )
    for table, column, folded in (
        ("entity", "folded_names", "fold_names_again(folded_names, canonical_name, names)"),
        ("claim", "folded_text", "fold_lines_again(folded_text)"),
    ):
        update = f"SET {column} = {folded} WHERE {column} IS NOT NULL"
        alter_tracked(operations, table, lambda name, update=update: raw.execute(f"UPDATE {name} {update}"))


def _fold_names_again(folded: str, canonical_name: str | None, names: str | None) -> str:
    """Return the folded names; what is recorded of former ones holds only the columns that changed."""
    if canonical_name is None or names is None:
        return folded_names(folded.split("\n"))
    return all_names(canonical_name, json.loads(names))
