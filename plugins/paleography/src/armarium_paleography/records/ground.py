"""What the records of paleography share: their MetaData, types of fields, the columns at their end, and lists of them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model
from sqlalchemy import Column, MetaData, Text, text

from armarium.api import Message, proper_name, provenance_columns

Id = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(proper_name)]
Others = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
Words = Annotated[str, Field(max_length=10_000)]
Short = Annotated[str, Field(min_length=1, max_length=80)]
Term = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(proper_name)]
"""What one form is looked up and counted by: in NFC, however it was typed."""
Certainty = Annotated[float, Field(ge=0, le=1, description="0 to 1")]
FactKind = Literal["unclear", "lost", "restored", "supplied", "superfluous", "deleted", "added"]
_CODE_POINT = re.compile(r"U\+(?:[0-9A-F]{4}|[1-9A-F][0-9A-F]{4}|10[0-9A-F]{4})")


def _code_point(value: str) -> str:
    if not _CODE_POINT.fullmatch(value) or ("U+D800" <= value <= "U+DFFF" and len(value) == 6):
        raise ValueError(
            "a code point is written as U+ and four to six upper-case hexadecimal digits, without "
            "superfluous zeros, such as U+A75B"
        )
    return value


CodePoint = Annotated[str, AfterValidator(_code_point)]


metadata = MetaData()

LIVE = text("withdrawn_at IS NULL")
CURRENT = text("superseded_at IS NULL")


def made_and(ended: str) -> tuple[Column[str], ...]:
    """Return the columns for who made a row and when, and the one for when it *ended*."""
    return (*provenance_columns(), Column(ended, Text))


class Listed(Message):
    """A part of a list: how many items it has, how many there are in all, and which part it is."""

    count: int
    total: int
    limit: int | None = None
    """None: all were requested."""
    offset: int = 0


def part_of(item: type[Message], name: str, doc: str) -> type[Message]:
    """Return the model *name* of a part of a list of *item*."""
    fields: dict[str, Any] = {"items": (list[item], ...)}  # type: ignore[valid-type]
    return create_model(name, __base__=Listed, __module__=item.__module__, __doc__=doc, **fields)
