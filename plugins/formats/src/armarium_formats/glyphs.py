"""Where the characters of a text stand: from the glyphs of a file, as glyphs for one, and when those of the file no longer hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armarium.api import Sign, graphemes, places_of_signs
from armarium_formats.markup.fragments import name_of
from armarium_formats.page_model import PageSegment, PageText
from armarium_source_model.api import Frame, LetterPlace, LetterPlaces


def places_of_glyphs(text: str, glyphs: Sequence[Sign]) -> LetterPlaces | None:
    """Return where the characters of *text* stand; None if the glyphs, with their areas, are not all of it."""
    places = places_of_signs(text, glyphs)
    if places is None:
        return None
    return LetterPlaces(
        Frame(*places.frame), [LetterPlace(*letter) for letter in places.letters], places.others
    )


def glyphs_of(text: PageText) -> Iterator[Sign]:
    """Yield each character of a text but its blanks with its corners, in pixels; none if nobody said where they stand."""
    letters = graphemes(text.text) if text.places is not None else []
    if text.places is None or len(letters) != len(text.places.letters):
        return
    for at, letter in enumerate(letters):
        if not letter.isspace():
            others = text.places.others.get(at, ())
            yield Sign(letter, text.places.corners(at, at + 1), text.places.letters[at].probability, others)


def drop_glyphs(segment: PageSegment) -> int:
    """Leave out where a file says that the characters of a segment stand, as it wrote it; return how many places were left out."""
    dropped = 0
    for part in _list_parts(segment):
        for driver, stored in (part.extras or {}).items():
            without_glyphs = _without_glyphs(stored)
            if glyphs_gone := _count_glyphs(stored) - _count_glyphs(without_glyphs):
                part.extras = {**(part.extras or {}), driver: without_glyphs}
                dropped += glyphs_gone
    return dropped


def has_glyphs(segment: PageSegment) -> bool:
    """Return whether a file says where the characters of a segment stand."""
    return any(
        _count_glyphs(stored) for part in _list_parts(segment) for stored in (part.extras or {}).values()
    )


def _list_parts(segment: PageSegment) -> list[PageSegment | PageText]:
    return [segment, *segment.texts[:1]]


def _count_glyphs(stored: Mapping[str, Any]) -> int:
    elements = sum(name_of(fragment) == "Glyph" for fragment in stored.get("elements") or ())
    glyphs = len(stored.get("glyphs") or ()) + len(stored.get("characters") or ())
    return elements + glyphs + ("x_bboxes" in (stored.get("title") or ()))


def _without_glyphs(stored: Mapping[str, Any]) -> dict[str, Any]:
    without_glyphs = {name: value for name, value in stored.items() if name not in ("glyphs", "characters")}
    if "elements" in without_glyphs:
        without_glyphs["elements"] = [
            fragment for fragment in without_glyphs["elements"] if name_of(fragment) != "Glyph"
        ]
    if "x_bboxes" in (without_glyphs.get("title") or ()):
        without_glyphs["title"] = {
            name: value
            for name, value in without_glyphs["title"].items()
            if name not in ("x_bboxes", "x_confs")
        }
    return without_glyphs
