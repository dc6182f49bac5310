"""Stores and counts what a PAGE file states and the page model has no field for: as XML without namespace, which is written
back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from armarium_formats.glyphs import glyphs_of
from armarium_formats.markup.fragments import attribute_of, attributes_of, local_name, text_of
from armarium_formats.markup.fragments import keep as keep_as_it_is
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.noting import Notes
from armarium_formats.page_model import PageSegment, Point, kept_by
from armarium_formats.points import parse_points

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
    value = element.get("points")
    if value is not None:
        return parse_points(value) if value.strip() else []
    points: list[tuple[float, float]] = []
    for child in element:
        if local_name(str(child.tag)) == "Point":
            pair = parse_points(f"{child.get('x', '')},{child.get('y', '')}")
            if pair is None:
                return None
            points += pair
    return points


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


class Keeper(Notes):
    """The deviations noted and the things stored of one PAGE file."""

    def element(self, parent: str, child: etree._Element, attributes: dict[str, str]) -> list[str]:
        """Store a child the model has no field for, as fragments; restore what an earlier export stored."""
        if not isinstance(child.tag, str):
            return []
        if local_name(child.tag) != "UserDefined":
            self.kept[f"element {parent}/{local_name(child.tag)}"] += 1
            return [keep(child)]
        restored: list[str] = []
        own: list[str] = []
        for entry in child:
            name, value = str(entry.get("name", "")), str(entry.get("value", ""))
            if entry.get("description") != KEPT:
                own.append(keep(entry))
            elif "/@" in name:
                attributes[name.partition("/@")[2]] = value
            else:
                self.kept[f"element {parent}/{name}"] += 1
                restored.append(value)
        if own:
            self.kept[f"element {parent}/UserDefined"] += 1
            restored.append(f"<UserDefined>{''.join(own)}</UserDefined>")
        return restored

    def attach(
        self, name: str, extras: dict[str, Any], attributes: dict[str, str], fragments: list[str]
    ) -> None:
        if attributes:
            extras["attributes"] = {local_name(key): value for key, value in attributes.items()}
            self.count_attributes(name, extras["attributes"])
        if fragments:
            extras["elements"] = fragments


def glyphs_kept(segment: PageSegment) -> list[str]:
    """Return the Glyphs that a file stated of the text of a word."""
    return kept_by("pagexml", segment.texts[0]).get("glyphs") or [] if segment.texts else []


def write_glyphs(
    word: PageSegment, ids: Identities, points: Callable[[Iterable[Point], str | None], str]
) -> Iterator[str]:
    """Yield a Glyph for each character of a word of which it is known where it stands."""
    for number, glyph in enumerate(glyphs_of(word.texts[0]) if word.texts else (), 1):
        equivs = ""
        for index, (letter, sure) in enumerate(((glyph.text, glyph.probability), *glyph.others)):
            attributes = {"index": str(index)} if glyph.others else {}
            attributes |= {} if sure is None else {"conf": f"{sure:g}"}
            equivs += (
                f"<TextEquiv{attributes_of(attributes)}><Unicode>{text_of(letter)}</Unicode></TextEquiv>"
            )
        yield (
            f'<Glyph id="{ids.make(f"{word.id}-g{number}")}"><Coords {points(glyph.corners, None)}/>{equivs}</Glyph>'
        )
