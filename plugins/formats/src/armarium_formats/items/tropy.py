"""Reads Tropy's JSON-LD export: items with their photos, selections, notes and transcriptions. Nothing is opened or fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from armarium_formats.items.parts import ItemExport, ItemNote, ItemPart, Value, require_items, text_of_html

TROPY: Final = "https://tropy.org/v1/tropy#"
MAX_DEPTH: Final = 20

_OF_AN_IMAGE = "angle brightness contrast height hue mirror negative saturation sharpen width x y"
_OF_A_PHOTO = "checksum color density filename mimetype orientation page path protocol size"
_NODES = "item photo selection note transcription list tag template"
_OWN: Final = frozenset(TROPY + name for name in f"{_OF_AN_IMAGE} {_OF_A_PHOTO} {_NODES}".split())
"""Properties that are not metadata."""

LOOKS: Final = ("angle", "mirror", "negative", "brightness", "contrast", "hue", "saturation", "sharpen")
"""How Tropy shows a picture; the picture itself is as it was."""

_LATEST: Final = 10**14
"""Milliseconds since 1970 up to which a number is taken for a time: about the year 5138."""
_LIST_STEP = re.compile(r"(?<!\\)/")

Json = dict[str, Any]


def read_tropy(graphs: list[Any], name: str) -> ItemExport:
    """Return the items of an export; Invalid naming *name* for one without, and beyond the limits."""
    items: list[ItemPart] = []
    for graph in graphs:
        if not isinstance(graph, dict):
            continue
        terms = _terms(graph.get("@context"))
        members = graph.get("@graph", graph)
        inherited = {"template": graph["template"]} if "template" in graph else {}
        for member in members if isinstance(members, list) else [members]:
            if isinstance(member, dict):
                items.append(_part({**inherited, **member}, terms, 0))
    for item in items:
        if "@id" in item.own:
            item.own["key"] = item.own["@id"]
        for photo in item.parts:
            photo.own["page_of_file"] = True
    return require_items(
        ItemExport("tropy", items), name, "Export items from Tropy as JSON-LD and name that file."
    )


def _terms(context: Any) -> Json:
    """Return the terms of a context that the file itself contains; those at an address are not fetched."""
    all_terms: Json = {"@vocab": TROPY}
    for terms in context if isinstance(context, list) else [context]:
        all_terms |= terms if isinstance(terms, dict) else {}
    return all_terms


def _address(key: str, terms: Mapping[str, Any], depth: int = 0) -> str:
    term = terms.get(key)
    if isinstance(term, dict):
        term = term.get("@id")
    if isinstance(term, str) and term != key and depth < MAX_DEPTH:
        return _address(term, terms, depth + 1)
    prefix, colon, local_name = key.partition(":")
    if colon:
        base = terms.get(prefix)
        return base + local_name if isinstance(base, str) and not local_name.startswith("//") else key
    return key if key.startswith("@") else f"{terms.get('@vocab') or TROPY}{key}"


def _members(node: Json, terms: Json) -> Iterator[tuple[str, list[Any], Json, str | None]]:
    """Yield address, values, the terms inside them and the type of each property of a node."""
    for key, value in node.items():
        term = terms.get(key)
        inner, kind = terms, None
        if isinstance(term, dict):
            kind = term.get("@type")
            if isinstance(scoped := term.get("@context"), dict):
                inner = {**terms, **scoped}
        values: list[Any] = []
        for member in value if isinstance(value, list) else [value]:
            listed = member.get("@list") if isinstance(member, dict) else None
            values += listed if isinstance(listed, list) else [member]
        yield _address(key, terms), values, inner, kind if isinstance(kind, str) else None


def _value(value: Any, kind: str | None) -> Value | None:
    language = None
    if isinstance(value, dict):
        kind = value.get("@type", kind)
        language = value.get("@language")
        value = value.get("@value", value.get("@id"))
    if not isinstance(value, str | int | float) or value == "":
        return None
    if kind == TROPY + "date" and isinstance(value, int) and abs(value) < _LATEST:
        # Older releases wrote when a photo was taken as milliseconds since 1970.
        value = (datetime(1970, 1, 1) + timedelta(milliseconds=value)).isoformat(timespec="seconds") + "Z"
    return Value(
        value, kind if isinstance(kind, str) else None, language if isinstance(language, str) else None
    )


def _part(node: Json, terms: Json, depth: int) -> ItemPart:
    part = ItemPart()
    for address, values, inner, kind in _members(node, terms):
        name = address.removeprefix(TROPY)
        nodes = [value for value in values if isinstance(value, dict)]
        literals = [literal for value in values if (literal := _value(value, kind)) is not None]
        if address == TROPY + ("photo" if depth == 0 else "selection") and depth < 2:
            part.parts = [_part(child, inner, depth + 1) for child in nodes]
        elif address == TROPY + "note":
            part.notes = [note for child in nodes if (note := _note(child, inner)) is not None]
        elif address == TROPY + "transcription":
            part.further_transcriptions = max(0, len(nodes) - 1)
            for newest in nodes[-1:]:
                texts = _texts(newest, inner)
                part.text, part.alto = (
                    str(texts[key].value) if key in texts else "" for key in ("text", "alto")
                )
        elif address == TROPY + "tag":
            part.tags = list(dict.fromkeys(str(tag.value).strip() for tag in literals))
        elif address == TROPY + "list":
            part.lists = [
                tuple(step.replace("\\/", "/") for step in _LIST_STEP.split(str(path.value)) if step)
                for path in literals
            ]
        elif address == "@id" or address in _OWN:
            if literals:
                part.own[name] = literals[0].value
        elif not address.startswith("@") and literals:
            part.metadata[address] = literals
    return part


def _texts(node: Json, terms: Json) -> dict[str, Value]:
    """Return the texts of a note or transcription by Tropy's names of their forms."""
    return {
        address.removeprefix(TROPY): value
        for address, values, _, kind in _members(node, terms)
        for member in values[:1]
        if (value := _value(member, kind)) is not None
    }


def _note(node: Json, terms: Json) -> ItemNote | None:
    texts = _texts(node, terms)
    marked, plain = texts.get("html"), texts.get("text")
    if marked is not None:
        text = text_of_html(str(marked.value))
    else:
        text = str(plain.value).strip() if plain is not None else ""
    form = marked or plain
    return (
        ItemNote(text, str(marked.value) if marked else "", form.language)
        if form is not None and text
        else None
    )
