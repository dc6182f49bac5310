"""Places as of a date, relative places as areas, and Linked Places Format."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from map_project import NOWHERE, OWNER

from armarium.api import Conflict, Engine, Invalid, NotFound
from armarium_georeference.linked_places import linked_places
from armarium_georeference.places import place_at
from armarium_georeference.relative_places import Anchor, NoArea, area_of, metres_of

Entities = dict[str, dict[str, Any]]
LIMA = {"label": "Lima", "geometry_type": "point", "lat": -12.046, "lon": -77.043, "basis": "GeoNames"}


def entity(*values: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "e",
        "canonical_name": "A place",
        "entity_type": "location",
        "place_values": list(values),
        **more,
    }


def status(values: list[dict[str, Any]], date: str | None) -> str:
    return str(place_at({"e": entity(*values)}.get, "e", date)["status"])


@pytest.mark.parametrize(
    ("when", "date", "wanted"),
    [
        (None, None, "stated"),
        (None, "1650", "stated"),
        ({"start": "1600", "end": "1650"}, "1650-12-31", "stated"),
        ({"start": "1600", "end": "1650-06"}, "1650-07-01", "none-for-date"),
        ({"start": "1600", "end": "1650-06"}, "1650", "stated"),
        ({"start": "1600"}, "1599-12", "none-for-date"),
        ({"start": "1600"}, "2020", "stated"),
        ({"end": "-0043"}, "-0044", "stated"),
        ({"end": "-0043"}, "0001", "none-for-date"),
        ({"start": "-0100", "end": "-0044-03-15"}, "-0044-03-16", "none-for-date"),
        ({"start": "1700", "end": "1600"}, "1650", "none-for-date"),
        # Dates as entities state them: uncertain, with unknown digits, or intervals; each covers everything
        # it may mean.
        ({"start": "1650?", "end": "1660~"}, "1660-12-31", "stated"),
        ({"start": "17XX"}, "1699", "none-for-date"),
        ({"start": "17XX"}, "1700", "stated"),
        ({"end": "174X"}, "1749-12", "stated"),
        ({"end": "174X"}, "1750", "none-for-date"),
        ({"start": "1650-XX", "end": "1650-03-XX"}, "1650-01-01", "stated"),
        ({"start": "1650-XX", "end": "1650-03-XX"}, "1650-04-01", "none-for-date"),
        ({"start": "1650/1652"}, "1650", "stated"),
        ({"end": "1650/1652"}, "1652-12-31", "stated"),
        ({"end": "1650/.."}, "2020", "stated"),
        ({"start": "../1652"}, "0900", "stated"),
        ({"end": "-00XX"}, "-0001", "stated"),
        ({"start": "-01XX", "end": "-00XX"}, "-0199", "stated"),
        ({"start": "-01XX"}, "-0200", "none-for-date"),
        ({"start": "the year of the flood"}, "1650", "none-for-date"),
    ],
)
def test_a_place_is_found_only_for_its_stated_dates(when: Any, date: str | None, wanted: str) -> None:
    assert status([{**LIMA, "when": when}], date) == wanted


def test_several_at_a_date_are_all_candidates() -> None:
    old = {**LIMA, "when": {"end": "1650-06"}}
    new = {**LIMA, "lat": -12.1, "when": {"start": "1650-07"}}
    find = {"e": entity(old, new)}.get
    assert place_at(find, "e", "1650-06-30")["place"]["geometry"]["coordinates"] == [-77.043, -12.046]
    both = place_at(find, "e", "1650")
    assert (both["status"], both["place"], len(both["candidates"])) == ("several", None, 2)
    assert status([LIMA, dict(LIMA)], "1650") == "stated"
    # The same coordinates from another source, for later years, are no contradiction; both are shown.
    again = {**LIMA, "basis": "Cobo", "when": {"start": "1650"}}
    same = place_at({"e": entity({**LIMA, "when": {"end": "1650"}}, again)}.get, "e", "1650")
    assert (same["status"], len(same["candidates"])) == ("stated", 2)
    assert same["place"]["geometry"]["coordinates"] == [-77.043, -12.046]
    # Two names without coordinates may be two places.
    assert status([{"label": "Lima"}, {"label": "Callao"}], "1650") == "several"
    assert status([], "1650") == "no-place"
    told = place_at({"e": entity({**LIMA, "when": {"start": "1700", "end": "1600"}})}.get, "e", "1650")
    assert "before it begins" in told["notes"][0]


@pytest.mark.parametrize("date", ["1650-13", "1650-02-30", "tomorrow", "16", "", "1650/1640"])
def test_an_invalid_date_is_refused(date: str) -> None:
    with pytest.raises(Invalid) as refusal:
        place_at({"e": entity(LIMA)}.get, "e", date)
    assert refusal.value.code == "bad_date"
    assert ("ends before it begins" in refusal.value.detail) == (date == "1650/1640")


def inside(geometry: dict[str, Any], lon: float, lat: float) -> bool:
    from shapely.geometry import Point, shape

    return bool(shape(geometry).contains(Point(lon, lat)))


def north_of_lima(**more: Any) -> dict[str, Any]:
    relative = {"anchor_entity_id": "lima", "relation_as_written": "dos leguas al norte de Lima", "bearing_deg": 0,
                "distance_value": 2, "unit": "leguas", **more}  # fmt: skip
    return {"label": "the mill", "geometry_type": "none", "relative": relative}


def test_a_relative_place_is_an_area_with_its_uncertainty() -> None:
    find = {"lima": entity(LIMA, canonical_name="Lima"), "mill": entity(north_of_lima())}.get
    found = place_at(find, "mill", "1650")
    place = found["place"]
    assert place["value"]["relative"]["relation_as_written"] == "dos leguas al norte de Lima"
    assert place["geometry"]["type"] == "Polygon"
    assert "from 6.27 to 16.72 km" in place["uncertainty"].lower()
    # A degree of latitude is 110.6 km in Lima.
    assert inside(place["geometry"], -77.043, -12.046 + 11 / 110.6)
    assert not inside(place["geometry"], -77.043, -12.046 + 5 / 110.6)
    assert not inside(place["geometry"], -77.043, -12.046 + 18 / 110.6)
    assert not inside(place["geometry"], -77.043, -12.046 - 11 / 110.6)
    east = 11 * math.sin(math.radians(22)), 11 * math.cos(math.radians(22))
    assert inside(
        place["geometry"],
        -77.043 + east[0] / (111.32 * math.cos(math.radians(12))),
        -12.046 + east[1] / 110.6,
    )
    east = 11 * math.sin(math.radians(25)), 11 * math.cos(math.radians(25))
    assert not inside(
        place["geometry"],
        -77.043 + east[0] / (111.32 * math.cos(math.radians(12))),
        -12.046 + east[1] / 110.6,
    )


def test_without_a_bearing_it_is_a_ring_and_an_anchor_that_reaches_far_widens_it() -> None:
    ring, _ = area_of(Anchor(0, 0, 0), {"distance_value": 10, "unit": "km"})
    assert not inside(ring, 0, 0)
    assert all(
        inside(ring, 10 / 111.3 * math.sin(a), 10 / 110.6 * math.cos(a)) for a in (0, 1, 2, 3, 4, 5, 6)
    )
    wide, _ = area_of(Anchor(0, 0, 3000), {"distance_value": 10, "unit": "km"})
    assert inside(wide, 0, 7.5 / 110.6)
    assert not inside(ring, 0, 7.5 / 110.6)


def test_relations_without_an_area_give_the_reason() -> None:
    def why(**entities: dict[str, Any]) -> str:
        found = place_at({"lima": entity(LIMA), **entities}.get, "mill", "1650")
        (candidate,) = found["candidates"]
        assert candidate["geometry"] is None
        return str(candidate["why_no_geometry"])

    assert "unit 'day' is not known" in why(mill=entity(north_of_lima(unit="day")))
    assert "no distance" in why(mill=entity(north_of_lima(distance_value=None)))
    assert "not a distance" in why(mill=entity(north_of_lima(distance_value=-2)))
    assert "not in this project" in why(mill=entity(north_of_lima(anchor_entity_id="nowhere")))
    assert "relative to the place itself" in why(mill=entity(north_of_lima(anchor_entity_id="mill")))
    ring = why(
        mill=entity(north_of_lima(anchor_entity_id="ford")),
        ford=entity(north_of_lima(anchor_entity_id="mill")),
    )
    assert "relative to the place itself" in ring
    later = entity({**LIMA, "when": {"start": "1700"}}, canonical_name="Lima")
    assert "no place at that date" in why(mill=entity(north_of_lima()), lima=later)
    twice = entity(LIMA, {**LIMA, "lat": -13})
    assert "several places" in why(mill=entity(north_of_lima()), lima=twice)
    assert "no coordinates" in why(mill=entity(north_of_lima()), lima=entity({"label": "Lima"}))
    with pytest.raises(NoArea):
        area_of(Anchor(0, 0, 0), {"distance_value": 0, "unit": "furlong"})
    chain = {f"p{n}": entity(north_of_lima(anchor_entity_id=f"p{n + 1}")) for n in range(30)}
    assert "more than 16" in why(mill=entity(north_of_lima(anchor_entity_id="p0")), **chain)


@pytest.mark.parametrize("at", [(10, 50), (0, 0), (179.9, -10), (10, 85), (10, -85)])
@pytest.mark.parametrize("bearing", [None, 90])
def test_far_places_have_an_area_up_to_a_quarter_of_the_globe(at: tuple[float, float], bearing: Any) -> None:
    """Compared with the geodesic: points at the stated distance are inside, nearer and farther ones outside."""
    from pyproj import Geod
    from shapely.geometry import shape

    far = {"distance_value": 9_000, "unit": "km", "bearing_deg": bearing}
    area, _ = area_of(Anchor(*at, 100_000), far)
    assert shape(area).is_valid
    globe = Geod(ellps="WGS84")
    for angle in range(0, 360, 15) if bearing is None else (75, 90, 105):
        for distance, is_inside in ((8_850, False), (9_000, True), (9_150, False)):
            lon, lat, _ = globe.fwd(*at, angle, distance * 1000)
            assert inside(area, lon, lat) is is_inside, (angle, distance)
    for distance in (10_000, 1e6, 1e300):
        with pytest.raises(NoArea, match="farther than a quarter"):
            area_of(Anchor(*at, 0), {**far, "distance_value": distance})


def test_leagues_differ_by_country() -> None:
    assert metres_of("legua") == metres_of("League (Castile)") != metres_of("lieue")
    broad, spain = metres_of("leagues"), metres_of("leguas")
    assert broad[0] < spain[0] <= spain[1] <= broad[1]
    assert metres_of("LIEUES.") == metres_of("league (FR)")


def test_a_place_as_linked_places() -> None:
    """Checked by the rules of Linked Places Format 1.2, as its specification states them."""
    lima = entity(
        {**LIMA, "when": {"start": "1535"}, "confidence": 0.95},
        canonical_name="Lima",
        names=[
            {"text": "Ciudad de los Reyes", "language": "es-PE", "when": {"end": "1600"}, "source": "Cobo"}
        ],
        authority_links=[
            {"authority": "geonames", "uri": "https://www.geonames.org/3936456", "certainty": 1}
        ],
        description="Capital of the viceroyalty",
    )
    found = linked_places({"e": lima, "mill": entity(north_of_lima(anchor_entity_id="e"))}.get, "e")
    assert found["type"] == "FeatureCollection"
    assert found["@context"].endswith("linkedplaces-context-v1.1.jsonld")
    (feature,) = found["features"]
    assert set(feature) >= {"@id", "type", "properties", "names"}
    assert feature["properties"]["title"] == "Lima"
    (name,) = feature["names"]
    assert name == {
        "toponym": "Ciudad de los Reyes", "lang": "es", "citations": [{"label": "Cobo"}],
        "when": {"timespans": [{"start": {"latest": "1600"}, "end": {"in": "1600"}}]},
    }  # fmt: skip
    (geometry,) = feature["geometry"]["geometries"]
    assert geometry == {
        "type": "Point", "coordinates": [-77.043, -12.046],
        "when": {"timespans": [{"start": {"in": "1535"}, "end": {"earliest": "1535"}}]},
        "certainty": "certain", "citations": [{"label": "GeoNames"}],
    }  # fmt: skip
    assert feature["links"] == [{"type": "exactMatch", "identifier": "https://www.geonames.org/3936456"}]
    assert feature["descriptions"] == [{"value": "Capital of the viceroyalty"}]
    check_linked_places(found)
    check_linked_places(
        linked_places({"e": lima, "mill": entity(north_of_lima(anchor_entity_id="e"))}.get, "mill")
    )


@pytest.mark.parametrize(
    ("when", "span"),
    [
        ({"start": "17XX"}, ({"earliest": "1700-01-01", "latest": "1799-12-31"}, {"earliest": "1700-01-01"})),
        ({"end": "1650?"}, ({"latest": "1650-12-31"}, {"earliest": "1650-01-01", "latest": "1650-12-31"})),
        ({"start": "../1652", "end": "1660-02-XX"},
         ({"latest": "1652-12-31"}, {"earliest": "1660-02-01", "latest": "1660-02-29"})),
        ({"start": "-01XX"}, ({"earliest": "-0199-01-01", "latest": "-0100-12-31"}, {"earliest": "-0199-01-01"})),
    ],
)  # fmt: skip
def test_partial_dates_are_written_as_intervals(when: Any, span: Any) -> None:
    found = linked_places({"e": entity({**LIMA, "when": when})}.get, "e")
    check_linked_places(found)
    (geometry,) = found["features"][0]["geometry"]["geometries"]
    assert geometry["when"]["timespans"] == [{"start": span[0], "end": span[1]}]


def check_linked_places(found: dict[str, Any]) -> None:
    """Check the rules of Linked Places Format 1.2, as its text states them, since no validator accepts its
    published schemas. The GeoJSON in it is checked with geojson-pydantic.
    """
    pydantic = pytest.importorskip("geojson_pydantic", reason="geojson-pydantic is not installed")
    pydantic.FeatureCollection.model_validate(found)
    assert found["@context"].startswith("https://raw.githubusercontent.com/LinkedPasts/linked-places/")
    for feature in found["features"]:
        assert re.match(r"(https?|urn):", feature["@id"])
        assert feature["properties"]["title"]
        assert feature["names"]
        assert feature["geometry"]["type"] == "GeometryCollection"
        for name in feature["names"]:
            assert name["toponym"]
            assert re.fullmatch("[a-z]{2}", name.get("lang", "en"))
        for geometry in feature["geometry"]["geometries"]:
            assert geometry["certainty"] in ("certain", "less-certain", "uncertain")
        for link in feature.get("links", ()):
            assert link["type"] in ("exactMatch", "closeMatch", "primaryTopicOf", "subjectOf", "seeAlso")
        for dated in [*feature["names"], *feature["geometry"]["geometries"]]:
            for span in dated.get("when", {}).get("timespans", ()):
                # "A timespan must have a start; if end is omitted, the timespan is the interval described by the start."
                assert span["start"]
                assert span["end"]
                for side in span.values():
                    assert set(side) <= {"in", "earliest", "latest"}
                    assert all(re.fullmatch(r"-?\d{4,6}(-\d\d(-\d\d)?)?", date) for date in side.values())


def test_geometries_of_every_kind() -> None:
    def geometry(**value: Any) -> Any:
        return place_at({"e": entity({"label": "x", **value})}.get, "e", None)["place"]["geometry"]

    assert geometry(geo_bbox=[1, 2, 3, 4])["type"] == "Polygon"
    assert geometry(geo_bbox=[179, -2, -179, 2])["type"] == "MultiPolygon"
    assert (
        geometry(geojson={"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}})["type"]
        == "Point"
    )
    far = place_at(
        {
            "e": entity({"label": "x", "geo_bbox": [0, 0, 1, 1]}),
            "mill": entity(north_of_lima(anchor_entity_id="e")),
        }.get,
        "mill",
        None,
    )
    assert "the anchor has a radius of 78" in far["place"]["uncertainty"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"geojson": {"type": "Polygon", "coordinates": "x"}}, "not nested"),
        ({"geojson": {"type": "Point", "coordinates": ["a", 1]}}, "not a number"),
        ({"geojson": {"type": "Point", "coordinates": [True, 1]}}, "not a number"),
        ({"geojson": {"type": "Point", "coordinates": [1]}}, "not nested"),
        ({"geojson": {"type": "Point", "coordinates": [[1, 2]]}}, "not a number|not nested"),
        ({"geojson": {"type": "Point", "coordinates": [500, 45]}}, "not a place on the globe"),
        ({"geojson": {"type": "Point", "coordinates": [45, 95]}}, "not a place on the globe"),
        ({"geojson": {"type": "LineString", "coordinates": [[1, 2], [1, 2]]}}, "fewer than 2"),
        ({"geojson": {"type": "Polygon", "coordinates": [[[1, 2], [3, 4], [1, 2]]]}}, "fewer than 3"),
        ({"geojson": {"type": "Polygon", "coordinates": []}}, "not nested"),
        ({"geojson": {"type": "Topology"}}, "type is 'Topology'"),
        ({"geojson": {}}, "type is None"),
        ({"geojson": {"type": "Feature", "geometry": None}}, "type is None"),
        ({"geojson": {"type": "FeatureCollection", "features": []}}, "empty collection"),
        ({"geojson": {"type": "GeometryCollection", "geometries": "x"}}, "empty collection"),
        ({"geo_bbox": [1, 5, 2, 4]}, "north of its north"),
        ({"geo_bbox": [1, 5, 2, 400]}, "not a place on the globe"),
    ],
)
def test_an_invalid_geometry_is_reported_and_supports_no_relative_place(value: Any, said: str) -> None:
    """A relative place based on it then has no geometry either, and says why."""
    place = {"label": "x", "geometry_type": "area", **value}
    find = {"e": entity(place), "mill": entity(north_of_lima(anchor_entity_id="e"))}.get
    found = place_at(find, "e", None)
    assert (found["status"], found["place"]["geometry"]) == ("stated", None)
    assert re.search(said, found["place"]["why_no_geometry"])
    assert linked_places(find, "e")["features"][0]["geometry"]["geometries"] == []
    resting = place_at(find, "mill", None)["place"]
    assert resting["geometry"] is None
    assert "has no coordinates" in resting["why_no_geometry"]


def test_collections_in_collections_are_read_to_a_depth() -> None:
    deep: dict[str, Any] = {"type": "Point", "coordinates": [1, 2]}
    for _ in range(3):
        deep = {"type": "GeometryCollection", "geometries": [deep]}
    made = linked_places({"e": entity({"label": "x", "geojson": deep})}.get, "e")
    assert [geometry["coordinates"] for geometry in made["features"][0]["geometry"]["geometries"]] == [[1, 2]]
    check_linked_places(made)
    for _ in range(300):
        deep = {"type": "GeometryCollection", "geometries": [deep]}
    found = place_at({"e": entity({"label": "x", "geojson": deep})}.get, "e", None)
    assert "more than 8" in found["place"]["why_no_geometry"]


def test_stated_rings_are_closed_and_oriented() -> None:
    clockwise = [[0, 0], [0, 4], [4, 4], [4, 0]]
    hole = [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]
    stated = {"type": "Polygon", "coordinates": [clockwise, hole]}
    geometry = place_at({"e": entity({"label": "x", "geojson": stated})}.get, "e", None)["place"]["geometry"]
    assert geometry["coordinates"] == [
        [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]],
        [[1, 1], [1, 2], [2, 2], [2, 1], [1, 1]],
    ]


def test_over_http(keeping_engine: Engine, entities: Entities, tmp_path: Path) -> None:
    from armarium_testing.fixtures import http_client

    keeping_engine.run(None, "library.create", {"path": str(tmp_path / "Test.library")}, OWNER)
    library = keeping_engine.libraries.get(tmp_path / "Test.library")
    entities["lima"] = entity(LIMA) | {"id": "lima"}
    entities["old"] = entity(LIMA, merged_into_id="lima")
    clients = http_client(keeping_engine, library)
    client = next(clients)
    response = client.get("/api/entities/lima/place", params={"date": "1650"})
    assert response.status_code == 200, response.text
    assert (response.json()["entity_id"], response.json()["date"], response.json()["status"]) == (
        "lima",
        "1650",
        "stated",
    )
    assert client.get("/api/entities/lima/linked-places").json()["features"][0]["names"]
    assert client.get("/api/entities/old/place").json()["code"] == "merged"
    assert client.get(f"/api/entities/{NOWHERE}/linked-places").json()["code"] == "entity_not_found"
    assert client.get("/api/entities/lima/place", params={"date": "x"}).status_code == 422


def test_refusals_by_class(project: Any) -> None:
    assert project.get("/api/entities/e/place", 409)["code"] == "no_entities"
    with pytest.raises(NotFound):
        place_at({}.get, "e", None)
    with pytest.raises(Conflict):
        place_at({"e": entity(merged_into_id="f")}.get, "e", None)
