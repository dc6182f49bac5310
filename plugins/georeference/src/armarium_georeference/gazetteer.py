"""The user's gazetteer files: CSV, GeoJSON and Linked Places, read without any network; and the names found
in texts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from armarium.api import IsClosed, open_plain
from armarium_documents.api import NotATable, read_table
from armarium_source_model.api import name_forms

MOST_BYTES = 256 * 1024 * 1024
MOST_PLACES = 1_000_000
LONGEST_NAME = 5
"""The longest name that is searched for, in words."""
_SHORTEST = 3
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_COLUMNS = {
    "id": ("@id", "uri", "id", "geonameid", "identifier", "url"),
    "name": ("name", "title", "toponym", "placename", "label"),
    "others": ("variants", "names", "altnames", "alternatenames", "aliases"),
    "lon": ("lon", "lng", "longitude", "long", "x", "reprlong"),
    "lat": ("lat", "latitude", "y", "reprlat"),
}
_SEVERAL = re.compile(r"\s*[|;]\s*")


class BadGazetteer(ValueError):
    """Not a gazetteer; the text is a sentence for a person."""


class GazetteerPlace(NamedTuple):
    """A place of a gazetteer; lon and lat if it has a point."""

    uri: str
    names: tuple[str, ...]
    lon: float | None
    lat: float | None


@dataclass(frozen=True)
class Gazetteer:
    """The places of a file, by their normalised names."""

    by_name: Mapping[str, tuple[GazetteerPlace, ...]]
    count: int
    longest: int = field(default=1)

    def find(self, text: str) -> Iterator[tuple[str, tuple[GazetteerPlace, ...]]]:
        """Return (name as written, places of that name) for each name in a line; of overlapping names, the
        longest.

        In scripts that have capitals, a name must begin with one.
        """
        words = list(_WORD.finditer(text))
        at = 0
        while at < len(words):
            for length in range(min(self.longest, len(words) - at), 0, -1):
                first = words[at].group()
                name_as_written = text[words[at].start() : words[at + length - 1].end()]
                if first[0].islower() or len(name_as_written) < 2:
                    continue
                places = {
                    place for form in name_forms(name_as_written) for place in self.by_name.get(form, ())
                }
                if places:
                    yield name_as_written, tuple(sorted(places, key=lambda place: place.uri))
                    at += length - 1
                    break
            at += 1


def gazetteer_of(places: Iterable[GazetteerPlace]) -> Gazetteer:
    """Return an index of places. Raises BadGazetteer for too many."""
    by_name: dict[str, dict[str, GazetteerPlace]] = {}
    count = 0
    for place in places:
        count += 1
        if count > MOST_PLACES:
            raise BadGazetteer(f"The gazetteer has more than {MOST_PLACES:,} places; select those you need.")
        for name in place.names:
            for key in name_forms(name) if len(_WORD.findall(name)) <= LONGEST_NAME else ():
                if len(key) >= _SHORTEST or not key.isascii():
                    by_name.setdefault(key, {})[place.uri] = place
    longest = max((len(name.split()) for name in by_name), default=1)
    return Gazetteer({name: tuple(places.values()) for name, places in by_name.items()}, count, longest)


def read_gazetteer(path: Path, is_closed: IsClosed | None = None) -> Gazetteer:
    """Return the gazetteer in a file, read again only if the file changed. Raises BadGazetteer in words."""
    file_state = path.stat()
    if file_state.st_size > MOST_BYTES:
        raise BadGazetteer(
            f"{path.name} has {file_state.st_size:,} bytes; a gazetteer may have at most {MOST_BYTES:,}."
        )
    return _read(path, file_state.st_mtime_ns, file_state.st_size, is_closed)


@lru_cache(maxsize=2)
def _read(path: Path, _changed: int, _size: int, is_closed: IsClosed | None) -> Gazetteer:
    with open_plain(path, is_closed) as file:
        data = file.read()
    places = places_in(data, path.stem)
    return gazetteer_of(places)


def places_in(data: bytes, stem: str) -> Iterator[GazetteerPlace]:
    """Return the places of a file's bytes; *stem* is part of the URI of places that have only a number."""
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in (b"{", b"["):
        return _json_places(data, stem)
    return _table_places(io.BytesIO(data), stem)


def _uri(identity: object, stem: str, number: int) -> str:
    text = str(identity or "").strip()
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", text):
        return text
    return f"urn:gazetteer:{re.sub(r'[^A-Za-z0-9._-]', '_', stem)}:{re.sub(r'[^A-Za-z0-9._-]', '_', text) or number}"


def _number(value: object, most: float) -> float | None:
    try:
        number = float(str(value).strip())
    except ValueError:
        return None
    return number if abs(number) <= most else None


def _json_places(data: bytes, stem: str) -> Iterator[GazetteerPlace]:
    try:
        read = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as fault:
        raise BadGazetteer(f"It begins like JSON but is not valid: {fault}.") from None
    features = read.get("features") if isinstance(read, dict) else read
    if not isinstance(features, list):
        raise BadGazetteer("It is JSON without features; a gazetteer is GeoJSON or Linked Places.")
    for number, feature in enumerate(features, start=1):
        if not isinstance(feature, dict):
            continue
        properties = feature.get("properties") if isinstance(feature.get("properties"), dict) else {}
        assert isinstance(properties, dict)
        names = [properties.get(key) for key in _COLUMNS["name"]]
        names += [name.get("toponym") for name in _list(feature.get("names")) if isinstance(name, dict)]
        distinct_names = tuple(
            dict.fromkeys(str(name) for name in names if isinstance(name, str) and name.strip())
        )
        if not distinct_names:
            continue
        identity = (
            feature.get("@id")
            or feature.get("id")
            or next((properties[key] for key in _COLUMNS["id"] if properties.get(key)), None)
        )
        lon, lat = _point(feature.get("geometry"))
        yield GazetteerPlace(_uri(identity, stem, number), distinct_names, lon, lat)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _point(geometry: Any) -> tuple[float | None, float | None]:
    """Return the point of a geometry, if it is a point."""
    if isinstance(geometry, dict) and geometry.get("type") == "GeometryCollection":
        parts = _list(geometry.get("geometries"))
        geometry = next(
            (part for part in parts if isinstance(part, dict) and part.get("type") == "Point"), None
        )
    if isinstance(geometry, dict) and geometry.get("type") == "Point":
        at = geometry.get("coordinates")
        if isinstance(at, list) and len(at) >= 2:
            lon, lat = _number(at[0], 180), _number(at[1], 90)
            if lon is not None and lat is not None:
                return lon, lat
    return None, None


def _table_places(file: IO[bytes], stem: str) -> Iterator[GazetteerPlace]:
    try:
        table = read_table(file)
        columns = {
            what: next((name for name in names if name in table.columns), "")
            for what, names in _COLUMNS.items()
        }
        if not columns["name"]:
            raise BadGazetteer(
                f"Its first line has no column of names ({', '.join(_COLUMNS['name'])}); its columns are "
                f"{', '.join(table.columns)[:200]}."
            )
        for number, row in table.rows:
            cells = {what: row.get(name, "") for what, name in columns.items()}
            names = (cells["name"], *_SEVERAL.split(cells["others"]))
            distinct_names = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
            if distinct_names:
                lon, lat = _number(cells["lon"], 180), _number(cells["lat"], 90)
                yield GazetteerPlace(_uri(cells["id"], stem, number), distinct_names, lon, lat)
    except NotATable as error:
        raise BadGazetteer(f"It cannot be read: {error}.") from None
