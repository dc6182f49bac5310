"""The dataset query: a folder's documents as a table, filtered, sorted, binned and counted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from armarium.api import Message, Params
from armarium_documents.dates.edtf import Span, asks_backwards, span_asked, span_of
from armarium_documents.flags import FLAGS
from armarium_documents.schemas.classifications import DeclarationType
from armarium_documents.schemas.fields import Id

Operator = Literal["eq", "ne", "contains", "has", "gte", "lte", "between", "is_set", "not_set"]
Granularity = Literal["year", "month", "day"]

FIELDS = frozenset(
    {
        "name", "prototype_key", "doc_type", "file_type", "node_kind", "page_label", "sequence", "source_authority",
        "language", "script", "direction", "date_original", "date_iso", "case_id", "status",
        "created_at", "updated_at", *FLAGS,
    }
)  # fmt: skip
"""A document's own fields, named `document.<field>` where an attribute is named."""


def check_attribute(name: str) -> str:
    """Return *name*; ValueError for a quotation mark, a control character, an unknown document field."""
    for character in name:
        if character == '"' or ord(character) < 32:
            raise ValueError(f"an attribute's name must not contain {character!r}")
    if name.startswith("document.") and name.removeprefix("document.") not in FIELDS:
        raise ValueError(f"there is no field {name}; the fields are {', '.join(sorted(FIELDS))}")
    return name


Attribute = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(check_attribute)]


class Filter(Params):
    """A condition on one attribute; a list meets it where one of its members does. `has`: a facet counts the document under this value."""

    attr: Attribute
    op: Operator
    value: Any = None
    value2: Any = None
    type: DeclarationType = "text"

    @model_validator(mode="after")
    def _fits(self) -> Filter:
        if self.op in ("is_set", "not_set"):
            if self.value is not None or self.value2 is not None:
                raise ValueError(f"{self.op} takes no value")
            return self
        needed = ("value", "value2") if self.op == "between" else ("value",)
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.op} needs {' and '.join(needed)}; {' and '.join(missing)} is missing")
        if self.op == "has":
            if not isinstance(self.value, str | int | float) or self.value2 is not None:
                raise ValueError("has takes one value of a facet: a text, a number, true or false")
            return self
        if self.op == "contains" and not isinstance(self.value, str):
            raise ValueError("contains takes a text")
        _check_type("value", self.value, self.type)
        if self.op == "between":
            _check_type("value2", self.value2, self.type)
        elif self.value2 is not None:
            raise ValueError("value2 is only for between")
        if self.type == "date" and self.op != "contains":
            first, last = (days_asked(bound) for bound in (self.value, self.value2 or self.value))
            if last.end < first.start:
                raise ValueError(f"{self.value} is after {self.value2}; the earlier date comes first")
        if self.type == "checkbox" and self.op not in ("eq", "ne"):
            raise ValueError("a checkbox is compared with eq or ne")
        return self


def days_asked(text: str) -> Span:
    """Return the days that a date to compare with may mean; ValueError if it is none."""
    span = span_of(text) or span_asked(text)
    if span is None:
        if asks_backwards(text):
            raise ValueError(f"{text[:100]} ends before it begins; the earlier date comes first")
        raise ValueError(
            f"{text[:100]!r} is not a date to compare with; write it as 1750, 1750-03, 1750-03-21 or 1750/1752"
        )
    return span


def _check_type(name: str, value: Any, kind: str) -> None:
    if kind in ("number", "rating"):
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
            raise ValueError(f"{name}: a {kind} is compared with a number")
    elif kind == "checkbox":
        if not isinstance(value, bool):
            raise ValueError(f"{name}: a checkbox is compared with true or false")
    elif not isinstance(value, str) or len(value) > 10_000:
        raise ValueError(f"{name}: a {kind} is compared with a text of at most 10,000 characters")


class Sort(Params):
    attr: Attribute
    direction: Literal["asc", "desc"] = "asc"
    type: DeclarationType = "text"


class Bins(Params):
    attr: Attribute
    granularity: Granularity = "month"


class DatasetQuery(Params):
    """A folder, filters, sort order, page, and what to count."""

    parent_id: Id | None = None
    recursive: bool = False
    prototype_key: Annotated[str, Field(max_length=200)] | None = None
    attributed_only: bool = False
    filters: Annotated[list[Filter], Field(max_length=50)] = Field(default_factory=list)
    sort: Sort | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    offset: Annotated[int, Field(ge=0, le=2**62)] = 0
    bins: Bins | None = None
    facets: Annotated[list[Attribute], Field(max_length=50)] = Field(default_factory=list)


class DatasetRow(Message):
    id: str
    name: str
    prototype_key: str | None
    node_kind: str
    doc_type: str
    parent_id: str | None
    attributes: dict[str, Any]
    excerpt: str
    date_original: str | None
    date_iso: str | None
    has_thumbnail: bool
    page_label: str | None
    language: str | None
    script: str | None
    direction: str | None
    child_count: int
    is_starred: bool
    is_locked: bool
    created_at: str
    updated_at: str


class Bin(Message):
    bin: str
    count: int


class FacetValue(Message):
    value: Any
    count: int


class Dataset(Message):
    """One page of the table, and what was counted over all of it."""

    total: int
    limit: int
    offset: int
    rows: list[DatasetRow]
    bins: list[Bin]
    facets: dict[str, list[FacetValue]]
    defaults_by_prototype: dict[str, dict[str, Any]]
    withheld: Annotated[
        int, Field(description="Documents of the folder that the caller may not see, whatever is asked for")
    ] = 0
