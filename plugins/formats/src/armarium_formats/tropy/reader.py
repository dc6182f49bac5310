"""Reads Tropy's JSON-LD export: items with their photos, selections, notes and transcriptions. Nothing is opened or fetched."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from armarium.api import Invalid

TROPY: Final = "https://tropy.org/v1/tropy#"
TITLE: Final = "http://purl.org/dc/elements/1.1/title"
MAX_PHOTOS: Final = 20_000
MAX_DEPTH: Final = 20

_OF_AN_IMAGE = "angle brightness contrast height hue mirror negative saturation sharpen width x y"
_OF_A_PHOTO = "checksum color density filename mimetype orientation page path protocol size"
_NODES = "item photo selection note transcription list tag template"
_OWN: Final = frozenset(TROPY + name for name in f"{_OF_AN_IMAGE} {_OF_A_PHOTO} {_NODES}".split())
"""Properties that are no metadata."""

LOOKS: Final = ("angle", "mirror", "negative", "brightness", "contrast", "hue", "saturation", "sharpen")
"""How Tropy shows a picture; the picture itself is as it was."""

_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/blockquote)\b[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")
_LIST_STEP = re.compile(r"(?<!\\)/")

Json = dict[str, Any]


class Value(NamedTuple):
    """A value of a property, with the address of its type where one is stated, and its language."""

    value: Any
    type: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class TropyNote:
    text: str
    html: str
    language: str | None


@dataclass(slots=True)
class TropyPart:
    """A photo, a selection or an item: its metadata by address, and what Tropy itself says of it by name."""

    metadata: dict[str, list[Value]] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    notes: list[TropyNote] = field(default_factory=list)
    text: str = ""
    alto: str = ""
    further_transcriptions: int = 0
    parts: list[TropyPart] = field(default_factory=list)
    """Photos of an item, selections of a photo."""
    tags: list[str] = field(default_factory=list)
    lists: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Return its title by the terms or the elements of Dublin Core, empty without one."""
        for address in (TITLE, "http://purl.org/dc/terms/title"):
            if values := self.metadata.get(address):
                return str(values[0].value).strip()
        return ""

    def number(self, name: str) -> float:
        """Return one of Tropy's own numbers, 0 where none is stated."""
        found = self.own.get(name)
        return float(found) if isinstance(found, int | float) and abs(found) < 1e9 else 0.0


def read_tropy(data: bytes, name: str) -> list[TropyPart]:
    """Return the items of an export; Invalid naming *name* for anything else, and beyond the limits."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as fault:
        raise Invalid(f"{name} is not JSON: {fault}.", code="not_tropy") from None
    graphs = found if isinstance(found, list) else [found]
    items: list[TropyPart] = []
    for graph in graphs:
        if not isinstance(graph, dict):
            continue
        terms = _terms(graph.get("@context"))
        members = graph.get("@graph", graph)
        for one in members if isinstance(members, list) else [members]:
            if isinstance(one, dict):
                stated = (
                    one
                    if "template" in one or "template" not in graph
                    else {**one, "template": graph["template"]}
                )
                items.append(_part(stated, terms, 0))
    items = [one for one in items if one.metadata or one.parts]
    if not items:
        raise Invalid(
            f"{name} has no items of Tropy. Export items from Tropy as JSON-LD (File, Export) and name that file.",
            code="not_tropy",
        )
    if sum(len(one.parts) for one in items) > MAX_PHOTOS:
        raise Invalid(
            f"{name} has more than {MAX_PHOTOS:,} photos; export fewer items at a time.",
            code="too_many_photos",
        )
    return items


def _terms(context: Any) -> Json:
    """Return the terms of a context that the file itself contains; those at an address are not fetched."""
    known: Json = {"@vocab": TROPY}
    for one in context if isinstance(context, list) else [context]:
        known |= one if isinstance(one, dict) else {}
    return known


def _address(key: str, terms: Mapping[str, Any], depth: int = 0) -> str:
    term = terms.get(key)
    if isinstance(term, dict):
        term = term.get("@id")
    if isinstance(term, str) and term != key and depth < MAX_DEPTH:
        return _address(term, terms, depth + 1)
    prefix, colon, rest = key.partition(":")
    if colon:
        base = terms.get(prefix)
        return base + rest if isinstance(base, str) and not rest.startswith("//") else key
    return key if key.startswith("@") else f"{terms.get('@vocab') or TROPY}{key}"


def _members(node: Json, terms: Json) -> Iterator[tuple[str, list[Any], Json, str | None]]:
    """Yield address, values, the terms inside them and the type of each property of a node."""
    for key, given in node.items():
        term = terms.get(key)
        inner, kind = terms, None
        if isinstance(term, dict):
            kind = term.get("@type")
            if isinstance(scoped := term.get("@context"), dict):
                inner = {**terms, **scoped}
        values: list[Any] = []
        for one in given if isinstance(given, list) else [given]:
            listed = one.get("@list") if isinstance(one, dict) else None
            values += listed if isinstance(listed, list) else [one]
        yield _address(key, terms), values, inner, kind if isinstance(kind, str) else None


def _value(given: Any, kind: str | None) -> Value | None:
    language = None
    if isinstance(given, dict):
        kind = given.get("@type", kind)
        language = given.get("@language")
        given = given.get("@value", given.get("@id"))
    if not isinstance(given, str | int | float) or given == "":
        return None
    return Value(
        given, kind if isinstance(kind, str) else None, language if isinstance(language, str) else None
    )


def _part(node: Json, terms: Json, depth: int) -> TropyPart:
    part = TropyPart()
    for address, values, inner, kind in _members(node, terms):
        name = address.removeprefix(TROPY)
        nodes = [one for one in values if isinstance(one, dict)]
        found = [one for given in values if (one := _value(given, kind)) is not None]
        if address == TROPY + ("photo" if depth == 0 else "selection") and depth < 2:
            part.parts = [_part(one, inner, depth + 1) for one in nodes]
        elif address == TROPY + "note":
            part.notes = [note for one in nodes if (note := _note(one, inner)) is not None]
        elif address == TROPY + "transcription":
            part.further_transcriptions = max(0, len(nodes) - 1)
            for newest in nodes[-1:]:
                stated = _texts(newest, inner)
                part.text, part.alto = (
                    str(stated[key].value) if key in stated else "" for key in ("text", "alto")
                )
        elif address == TROPY + "tag":
            part.tags = list(dict.fromkeys(str(one.value).strip() for one in found))
        elif address == TROPY + "list":
            part.lists = [
                tuple(step.replace("\\/", "/") for step in _LIST_STEP.split(str(one.value)) if step)
                for one in found
            ]
        elif address == "@id" or address in _OWN:
            if found:
                part.own[name] = found[0].value
        elif not address.startswith("@") and found:
            part.metadata[address] = found
    return part


def _texts(node: Json, terms: Json) -> dict[str, Value]:
    """Return the texts of a note or transcription by Tropy's names of their forms."""
    return {
        address.removeprefix(TROPY): value
        for address, values, _, kind in _members(node, terms)
        for one in values[:1]
        if (value := _value(one, kind)) is not None
    }


def _note(node: Json, terms: Json) -> TropyNote | None:
    stated = _texts(node, terms)
    marked, plain = stated.get("html"), stated.get("text")
    if marked is not None:
        text = html.unescape(_TAGS.sub("", _BREAKS.sub("\n", str(marked.value)))).strip()
    else:
        text = str(plain.value).strip() if plain is not None else ""
    one = marked or plain
    return (
        TropyNote(text, str(marked.value) if marked else "", one.language)
        if one is not None and text
        else None
    )
