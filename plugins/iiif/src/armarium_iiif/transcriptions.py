"""Reads what a manifest says inside itself about the text of a canvas: annotations of Presentation 2 and 3; pure.

Annotations elsewhere, files of text and whatever is not a transcription are counted, so that the notes name them.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from armarium_iiif.texts import as_list, type_of

Json = dict[str, Any]
Box = tuple[float, float, float, float]
"""Left, top, width and height, in pixels of the canvas."""

MAX_ANNOTATIONS: Final = 20_000
"""Of one canvas."""

_TRANSCRIBES: Final = frozenset({"supplementing", "transcribing", "sc:painting", "sc:transcribing"})
_PIECES: Final = frozenset({"word", "glyph"})
_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/tr)\b[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(r"<!--.*?(?:-->|$)|<[^<>]*>", re.DOTALL)
_XYWH = re.compile(r"xywh=(?:(pixel|percent):)?(-?[\d.]{1,20}),(-?[\d.]{1,20}),([\d.]{1,20}),([\d.]{1,20})")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,5}")
_CORNER = re.compile(r"(-?\d[\d.]{0,20})[\s,]+(-?\d[\d.]{0,20})")
_TEXT_FILES = ("alto", "hocr", "page", "tei", "text/", "xml")


class AnnotatedText(NamedTuple):
    """A text of a canvas, and where it stands: a line with its box, or lines of which only their place is known."""

    lines: list[str]
    box: Box | None
    language: str | None


def read_transcription(
    canvas: Json, size: tuple[int, int] | None, counted: Counter[str]
) -> list[AnnotatedText]:
    """Return the texts of a canvas in the order of the manifest; what is not used is counted."""
    counted["see-also"] += sum(map(_is_text_file, as_list(canvas.get("seeAlso"))))
    counted["rendering"] += len(as_list(canvas.get("rendering")))
    texts: list[AnnotatedText] = []
    pieces: list[AnnotatedText] = []
    for number, annotation in enumerate(_annotations(canvas, counted)):
        if number >= MAX_ANNOTATIONS:
            counted["many-annotations"] += 1
            break
        motivations = {
            motivation for motivation in as_list(annotation.get("motivation")) if isinstance(motivation, str)
        }
        if not motivations & _TRANSCRIBES:
            counted["no-transcription"] += 1
            continue
        text = _text(annotation)
        if text is None or not text[0]:
            counted["no-transcription"] += 1
            continue
        lines, language = text
        target = annotation.get("target", annotation.get("on"))
        annotated = AnnotatedText(lines, _box(target, size), language)
        (pieces if annotation.get("textGranularity") in _PIECES else texts).append(annotated)
    if texts:
        counted["words"] += len(pieces)
    return texts or pieces


def _annotations(canvas: Json, counted: Counter[str]) -> Iterator[Json]:
    """Yield the annotations inside a canvas other than its pictures."""
    for page in [*as_list(canvas.get("annotations")), *as_list(canvas.get("otherContent"))][:1000]:
        inner = page.get("items", page.get("resources")) if isinstance(page, dict) else None
        if not isinstance(inner, list):
            counted["annotations-elsewhere"] += 1
            continue
        yield from (annotation for annotation in inner if isinstance(annotation, dict))


def _text(annotation: Json) -> tuple[list[str], str | None] | None:
    """Return the lines of an annotation's body and their language; None if it is not text."""
    bodies = as_list(annotation.get("body", annotation.get("resource")))
    lines: list[str] = []
    language = None
    for body in bodies[:20]:
        if type_of(body) in ("Choice", "oa:Choice"):
            body = next(iter(as_list(body.get("items", body.get("default")))), None)
        words = body.get("value", body.get("chars")) if isinstance(body, dict) else body
        if not isinstance(words, str) or (isinstance(body, str) and "://" in body[:12]):
            continue
        if isinstance(body, dict):
            own_language = body.get("language")
            if isinstance(own_language, str) and _LANGUAGE.fullmatch(own_language):
                language = language or own_language
            form = body.get("format")
            if (isinstance(form, str) and "html" in form) or words.lstrip().startswith("<"):
                words = html.unescape(_TAGS.sub("", _BREAKS.sub("\n", words)))
        lines += [line for row in words.splitlines() if (line := " ".join(row.split()))]
    return (lines, language) if bodies else None


def _box(target: Any, size: tuple[int, int] | None) -> Box | None:
    """Return the box that a target names on the canvas, None for all of it."""
    target = next(iter(as_list(target)), None)
    selector = target.get("selector") if isinstance(target, dict) else None
    address = (
        target.get("source", target.get("id", target.get("full"))) if isinstance(target, dict) else target
    )
    for place in [*as_list(selector)[:10], address]:
        inner = place.get("default") if isinstance(place, dict) and "default" in place else place
        value = inner.get("value") if isinstance(inner, dict) else inner
        if not isinstance(value, str) or len(value) > 100_000:
            continue
        if match := _XYWH.search(value):
            x, y, w, h = (_number(part) for part in match.groups()[1:])
            if match[1] == "percent":
                if size is None:
                    continue
                x, y, w, h = (
                    part * side / 100 for part, side in zip((x, y, w, h), (*size, *size), strict=True)
                )
            if w > 0 and h > 0:
                return x, y, w, h
        elif "<svg" in value and len(corners := _CORNER.findall(value)) >= 2:
            across, down = zip(
                *((_number(across_text), _number(down_text)) for across_text, down_text in corners),
                strict=True,
            )
            return min(across), min(down), max(across) - min(across), max(down) - min(down)
    return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _is_text_file(see_also: Any) -> bool:
    """Return whether a `seeAlso` names a file with the text of its canvas."""
    words = (
        " ".join(str(value) for value in see_also.values()) if isinstance(see_also, dict) else str(see_also)
    )
    return any(word in words[:4000].casefold() for word in _TEXT_FILES)
