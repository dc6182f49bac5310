"""Names and statements as they are stored for comparison: folded, one form per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, literal, or_

from armarium.api import alter_tracked, raw_of
from armarium_source_model.api import fold_name, name_forms

fold = fold_name
"""Statements are compared as names are: by their folded words."""


def folded_names(names: Iterable[str]) -> str:
    """Return the names in the form that a search of names uses: the forms of each, one per line."""
    return "\n".join(dict.fromkeys(form for name in names for form in name_forms(name)))


def all_names(canonical_name: str, names: Iterable[Mapping[str, Any]]) -> str:
    """Return the names of an entity in the form that a search of names uses."""
    texts = [text for name in names for text in (name["text"], name["romanized"]) if text]
    return folded_names([canonical_name, *texts])


def has_name(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Return the condition that one of the names in a column of folded names is *name*."""
    lines = literal("\n") + column + "\n"
    return or_(False, *(lines.contains(f"\n{form}\n", autoescape=True) for form in name_forms(name)))


def refold(operations: Any) -> None:
    """Fold the names and statements of a project again that were folded when a comma was part of a name."""
    raw = raw_of(operations.get_bind())
    raw.create_function("fold_names_again", 3, _fold_names_again, deterministic=True)
    raw.create_function("fold_lines_again", 1, _fold_lines_again, deterministic=True)

    def refold_names(table: str) -> None:
        names_to_fold = "fold_names_again(folded_names, canonical_name, names)"
        raw.execute(f"UPDATE {table} SET folded_names = {names_to_fold} WHERE folded_names <> ''")

    def refold_texts(table: str) -> None:
        raw.execute(f"UPDATE {table} SET folded_text = fold_lines_again(folded_text) WHERE folded_text <> ''")

    alter_tracked(operations, "entity", refold_names)
    alter_tracked(operations, "claim", refold_texts)


def _fold_lines_again(text: str) -> str:
    return "\n".join(map(fold, text.split("\n")))


def _fold_names_again(folded: str, canonical_name: str | None, names: str | None) -> str:
    """Return the folded names; what is recorded of former ones holds only the columns that changed."""
    if canonical_name is None or names is None:
        return folded_names(folded.split("\n"))
    return all_names(canonical_name, json.loads(names))
