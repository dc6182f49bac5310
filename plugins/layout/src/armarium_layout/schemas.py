"""Requests and answers of layout: the settings of its jobs, and what one step writes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Message, NameOrMaterialPath, Params, ProperName

Id = Annotated[str, Field(min_length=1, max_length=128)]
Number = Annotated[float, Field(ge=-1, le=2, allow_inf_nan=False)]
"""A fraction of the page, or slightly beyond its edge."""
Rect = Annotated[list[Number], Field(min_length=4, max_length=4)]
Points = Annotated[list[tuple[Number, Number]], Field(max_length=10_000)]
Version = Annotated[int, Field(ge=0, le=2**53)]


class NoSettings(Params):
    """There is nothing to set."""


class RegionSettings(Params):
    """How regions are found."""

    model: NameOrMaterialPath | None = Field(
        default=None,
        description="A layout detector trained on regions; default: blocks from the white space between "
        "lines.",
    )
    at_least: float | None = Field(
        default=None,
        ge=0.01,
        le=1,
        allow_inf_nan=False,
        description="The least confidence of the detector in a region, up to 1; a lower value finds more "
        "and errs more. Default: what suited the pages that it was validated on.",
    )


class OutlineSettings(Params):
    """Which lines get a new outline."""

    lines: Literal["plain", "all"] = Field(
        default="plain",
        description="plain: lines that have a rectangle or no outline; all: every line that was not drawn "
        "by a person.",
    )


class TableSettings(Params):
    """Where tables are looked for."""

    unruled: bool = Field(
        default=True,
        description="Also regions marked as tables that have no ruled lines: their columns are separated "
        "by the white between the words.",
    )


class PrepareSettings(Params):
    """How each picture is prepared; each treatment makes a rendition of its own, and the picture is not changed."""

    deskew: bool = Field(default=True, description="Rotate the page so that its lines are level.")
    dewarp: bool = Field(
        default=False, description="Straighten lines that bend, such as near the fold of a book."
    )
    background: bool = Field(default=False, description="Remove the paper so that the ink is on white.")


class DrawingSettings(Params):
    """Which regions are drawings."""

    kinds: Annotated[list[Annotated[str, Field(min_length=1, max_length=80)]], Field(max_length=50)] = Field(
        default=["image", "graphic", "drawing", "illustration", "figure", "map", "seal", "decoration"],
        description="Regions whose kind contains one of these words are traced.",
    )


class SignSettings(Params):
    """Which signs are looked for."""

    examples: Annotated[list[Id], Field(max_length=200)] = Field(
        default=[],
        description="Segments drawn around a sign, on any page: its examples. What looks like an example "
        "that shows a declared sign becomes an instance of it; without examples, the pictures "
        "of all declared signs are looked for.",
    )
    likeness: Annotated[float, Field(ge=0.4, le=1, allow_inf_nan=False)] = Field(
        default=0.64,
        description="How similar to an example a place must be, up to 1; a lower value finds more and errs "
        "more.",
    )


class OrderPage(Params):
    document_id: Id
    pass_id: Id


class OrderedPage(Message):
    """The reading order that was made, and the one withdrawn in its favour."""

    document_id: str
    order_id: str
    entry_count: int
    withdrawn_id: str | None


class FoundCell(Params):
    """A place in a table, counted from 0."""

    row: Annotated[int, Field(ge=0, le=100_000)]
    column: Annotated[int, Field(ge=0, le=100_000)]
    row_span: Annotated[int, Field(ge=1, le=100_000)] = 1
    column_span: Annotated[int, Field(ge=1, le=100_000)] = 1


class FoundShape(Params):
    """A region or sign that was found. key: its name in this step, for shapes inside it."""

    key: Id
    kind: Literal["region", "word"] = "region"
    rect: Rect
    kind_raw: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    inside: Id | None = None
    """The segment that contains it, or the key of a shape named earlier."""
    cell: FoundCell | None = None
    sign_id: Id | None = None
    """The declared sign that it shows."""
    certainty: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """How certain it is that it shows that sign."""


class HeldLine(Params):
    """A segment that is now inside one of the shapes."""

    segment_id: Id
    expected_version: Version
    inside: Id


class TakeShapes(Params):
    """Shapes found on one page, for an existing pass or a new one."""

    document_id: Id
    pass_id: Id | None = None
    name: ProperName = "Found on the page"
    shapes: Annotated[list[FoundShape], Field(min_length=1, max_length=20_000)]
    lines: Annotated[list[HeldLine], Field(max_length=50_000)] = []


class TakenShapes(Message):
    """segment_ids: of the shapes, in the order given."""

    document_id: str
    pass_id: str
    segment_ids: list[str]


class NewOutline(Params):
    segment_id: Id
    expected_version: Version
    rect: Rect
    polygon: Points


class ReshapeLines(Params):
    """New outlines of lines of one page."""

    document_id: Id
    outlines: Annotated[list[NewOutline], Field(min_length=1, max_length=20_000)]


class ReshapedLines(Message):
    document_id: str
    segment_ids: list[str]


class PreparePage(PrepareSettings):
    document_id: Id


class MadeRendition(Message):
    rendition_id: str
    role: str


class PreparedPage(Message):
    """The renditions that were made; not those that already existed."""

    document_id: str
    renditions: list[MadeRendition]


def fractions(values: Any) -> list[float]:
    """Return numbers as plain floats to seven decimals: less than a hundredth of a pixel."""
    return [round(float(value), 7) for value in values]
