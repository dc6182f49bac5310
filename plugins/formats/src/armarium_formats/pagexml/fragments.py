"""Parts of a PAGE file that the page model has no field for: stored as XML without namespace, and
restored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from armarium_formats.markup.fragments import attribute_of, local_name
from armarium_formats.markup.fragments import keep as keep_as_it_is
from armarium_formats.markup.points import parse_points

if TYPE_CHECKING:
    from lxml import etree

IDS = re.compile(r'(<[^<>]*?\s)(id|regionRef)="([^"]*)"')
"""The ids in a fragment, and the ids it points at."""

KEPT = "kept: has no place in PAGE 2019-07-15"
"""Description of a UserAttribute that carries what the schema knows no place for; read back as what it was."""


def points_of(element: etree._Element) -> list[tuple[float, float]] | None:
    """Return points of a Coords, Baseline or the like: the `points` attribute, or the Point children of 2010;
    None if invalid.
    """
    stated = element.get("points")
    if stated is not None:
        return parse_points(stated) if stated.strip() else []
    found: list[tuple[float, float]] = []
    for child in element:
        if local_name(str(child.tag)) == "Point":
            pair = parse_points(f"{child.get('x', '')},{child.get('y', '')}")
            if pair is None:
                return None
            found += pair
    return found


def keep(element: etree._Element) -> str:
    """Return an element and its contents as XML without namespace, with shapes as in PAGE 2019."""
    return keep_as_it_is(element, _state_points)


def _state_points(element: etree._Element, attributes: dict[str, str]) -> bool:
    points = points_of(element) if "points" in attributes or _has_points(element) else None
    if points:
        attributes["points"] = " ".join(f"{x},{y}" for x, y in points)
    return bool(points)


def _has_points(element: etree._Element) -> bool:
    return len(element) > 0 and local_name(str(element[0].tag)) == "Point"


def user_attribute(name: str, value: str) -> str:
    """Return what has no place of its own, as a UserAttribute that `restore` understands."""
    return (
        f'<UserAttribute name="{attribute_of(name)}" description="{KEPT}" type="xsd:string" '
        f'value="{attribute_of(value)}"/>'
    )
