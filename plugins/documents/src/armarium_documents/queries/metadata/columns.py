"""What the columns of a table are: attributes, own fields, or what says which document a row is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from armarium_documents.errors import no_match_column
from armarium_documents.schemas.fields import MAX_KEY
from armarium_documents.schemas.metadata import KEYS, OWN, SETTABLE, SHOWN, ColumnUse, MetadataParams

_SECRET = re.compile(
    r"(?i)pass(word|wd|phrase|wort)|kennwort|contraseña|mot de passe|secret|geheim|token|(api|private)[ _-]?key|credential"
)
"""How a column is called that does not belong into a project, where everybody who may see a document sees its attributes."""
_ALIASES = {
    "file": "name", "filename": "name", "file name": "name", "file_name": "name", "prototype": "prototype_key", "label": "page_label",
    **{one: one for one in (*KEYS, *SETTABLE)},
}  # fmt: skip
"""Headings that mean an own field where no document has an attribute of that name."""


@dataclass(slots=True)
class Column:
    """A column, *at* its place in the rows; *name* is that of the field or the attribute."""

    at: int
    heading: str
    use: ColumnUse
    name: str = ""
    why: str | None = None

    @property
    def target(self) -> str | None:
        """The name as a caller states it."""
        if not self.name:
            return None
        return self.name if self.use == "attribute" or not self.is_own else f"{OWN}{self.name}"

    is_own: bool = False


def columns_of(headings: Sequence[str], p: MetadataParams, attributes: Mapping[str, object]) -> list[Column]:
    """Return the columns called *headings*; *attributes* are those that documents have. Invalid if none says which document a row
    is about.
    """
    found = [_column(at, heading, p.columns, attributes) for at, heading in enumerate(headings)]
    key = _key_column(found, p.match)
    if key is None:
        raise no_match_column(p.match or "document.id, document.path or document.name", [one for one in headings if one][:20])  # fmt: skip
    key.use = "match"
    seen: set[tuple[bool, str]] = set()
    for column in found:
        if column.use not in ("attribute", "field"):
            continue
        what = column.is_own, column.name
        if what in seen:
            column.use, column.why = "refused", "another column is the same"
        seen.add(what)
    return found


def _column(at: int, heading: str, stated: Mapping[str, str], attributes: Mapping[str, object]) -> Column:
    meant = stated.get(heading, heading).strip()
    if not meant:
        return Column(at, heading, "skipped")
    if meant.startswith(OWN):
        own: str | None = meant.removeprefix(OWN)
    else:
        own = None if meant in attributes else _ALIASES.get(meant.casefold())
    if own is not None:
        if own in SHOWN:
            return Column(at, heading, "shown", own, is_own=True)
        if own in SETTABLE:
            return Column(at, heading, "field", own, is_own=True)
        return Column(at, heading, "refused", own, f"a table cannot change this field; it can change {', '.join(SETTABLE)}", is_own=True)  # fmt: skip
    if len(meant) > MAX_KEY or '"' in meant or any(ord(one) < 32 or ord(one) == 127 for one in meant):
        why = f"an attribute's name has at most {MAX_KEY} characters, no quotation mark and no line break"
        return Column(at, heading, "refused", why=why)
    if heading not in stated and meant not in attributes and _SECRET.search(meant):
        why = "it is called like a secret, and whoever sees a document sees its attributes; name it in columns if it is none"
        return Column(at, heading, "refused", why=why)
    return Column(at, heading, "attribute", meant)


def _key_column(columns: Sequence[Column], match: str | None) -> Column | None:
    if match is not None and not match.startswith(OWN):
        for one in columns:
            if one.use == "attribute" and one.name == match:
                return one
    wanted = KEYS if match is None else (match.removeprefix(OWN),)
    for name in wanted:
        for one in columns:
            if one.is_own and one.name == name:
                return one
    return None
