"""Kinds of values that several requests of knowledge share: ids, words, dates, places, links to authorities."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from armarium.api import LanguageTag, Params, RowId, ScriptCode, SourceText
from armarium_documents.api import NoGeometry, check_date, check_json, clean_name, geometry_of

Id = RowId
Offset = Annotated[int, Field(ge=0, le=2**53)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Language = LanguageTag
Script = ScriptCode
IsoDate = Annotated[str, Field(max_length=100), AfterValidator(check_date)]
"""A date of ISO 8601 or EDTF."""
Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(clean_name)]
Name = Annotated[SourceText, Field(min_length=1, max_length=1000), AfterValidator(clean_name)]
LongText = Annotated[SourceText, Field(max_length=100_000)]
ShortText = Annotated[SourceText, Field(max_length=5_000)]
JsonObject = Annotated[dict[str, Any], AfterValidator(check_json)]

MOST = 1_000
"""Names, dates, places, links or sources of one thing."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


def _uri(value: str) -> str:
    if _URI.fullmatch(value) is None:
        raise ValueError("a URI is written whole, with its scheme and without blanks")
    return value


Uri = Annotated[str, Field(max_length=2_000), AfterValidator(_uri)]

EntityState = Literal["unreviewed", "verified", "rejected", "merged"]
ClaimType = Literal["fact", "analysis", "interpretation", "argument", "historiography", "theory"]
EpistemicStatus = Literal["tentative", "confirmed", "rejected"]
ClaimState = Literal["unreviewed", "shortlisted", "curated", "rejected"]
SourceType = Literal["document", "claim", "multiple", "synthesis"]
TimePrecision = Literal["year", "month", "day", "range", "unknown"]
QuotationKind = Literal["verbatim", "paraphrase", "indirect", "inference", "free_indirect"]
PageLayer = Literal[
    "main_text", "marginalia", "footnote", "annotation_later", "scribal_correction", "interlinear"
]
MatchMethod = Literal["embedding_cosine", "splink", "manual", "graph_context", "name_variant", "transfer"]
MatchState = Literal["pending", "accepted", "rejected"]
ReviewState = Literal["pending", "accepted", "rejected", "deferred"]


class DateValue(Params):
    """A date as it is written in the source, and when that was."""

    as_written: Annotated[SourceText, Field(min_length=1, max_length=500)]
    iso_start: IsoDate | None = None
    iso_end: IsoDate | None = None
    precision: Annotated[str, Field(min_length=1, max_length=40)] = "unknown"
    calendar: Annotated[str, Field(min_length=1, max_length=40)] = "gregorian"
    certainty: Fraction | None = None


class When(Params):
    """From when to when a place was so named or located."""

    start: IsoDate | None = None
    end: IsoDate | None = None


class Relative(Params):
    """A place described relative to another: two leagues west of the mill."""

    anchor_entity_id: Id
    relation_as_written: ShortText
    bearing_deg: Annotated[float, Field(ge=0, lt=360)] | None = None
    bearing_halfwidth_deg: Annotated[float, Field(ge=0, le=180)] = 22.5
    distance_as_written: ShortText | None = None
    distance_value: Annotated[float, Field(ge=0)] | None = None
    unit: Annotated[str, Field(max_length=80)] | None = None
    certainty: Fraction | None = None


class PlaceValue(Params):
    """Where something is or was; degrees of EPSG:4326."""

    label: Name
    geometry_type: Literal["point", "line", "area", "bbox", "none"]
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None
    precision_m: Annotated[float, Field(ge=0)] | None = None
    geo_bbox: Annotated[list[float], Field(min_length=4, max_length=4)] | None = None
    geojson: JsonObject | None = None
    when: When | None = None
    relative: Relative | None = None
    crs: Literal["EPSG:4326"] = "EPSG:4326"
    basis: Annotated[str, Field(min_length=1, max_length=200)]
    confidence: Fraction | None = None
    adopted_from_segment_id: Id | None = None
    adopted_from_pass_id: Id | None = None
    rationale: ShortText | None = None

    @model_validator(mode="after")
    def _where_it_is(self) -> PlaceValue:
        if (self.lat is None) != (self.lon is None):
            raise ValueError("lat and lon go together: send both or neither")
        if self.geometry_type == "point" and self.lat is None and self.geojson is None:
            raise ValueError("a point has lat and lon, or a geojson")
        if self.geometry_type == "bbox" and self.geo_bbox is None:
            raise ValueError("a bbox has a geo_bbox: west, south, east, north")
        for geometry in ({"geojson": self.geojson}, {"geo_bbox": self.geo_bbox}):
            try:
                geometry_of(geometry)
            except NoGeometry as fault:
                raise ValueError(str(fault)) from fault
        return self


class AuthorityLink(Params):
    """What an authority file has about the same thing."""

    authority: Word
    authority_id: Annotated[str, Field(min_length=1, max_length=500)]
    uri: Uri
    certainty: Fraction | None = None


class NameIn(Params):
    """One name of an entity, in one language and script."""

    id: Id | None = Field(
        default=None,
        description="The id of an existing name, which keeps who gave it; left out for a new one.",
    )
    text: Name
    romanized: Name | None = None
    language: Language | None = None
    script: Script | None = None
    when: IsoDate | None = None
    source: ShortText | None = None


Dates = Annotated[list[DateValue], Field(max_length=MOST)]
Places = Annotated[list[PlaceValue], Field(max_length=MOST)]
Links = Annotated[list[AuthorityLink], Field(max_length=MOST)]
Names = Annotated[list[NameIn], Field(max_length=MOST)]
Ids = Annotated[list[Id], Field(max_length=10_000)]
