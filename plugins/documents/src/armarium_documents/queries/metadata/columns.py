"""What the columns of a table are: attributes, own fields, or what says which document a row is about."""

from __future__ import annotations

import re
import unicodedata
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
    **{field: field for field in (*KEYS, *SETTABLE)},
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
    columns = [_column(at, heading, p.columns, attributes) for at, heading in enumerate(headings)]
    key = _key_column(columns, p.match)
    if key is None:
        raise no_match_column(p.match or "document.id, document.path or document.name", [heading for heading in headings if heading][:20])  # fmt: skip
    key.use = "match"
    names: set[tuple[bool, str]] = set()
    for column in columns:
        if column.use not in ("attribute", "field"):
            continue
        column_key = column.is_own, column.name
        if column_key in names:
            column.use, column.why = "refused", "another column is the same"
        names.add(column_key)
    return columns


def _column(at: int, heading: str, names: Mapping[str, str], attributes: Mapping[str, object]) -> Column:
    name = unicodedata.normalize("NFC", names.get(heading, heading).strip())
    if name not in attributes:
        name = next((key for key in attributes if unicodedata.normalize("NFC", key.strip()) == name), name)
    if not name:
        return Column(at, heading, "skipped")
    if name.startswith(OWN):
        own: str | None = name.removeprefix(OWN)
    else:
        own = None if name in attributes else _ALIASES.get(name.casefold())
    if own is not None:
        if own in SHOWN:
            return Column(at, heading, "shown", own, is_own=True)
        if own in SETTABLE:
            return Column(at, heading, "field", own, is_own=True)
        return Column(at, heading, "refused", own, f"a table cannot change this field; it can change {', '.join(SETTABLE)}", is_own=True)  # fmt: skip
    if len(name) > MAX_KEY or '"' in name or any(ord(sign) < 32 or ord(sign) == 127 for sign in name):
        why = f"an attribute's name has at most {MAX_KEY} characters, no quotation mark and no line break"
        return Column(at, heading, "refused", why=why)
    if heading not in names and name not in attributes and _SECRET.search(name):
        why = "it is called like a secret, and whoever sees a document sees its attributes; name it in columns if it is none"
        return Column(at, heading, "refused", why=why)
    return Column(at, heading, "attribute", name)


def _key_column(columns: Sequence[Column], match: str | None) -> Column | None:
    if match is not None and not match.startswith(OWN):
        for column in columns:
            if column.use == "attribute" and column.name == match:
                return column
    names = KEYS if match is None else (match.removeprefix(OWN),)
    for name in names:
        for column in columns:
            if column.is_own and column.name == name:
                return column
    return None
