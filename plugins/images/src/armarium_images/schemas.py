"""Requests and answers of images: crops in pixels, splits in fractions, batches over a folder."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from armarium.api import Message, Params, RowId
from armarium_documents.api import check_rect, clean_name

MAX_REGIONS = 64
MAX_BATCH_CROP = 5_000

Id = RowId
Rect = Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(check_rect)]
Pixels = Annotated[int, Field(ge=0, le=1_000_000_000)]
Extent = Annotated[int, Field(gt=0, le=1_000_000_000)]
Page = Annotated[int, Field(ge=1, le=1_000_000)]


class CropParams(Params):
    """CropOperationRequest: whole pixels of the source's picture, upright when `auto_orient`, else as stored."""

    document_id: Id
    left: Pixels
    top: Pixels
    width: Extent
    height: Extent
    page: Page = 1
    auto_orient: bool = True


class SplitRegion(Params):
    """One part of a split, in fractions of the picture."""

    bbox: Rect
    label: Annotated[str, AfterValidator(clean_name)] | None = None


Regions = Annotated[list[SplitRegion], Field(min_length=2, max_length=MAX_REGIONS)]


class SplitParams(Params):
    """ImageSplitRequest: from 2 to 64 regions that do not overlap."""

    document_id: Id
    regions: Regions
    page: Page = 1
    auto_orient: bool = True


class TakeBackParams(Params):
    """The source (all its crops or splits) or one child."""

    document_id: Id


class Region(Params):
    """One rectangle for many pictures: fractions of each, or the same pixels in each."""

    left: float
    top: float
    width: float
    height: float
    unit: Literal["fraction", "pixel"] = "fraction"

    @model_validator(mode="after")
    def _check_within(self) -> Region:
        numbers = [self.left, self.top, self.width, self.height]
        if self.unit == "fraction":
            check_rect(numbers)
            return self
        if not all(math.isfinite(number) and number == int(number) for number in numbers):
            raise ValueError("a region in pixels needs whole numbers")
        if min(self.left, self.top) < 0 or min(self.width, self.height) <= 0 or max(numbers) > 1e9:
            raise ValueError("left and top must be at least 0, width and height more than 0 pixels")
        return self


class BatchCropParams(Params):
    """ImageBatchCropRequest: one region for many documents."""

    document_ids: Annotated[
        list[Id],
        Field(min_length=1, max_length=MAX_BATCH_CROP),
        AfterValidator(lambda ids: list(dict.fromkeys(ids))),
    ]
    region: Region
    auto_orient: bool = True


class CropSpec(Params):
    kind: Literal["crop"]
    region: Region


class SplitSpec(Params):
    kind: Literal["split"]
    regions: Regions


Spec = Annotated[CropSpec | SplitSpec, Field(discriminator="kind")]


class BatchApplyParams(Params):
    """BatchImageApplyRequest: one crop or split for every picture of a folder."""

    folder_id: Id
    recursive: bool = False
    spec: Spec


class BatchItemParams(Params):
    batch_id: Id
    document_id: Id


class BatchUndoParams(Params):
    batch_id: Id


class BatchJobArgs(Message):
    batch_id: str


Treatment = Literal["enhanced", "background-removed", "binarised"]
Contrast = Annotated[float, Field(ge=1.0, le=8.0, allow_inf_nan=False)]


class TreatItemParams(Params):
    """What to make of one picture; `contrast` is how far `enhanced` raises local contrast."""

    document_id: Id
    role: Treatment
    contrast: Contrast = 2.0


class TreatParams(Params):
    """What to make of the pages and pictures at and below the nodes named."""

    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=1000)]
    role: Treatment
    contrast: Contrast = 2.0


class TreatResult(Message):
    """The job, and the number of pictures it will process."""

    job_id: str
    pictures: int


class TreatItemResult(Message):
    """The resulting rendition, and whether this step made it."""

    document_id: str
    rendition_id: str
    made: bool


class TreatJobArgs(Message):
    document_ids: list[str]
    role: Treatment
    contrast: float


class Child(Message):
    """A derived child: a document with its part of the source's picture."""

    model_config = ConfigDict(extra="allow")

    id: str
    parent_id: str | None
    doc_type: str
    file_type: str | None
    name: str
    region: dict[str, Any] | None


class CropResult(Message):
    """The answers of a crop and of its removal."""

    document_id: str
    child: Child | None
    child_ids: list[str]
    removed_ids: list[str]
    region: list[float] | None
    """`[x, y, w, h]` in fractions of the source's upright picture."""


class Why(Message):
    document_id: str
    why: str


class SplitResult(Message):
    document_id: str
    children: list[Child]
    child_ids: list[str]
    left_out: Annotated[
        list[Why], Field(description="What stays on the picture, where pages are listed without it")
    ]


class UnsplitResult(Message):
    document_id: str
    removed_ids: list[str]


class BatchCropResult(Message):
    children: list[Child]
    failed: list[Why]


ItemState = Literal["waiting", "running", "done", "failed", "skipped", "undone"]


class BatchItem(Message):
    document_id: str
    state: ItemState
    child_ids: list[str]
    reason: str | None


class BatchAnswer(Message):
    """The state of a batch, picture by picture."""

    batch_id: str
    job_id: str
    state: str
    total: int
    done: int
    failed: int
    items: list[BatchItem]


class BatchUndoResult(Message):
    batch_id: str
    undone: int
    removed_ids: list[str]
    kept: list[Why]
