"""Control points of QGIS's georeferencer: kept on the pass for the family that georeferences; they are not segments."""

from __future__ import annotations

import csv
import math
import re
from typing import Any, ClassVar, Final

from armarium.api import Invalid
from armarium_formats.decoding import decode, rows_of
from armarium_formats.driver import Format, ReadContext
from armarium_formats.page_model import PageModel
from armarium_formats.points import MOST_OF_A_SHAPE

MAX_BYTES: Final = 16 * 1024 * 1024
_HEADER = re.compile(
    r"(?:#[^\n]*\n)*\s*mapX\s*,\s*mapY\s*,\s*(?:sourceX|pixelX)\s*,\s*(?:sourceY|pixelY)\b", re.IGNORECASE
)
_AUTHORITY = re.compile(r"""(?:ID|AUTHORITY)\s*\[\s*"EPSG"\s*,\s*"?(\d{1,9})"?\s*\]""", re.IGNORECASE)
_PLAIN_EPSG = re.compile(r"EPSG:(?:[\d.]*:)?(\d{1,9})", re.IGNORECASE)
_CRS84 = re.compile(r"\bCRS:?84\b|:CRS84$", re.IGNORECASE)
"""Longitude and latitude of WGS 84 as the OGC names them; the points state the longitude first for EPSG:4326 too."""


class QgisPoints(Format):
    """Ground control points: a place on the map and a pixel of the picture a line."""

    name = "qgis-points"
    label = "QGIS control points"
    extensions: ClassVar[tuple[str, ...]] = (".points",)
    reads = True
    aliases: ClassVar[tuple[str, ...]] = ("points", "qgis", "gcp")

    def sniff(self, data: bytes) -> float:
        return 1.0 if _HEADER.match(decode(data[:65_536]).text) else 0.0

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        name = context.filename
        comments: list[str] = []
        rows: list[tuple[int, str]] = []
        for number, row in enumerate(rows_of(data, name, MAX_BYTES), 1):
            if row.startswith("#"):
                comments.append(row[1:].strip())
            elif row.strip():
                rows.append((number, row))
        if not rows or not _HEADER.match(rows[0][1]):
            raise Invalid(
                f"{name} is not a file of control points: its first line should name "
                "mapX,mapY,sourceX,sourceY.",
                code="not_qgis_points",
            )
        if len(rows) > MOST_OF_A_SHAPE:
            raise Invalid(
                f"{name} contains more than {MOST_OF_A_SHAPE:,} points; no page has so many.",
                code="too_many_points",
            )
        columns = [column.strip().casefold().replace("pixel", "source") for column in rows[0][1].split(",")]
        points = [_point(columns, row, number, name) for number, row in rows[1:]]
        page = PageModel(*(context.page_size or (0, 0)))
        if points and all(point["y"] >= 0 for point in points) and any(point["y"] for point in points):
            page.notes.append("The points count rows downwards from 0, not upwards as QGIS does.")
        else:
            for point in points:
                point["y"] = -point["y"] or 0
        if context.page_size is not None:
            width, height = context.page_size
            outside = sum(
                1 for point in points if not (0 <= point["x"] <= width and 0 <= point["y"] <= height)
            )
            if outside:
                page.notes.append(f"{outside} of {len(points)} control points are outside the page's image.")
        reference = next(
            (line.partition(":")[2].strip() for line in comments if line.upper().startswith("CRS:")), ""
        )
        if not reference:
            page.notes.append("The file names no coordinate reference system for its map coordinates.")
        page.extras[self.name] = {"crs": reference or None, "epsg": _epsg(reference), "points": points}
        page.kept = {"control points": len(points)} if points else {}
        return [page]


def _point(columns: list[str], row: str, number: int, name: str) -> dict[str, Any]:
    """A control point: map_x and map_y in the reference system of the file, x and y in pixels as the file states them."""
    try:
        cells = dict(zip(columns, next(csv.reader([row])), strict=False))
    except csv.Error:
        raise Invalid(
            f"Line {number} of {name} cannot be split into its fields; a quotation mark may be missing.",
            code="bad_control_point",
            line=number,
        ) from None
    values: dict[str, float] = {}
    for column in ("mapx", "mapy", "sourcex", "sourcey"):
        try:
            values[column] = float(cells.get(column, ""))
        except ValueError:
            values[column] = math.nan
        if not math.isfinite(values[column]):
            raise Invalid(
                f"Line {number} of {name} has {cells.get(column, '')[:20]!r} for {column}, which is not a "
                "number. It may be cut short.",
                code="bad_control_point",
                line=number,
            )
    return {
        "map_x": values["mapx"],
        "map_y": values["mapy"],
        "x": values["sourcex"],
        "y": values["sourcey"],
        "enabled": cells.get("enable", "1").strip().casefold() not in ("0", "false", "no"),
    }


def _epsg(reference: str) -> int | None:
    """The EPSG number of a reference system given as WKT (its own stands last), as EPSG:n, or as a URN of the OGC."""
    if _CRS84.search(reference):
        return 4326
    codes = _AUTHORITY.findall(reference) or _PLAIN_EPSG.findall(reference)
    return int(codes[-1]) if codes else None
