"""Requests and answers of reading at scale."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Checksum, Message, Params, SourceText
from armarium_reading.api import Language
from armarium_training.schemas.training import JobAnswer, Name, SomeIds, Timeout

Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class ScaleParams(Params):
    """What is read, by which reader, and in what portions."""

    scope_ids: SomeIds
    reader: Literal["linereader", "vlm"] = "linereader"
    card: Name
    language: Language | None = None
    shard_size: Annotated[int, Field(ge=1, le=10_000)] = 50
    longest: Annotated[
        int, Field(ge=256, le=10_000, description="Length of a page's longer side in pixels")
    ] = 2000
    flavor: Name = "t4-small"
    """Left out: the project's setting `compute_place`, if it has one."""
    timeout: Timeout = "2h"
    max_in_flight: Annotated[int, Field(ge=1, le=500)] = 10
    pass_name: Name | None = None
    pages_may_leave: bool = False


class ScaleArgs(Params):
    card: str
    driver: str
    language: str | None
    shard_size: int
    longest: int
    flavor: str
    timeout: str
    max_in_flight: int
    pass_name: str | None
    place: str
    page_ids: list[str]


def count_shards(args: ScaleArgs) -> int:
    """Return how many shards the pages of a reading make."""
    return -(-len(args.page_ids) // args.shard_size)


class StartedScale(Message):
    job_id: str


class Counts(Message):
    pending: int
    submitted: int
    landed: int
    failed: int


class FailedShard(Message):
    why: str
    last_lines: list[str]
    tries: int


class Landing(Message):
    landed: int
    already: int
    unread: int
    set_aside: int


class ScaleJob(JobAnswer):
    """A reading at scale: its shards, and the pages written."""

    step: str
    counts: Counts
    failed_shards: dict[str, FailedShard]
    package: dict[str, Any]
    landing: Landing
    flavor: str
    price_per_hour_usd: float | None


class ReadLine(Params):
    """A line of a page that was read elsewhere; shapes in pixels of the picture that was sent."""

    rect: Annotated[list[float], Field(min_length=4, max_length=4)]
    polygon: Annotated[list[Point] | None, Field(max_length=10_000)] = None
    baseline: Annotated[list[Point] | None, Field(max_length=10_000)] = None
    text: Annotated[SourceText, Field(max_length=100_000)] = ""
    confidence: Annotated[float | None, Field(ge=0, le=1)] = None


class LandPage(Params):
    """What was read of one page, with the digest of the result."""

    document_id: Name
    checksum: Checksum
    name: Name
    provider: Name
    model: Name
    rendition_id: Name | None = None
    width: Annotated[int, Field(ge=1, le=1_000_000)]
    height: Annotated[int, Field(ge=1, le=1_000_000)]
    lines: Annotated[list[ReadLine], Field(max_length=20_000)]


class LandedPage(Message):
    pass_id: str
    already: bool
