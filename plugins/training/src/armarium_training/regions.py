"""Regions that people drew or changed, as training data for a detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from armarium.api import Library, Principal, find_withheld
from armarium_source_model.api import list_passes, segments_of
from armarium_training.line_sets import NO_PICTURE, SAME_PICTURE, checksum_of

PERSON = "human"


@dataclass
class RegionSet:
    """Page to its regions, each {class, rect} in fractions of the page; and the pages that have none."""

    regions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    checksums: dict[str, str | None] = field(default_factory=dict)
    missing: list[dict[str, str]] = field(default_factory=list)


def regions_of(
    conn: Connection,
    library: Library,
    principal: Principal,
    page_ids: Sequence[str],
    held_out_ids: Sequence[str],
    classes: Sequence[str] | None,
) -> RegionSet:
    """Return the regions of *classes* (None: all) on pages that are not held out, by id or by the bytes of
    their picture.
    """
    region_set = RegionSet()
    held_out = set(held_out_ids)
    held_checksums = {checksum_of(conn, page) for page in held_out} - {None}
    kept_back = find_withheld(library, principal, page_ids, "local-model")
    for page in page_ids:
        checksum = checksum_of(conn, page)
        if page in held_out:
            continue
        why = (
            SAME_PICTURE
            if checksum in held_checksums
            else kept_back.get(page) or (NO_PICTURE if checksum is None else None)
        )
        if why is not None:
            region_set.missing.append({"document_id": page, "why": why})
            continue
        regions = page_regions(conn, page, classes)
        if regions:
            region_set.regions[page], region_set.checksums[page] = regions, checksum
        else:
            region_set.missing.append({"document_id": page, "why": "Nobody drew or changed a region on it."})
    return region_set


def page_regions(conn: Connection, page: str, classes: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the regions of a page that a person made or changed, of its newest pass that has any."""
    for candidate in reversed(list_passes(conn, page)):
        regions = [
            {"class": row.kind_raw or "region", "rect": row.anchor["rect"]}
            for row in segments_of(conn, candidate["id"], "region")
            if (row.by_hand or row.provenance_kind == PERSON)
            and (classes is None or (row.kind_raw or "region") in classes)
        ]
        if regions:
            return regions
    return []
