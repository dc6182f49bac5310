"""Requests and answers about what a correction has put in doubt."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params
from armarium_knowledge.schemas.fields import Id, Word


class InDoubt(Message):
    """A row that rests on text which has changed since."""

    kind: str
    id: str
    document_id: str
    segment_id: str | None
    text: str | None
    todo: Annotated[
        Literal["confirm", "review", "redo"],
        Field(
            description="confirm: its words are still there; review: they are gone; redo: it is made again"
        ),
    ]
    why: str


class Doubts(Message):
    """What rests on changed text, page by page."""

    items: list[InDoubt]
    count: int
    pages: Annotated[int, Field(description="How many pages were looked through")]
    pages_left: Annotated[int, Field(description="How many come after them: ask again with offset + pages")]


class ConfirmOne(Params):
    kind: Word
    id: Id


class Confirm(Params):
    """What somebody has looked at and confirmed."""

    items: Annotated[list[ConfirmOne], Field(min_length=1, max_length=10_000)]


class Confirmed(Message):
    """How many rows rest on the present text."""

    confirmed: int
