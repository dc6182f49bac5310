"""The recipe job place-in-a-gazetteer: names on pages, found in the user's gazetteer file and linked to its places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from armarium.api import (
    JobContext,
    MaterialPath,
    PageSkipped,
    PageWork,
    Params,
    page_job,
)
from armarium_georeference.errors import bad_gazetteer, no_gazetteer
from armarium_georeference.gazetteer import BadGazetteer, Gazetteer, read_gazetteer
from armarium_georeference.hookspecs import armarium_georeference_mentions
from armarium_source_model.api import read_lines, reading_rule, working_pass


class GazetteerSettings(Params):
    """The file with the places."""

    file: MaterialPath | None = Field(
        default=None, description="A gazetteer: CSV, GeoJSON or Linked Places Format."
    )


def place_page(job: JobContext, page_id: str) -> PageWork:
    """Link the lines of one page that name a place of the gazetteer; ambiguous names are left to people."""
    gazetteer = _gazetteer(job)
    with job.library.db.read() as conn:
        place_names: list[Mapping[str, Any]] = [
            place
            for places in job.engine.points.ask(armarium_georeference_mentions, conn, page_id)
            for place in places
        ]
        if not place_names:
            place_names += _lines(conn, page_id)
    placements: dict[tuple[str, str], dict[str, Any]] = {}
    several = 0
    for place_name in place_names:
        for _, places in gazetteer.find(place_name["text"]):
            if len(places) > 1:
                several += 1
                continue
            placement = {
                "segment_id": place_name["segment_id"],
                "uri": places[0].uri,
                "entity_id": place_name.get("entity_id"),
            }
            placements.setdefault((place_name["segment_id"], places[0].uri), placement)
    if several:
        job.log("info", f"{several} names belong to several places of the gazetteer.", document_id=page_id)
    if not placements:
        raise PageSkipped("It names no place that is unique by its name in the gazetteer.")
    params = {"document_id": page_id, "placements": list(placements.values())}
    return PageWork(
        "georeference.place_names",
        params,
        output={"placed": len(placements), "several": several},
        answers=("link_ids",),
    )


def _gazetteer(job: JobContext) -> Gazetteer:
    if job.args.file is None:
        raise no_gazetteer()
    try:
        return read_gazetteer(job.args.file.real, job.library.is_closed)
    except BadGazetteer as refusal:
        raise bad_gazetteer(str(refusal)) from None
    except OSError as fault:
        raise bad_gazetteer(f"{fault.strerror}.") from None


def _lines(conn: Any, page_id: str) -> list[dict[str, Any]]:
    rule = reading_rule(conn)
    pass_id, _ = working_pass(conn, page_id, rule)
    if pass_id is None:
        raise PageSkipped("It has no text yet.")
    read = read_lines(conn, page_id, pass_id, rule)
    return [
        {"segment_id": segment.id, "text": read.counting[segment.id].text}
        for segment in read.segments.values()
        if segment.kind != "word" and segment.id in read.counting
    ]


PLACE_IN_A_GAZETTEER = page_job(
    "place-in-a-gazetteer",
    place_page,
    GazetteerSettings,
    summary="Find places of a gazetteer on pages.",
    name="Place in a gazetteer",
    description="Links names on pages to the places of a gazetteer file, if only one place has that name.",
    layer="places",
    takes=("mentions", "page_reading"),
    takes_any=True,
    gives=("places",),
    writes=("georeference.place_names",),
)
