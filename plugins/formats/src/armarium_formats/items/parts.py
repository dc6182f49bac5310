"""What programs for collections exchange: items with files, metadata, notes and texts. Each program has a reader of its own."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from armarium.api import Invalid

MAX_FILES: Final = 20_000
TITLES: Final = (
    "http://purl.org/dc/elements/1.1/title",
    "http://purl.org/dc/terms/title",
    "http://www.zotero.org/namespaces/export#title",
)

_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/blockquote)\b[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")


class Value(NamedTuple):
    """A value of a property, with the address of its type where one is stated, and its language."""

    value: Any
    type: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ItemNote:
    """A note as plain text, and as the program wrote it."""

    text: str
    html: str
    language: str | None


@dataclass(slots=True)
class ItemPart:
    """An item, a file of it or a selection of a picture: its metadata by address, and what the program itself says of it by name:
    `key` where it identifies it from one export to the next, `path` and `filename` of a file.
    """

    metadata: dict[str, list[Value]] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    notes: list[ItemNote] = field(default_factory=list)
    text: str = ""
    alto: str = ""
    further_transcriptions: int = 0
    parts: list[ItemPart] = field(default_factory=list)
    """Files of an item, selections of a picture."""
    tags: list[str] = field(default_factory=list)
    lists: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Return its title by the elements or the terms of Dublin Core or by Zotero, empty without one."""
        for address in TITLES:
            if values := self.metadata.get(address):
                return str(values[0].value).strip()
        return ""

    def number(self, name: str) -> float:
        """Return one of the program's own numbers, 0 where none is stated."""
        value = self.own.get(name)
        return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else 0.0


@dataclass(slots=True)
class ItemExport:
    """What a program exported, and what the reader left out of it."""

    program: str
    items: list[ItemPart]
    losses: Counter[str] = field(default_factory=Counter)


def text_of_html(marked: str) -> str:
    """Return the text of a note that is written as HTML."""
    return html.unescape(_TAGS.sub("", _BREAKS.sub("\n", marked))).strip()


def require_items(export: ItemExport, name: str, advice: str) -> ItemExport:
    """Return it without items that say nothing; Invalid with *advice* if none is left, and where there are too many files."""
    export.items = [item for item in export.items if item.metadata or item.parts or item.notes]
    if not export.items:
        raise Invalid(f"{name} has no items. {advice}", code="not_items")
    if sum(len(item.parts) for item in export.items) > MAX_FILES:
        raise Invalid(
            f"{name} has more than {MAX_FILES:,} files; export fewer items at a time.", code="too_many_files"
        )
    return export
